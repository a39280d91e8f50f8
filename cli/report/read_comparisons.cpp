// SPDX-License-Identifier: Apache-2.0
// Reads what 'fanin ladder', 'accuracy', 'lab latency', 'compare' and 'regress' print with --json.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/report/record.hpp"
#include "cli/report/results.hpp"

namespace fanin::cli::charts {

namespace {

double ulp_over_value(const std::string& hex, const std::string& type) {
  const double value = std::abs(std::strtod(hex.c_str(), nullptr));
  const int digits = type == "f32" ? 24 : 53, lowest = type == "f32" ? -126 : -1022;
  if (!std::isfinite(value) || value == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1, std::max(std::ilogb(value), lowest) - digits + 1) / value;
}

double number_or_nan(const record& row, const char* key) {
  return row.number_or_null(key).value_or(std::numeric_limits<double>::quiet_NaN());
}

/// The unit in which a person says a rate, and a rate of 1 in that unit.
struct person_unit {
  std::string name, remark;
  double scale;
};

person_unit person_unit_of(const std::string& instruction, const std::string& unit) {
  if (unit != "10^9 operations/s") return {unit, "", 1};
  if (instruction == "fma") return {"TFLOP/s", " (an fma is two operations)", 2e-3};
  return {"billion operations/s", "", 1};
}

}  // namespace

ladder_result read_ladder(const json& document, const origin& from) {
  const record whole(document);
  ladder_result all{from,
                    whole.text("operation"),
                    whole.text("element_type"),
                    whole.positive("count"),
                    whole.positive("ceiling_gigabytes_per_second"),
                    {}};
  for (const record& row : whole.list("rows")) {
    ladder_result::rung one{{}, row.text("stage"), {}};
    if (const auto number = row.number_or_null("number")) one.number = fmt::format("{}", *number);
    if (row.number_or_null("seconds")) one.gigabytes_per_second = row.positive("gigabytes_per_second");
    all.rungs.push_back(one);
  }
  return all;
}

std::vector<accuracy_result> read_accuracy(const json& document) {
  std::vector<accuracy_result> all;
  for (const record& input : records_of(document, "the list")) {
    const std::string type = input.text("element_type");
    const double ulp = ulp_over_value(input.object("exact").text("value_hex"), type);
    for (const record& row : input.list("rows")) {
      all.push_back({input.text("input"), type, row.text("backend"), row.text("variant"), row.text("method"),
                     input.positive("count"), number_or_nan(row, "error_ulps"), number_or_nan(row, "bound_ulps"), ulp,
                     number_or_nan(input, "condition")});
    }
  }
  return all;
}

std::vector<latency_result> read_latencies(const json& document, const origin& from) {
  std::vector<latency_result> all;
  for (const record& row : record(document).list("rows")) {
    const std::string instruction = row.text("instruction");
    const person_unit shown = person_unit_of(instruction, row.text("unit"));
    if (all.empty() || all.back().instruction != instruction)
      all.push_back({from, instruction, shown.name, shown.remark, {}});
    for (const auto& [key, rate] : row.value().items()) {
      if (!key.starts_with("with_") || rate.is_null()) continue;
      std::string chains = key;
      std::ranges::replace(chains, '_', ' ');
      all.back().rates.push_back(
          {chains, row.positive("warps_per_multiprocessor"), shown.scale * row.positive(key.c_str())});
    }
  }
  return all;
}

compare_result read_compare(const json& document) {
  const record whole(document);
  std::string input = whole.text("input");
  if (whole.has("layout")) {
    input += fmt::format(", the worst of {:.0f} {}", whole.positive("results"), whole.text("layout"));
  }
  compare_result all{whole.has("machine") ? whole.text("machine") : "",
                     input,
                     whole.text("element_type"),
                     whole.positive("count"),
                     {},
                     {}};
  if (whole.number("ceiling_gigabytes_per_second") > 0)
    all.ceiling_gigabytes_per_second = whole.positive("ceiling_gigabytes_per_second");
  for (const record& row : whole.list("rows")) {
    all.rows.push_back({row.text("backend"), row.text("variant"), row.text("method"), row.text("memory") == "device",
                        row.positive("gigabytes_per_second"), number_or_nan(row, "error_ulps")});
  }
  return all;
}

comparison read_comparison(const json& document) {
  const record whole(document);
  comparison all{whole.text("a"), whole.text("b"), whole.text("from") == "pairs", whole.positive("threshold"), {}};
  for (const record& row : whole.list("cases")) {
    all.cases.push_back({row.text("name"), row.text("verdict"), row.text("reason"), row.numbers("a_seconds"),
                         row.numbers("b_seconds")});
    for (const auto* times : {&all.cases.back().a_seconds, &all.cases.back().b_seconds}) {
      for (const double time : *times) checked_amount(time, "a time");
    }
    const std::size_t a = all.cases.back().a_seconds.size(), b = all.cases.back().b_seconds.size();
    if (a == 0 || b == 0 || (all.paired && a != b)) row.fail("samples are missing, or are not in pairs");
  }
  return all;
}

}  // namespace fanin::cli::charts
