// SPDX-License-Identifier: Apache-2.0
// The CPU part of `fanin device`.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <fanin/backend.hpp>

#include "cli/device/machine.hpp"
#include "cli/gpu.hpp"
#include "measure/ceiling.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The bytes of a size as Linux writes it, as in "48K"; 0 for any other text.
std::uint64_t bytes_in(const std::string& text) {
  const bool kib = text.ends_with('K') && text.find_first_not_of("0123456789") == text.size() - 1 && text.size() > 1;
  return kib ? std::stoull(text) * 1024 : 0;
}

/// The data and unified caches of the first core, from the nearest to the farthest.
std::vector<fact> cache_facts(const std::filesystem::path& folder) {
  std::vector<fact> all;
  for (int i = 0; std::filesystem::exists(folder / fmt::format("index{}", i)); ++i) {
    const std::filesystem::path cache = folder / fmt::format("index{}", i);
    const std::uint64_t bytes = bytes_in(first_line(cache / "size"));
    if (bytes == 0 || first_line(cache / "type") == "Instruction") continue;
    const std::string name = fmt::format("L{} cache", first_line(cache / "level"));
    all.push_back({name, bytes, unit::bytes});
    all.push_back({name + " shared by", first_line(cache / "shared_cpu_list")});
  }
  return all;
}

double read_rate(const std::vector<std::byte>& data, unsigned threads) {
  constexpr double budget_seconds = 0.3;
  measure::reader all(threads);
  volatile unsigned long long sink = 0;
  const measure::stopping_rule limit = {.budget_seconds = budget_seconds};
  const auto call = [&](std::size_t) { sink = all.read(data.data(), data.size()); };
  const double seconds = measure::time_calls(call, limit).seconds();
  return static_cast<double>(data.size()) / seconds / 1e9;
}

}  // namespace

std::string machine_name(bool on_device) {
  std::string name = processor_name();
  if (name.empty()) name = "unknown processor";
  return on_device ? fmt::format("{}, {}", name, require_gpu().device_name()) : name;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "";
}

std::vector<fact> processor_facts() {
  const std::string name = processor_name();
  const measure::simd_path path = measure::simd_in_use();
  std::vector<fact> facts = {{"name", name.empty() ? json(nullptr) : json(name)},
                             {"logical cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
                             {"cores that this process may use", default_threads()},
                             {"code path", path.name},
                             {"vector width", 8 * path.vector_bytes, unit::bits}};
  const std::vector<fact> caches = cache_facts("/sys/devices/system/cpu/cpu0/cache");
  facts.insert(facts.end(), caches.begin(), caches.end());
  return facts;
}

read_measurements measure_reads(const std::vector<fact>& processor) {
  std::uint64_t largest_cache = 0;
  for (const fact& one : processor) {
    if (one.measured_in == unit::bytes) largest_cache = std::max(largest_cache, one.value.get<std::uint64_t>());
  }
  const std::vector<std::byte> data(
      std::clamp<std::uint64_t>(4 * largest_cache, std::uint64_t{1} << 28, std::uint64_t{1} << 30));
  read_measurements all{data.size(), {}};
  const unsigned most = default_threads();
  for (unsigned threads = 1; threads < 2 * most; threads *= 2) {
    all.rates.push_back({std::min(threads, most), read_rate(data, std::min(threads, most))});
  }
  return all;
}

}  // namespace fanin::cli
