// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fanin::cli {

namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::string_view names[] = {"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t name = 0;
  for (; size >= 1024 && name + 1 < std::size(names); ++name) size /= 1024;
  return fmt::format("{:.{}f} {}", size, size == static_cast<double>(static_cast<std::uint64_t>(size)) ? 0 : 1,
                     names[name]);
}

std::string value_of(const fact& one) {
  if (one.value.is_null()) return "unknown";
  switch (one.measured_in) {
    case unit::bytes:
      return bytes_text(one.value.get<std::uint64_t>());
    case unit::hertz:
      return fmt::format("{:.0f} MHz", one.value.get<double>() / 1e6);
    case unit::bits:
      return fmt::format("{} bits", one.value.get<std::uint64_t>());
    case unit::gigabytes_per_second:
      return fmt::format("{:.1f} GB/s", one.value.get<double>());
    case unit::none:
      break;
  }
  if (one.value.is_boolean()) return one.value.get<bool>() ? "yes" : "no";
  if (one.value.is_string()) return one.value.get<std::string>();
  if (one.value.is_number_float()) return fmt::format("{:.1f}", one.value.get<double>());
  if (!one.value.is_array()) return one.value.dump();
  std::string all;
  for (const json& part : one.value) all += fmt::format("{}{}", all.empty() ? "" : " x ", part.dump());
  return all;
}

}  // namespace

json as_json(const std::vector<fact>& facts) {
  constexpr std::string_view endings[] = {"", "_bytes", "_hertz", "_bits", "_gigabytes_per_second"};
  json all = json::object();
  for (const fact& one : facts) {
    std::string key = one.name;
    std::ranges::transform(key, key.begin(), [](char c) {
      return c == ' ' || c == '-' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    all[key.append(endings[static_cast<std::size_t>(one.measured_in)])] = one.value;
  }
  return all;
}

std::vector<table_row> as_rows(const std::vector<fact>& facts) {
  std::vector<table_row> rows;
  rows.reserve(facts.size());
  for (const fact& one : facts) rows.push_back({"  " + one.name, value_of(one)});
  return rows;
}

}  // namespace fanin::cli
