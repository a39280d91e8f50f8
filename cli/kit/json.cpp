// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/json.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <type_traits>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/version.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

json json_number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json json_value(const scalar& value) {
  const auto number = [](auto x) {
    if constexpr (floating<decltype(x)>) {
      return json_number(static_cast<double>(x));
    } else if constexpr (complex_number<decltype(x)>) {
      return json::array({json_number(x.real()), json_number(x.imag())});
    } else {
      return json(x);
    }
  };
  return fanin::visit(
      [&]<class R>(const R& x) -> json {
        if constexpr (result_traits<R>::form == result_form::indexed)
          return {{"value", number(x.value)}, {"index", x.index}};
        if constexpr (result_traits<R>::form == result_form::extremes)
          return {{"min", number(x.min)}, {"max", number(x.max)}};
        if constexpr (result_traits<R>::form == result_form::number) return {{"value", number(x)}};
      },
      value);
}

bool check_depth(int depth, json::parse_event_t event, json&) {
  constexpr int deepest = 64;
  const bool begins = event == json::parse_event_t::array_start || event == json::parse_event_t::object_start;
  if (!begins || depth < deepest) return true;
  throw bad_data(fmt::format("the JSON has more than {} levels of arrays and objects", deepest));
}

double checked_amount(double value, std::string_view what) {
  constexpr double least = 1e-100, most = 1e100;
  if (!(value > 0)) throw bad_data(fmt::format("{} is {}, not above 0", what, value));
  if (value >= least && value <= most) return value;
  throw bad_data(fmt::format("{} is {}, not from {} to {}", what, value, least, most));
}

json passed_over_json(const passed_over& one) {
  return {{"backend", one.backend}, {"reason", to_string(one.why)}, {"detail", one.detail}};
}

std::string date_now() { return fmt::format("{:%FT%T}+00:00", fmt::gmtime(std::time(nullptr))); }

json described(const json& found) {
  json all = {{"schema", 1}, {"fanin_version", FANIN_VERSION}};
  all.update(found);
  return all;
}

json bound_json(const error_bound& bound, std::string_view premise) {
  return {{"of_result", json_number(bound.of_result)},
          {"of_magnitudes", json_number(bound.of_magnitudes)},
          {"absolute", json_number(bound.absolute)},
          {"if", premise.empty() ? json() : json(premise)}};
}

namespace {

bool is_printable(const json& value) {
  try {
    (void)value.dump();
    return true;
  } catch (const json::type_error&) {  // a string that is not UTF-8
    return false;
  }
}

json hex_of(const json& value) {
  if (value.is_string()) {
    std::string digits;
    for (const char byte : value.get_ref<const std::string&>()) digits += fmt::format("{:02x}", byte & 0xff);
    return digits;
  }
  json list = json::array();
  for (const json& one : value) list.push_back(hex_of(one));
  return list;
}

/// The value with a member of `_hex` for each member of an object that is a string, or a list of strings, and not
/// UTF-8.
json with_hex(const json& value) {
  const auto is_string = [](const json& one) { return one.is_string(); };
  if (!value.is_structured()) return value;
  json all = value.is_array() ? json::array() : json::object();
  for (const auto& [name, member] : value.items()) {
    if (value.is_array()) {
      all.push_back(with_hex(member));
      continue;
    }
    all[name] = with_hex(member);
    const bool is_text = is_string(member) || (member.is_array() && std::ranges::all_of(member, is_string));
    if (is_text && !is_printable(member)) all[name + "_hex"] = hex_of(member);
  }
  return all;
}

}  // namespace

std::string printed(const json& value) {
  try {
    return value.dump(2) + "\n";
  } catch (const json::type_error&) {  // a string that is not UTF-8
    return with_hex(value).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }
}

std::string csv_of(const json& rows) {
  const auto cell = [](const json& value) -> std::string {
    if (value.is_null()) return {};
    return csv_cell(value.is_string() ? value.get<std::string>() : value.dump(), ',');
  };
  if (rows.empty()) return {};
  const json& longest = *std::ranges::max_element(rows, {}, &json::size);
  std::vector<std::string> cells;
  for (const auto& [name, value] : longest.items()) cells.push_back(name);
  std::string text = fmt::format("{}\n", fmt::join(cells, ","));
  for (const json& row : rows) {
    cells.clear();
    for (const auto& [name, value] : longest.items()) cells.push_back(cell(row.value(name, json(nullptr))));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string_view story(reproducibility kind) {
  switch (kind) {
    case reproducibility::exact:
      return "for the same values in any order, on every backend";
    case reproducibility::fixed_order:
      return "for the same values in the same order, on every CPU backend";
    case reproducibility::run_to_run:
      return "on the same device with the same build";
    case reproducibility::none:
      return "may differ from one run to the next";
  }
  return {};
}

}  // namespace fanin::cli
