// SPDX-License-Identifier: Apache-2.0
// Reads files in Google Benchmark's schema, which 'fanin bench' and the programs in bench/ write.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/report/record.hpp"
#include "cli/report/results.hpp"
#include "measure/timing.hpp"

namespace fanin::cli::charts {

namespace {

/// The unit of the row's times, in seconds.
double seconds_in(const record& row) {
  const std::string unit = row.text("time_unit");
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  row.fail(fmt::format("unknown unit of time '{}'", printable(unit)));
}

/// The method that a row of the programs in bench/ names: by its key "method", as bench/device_sums.cpp writes it, or
/// by its variant. Other variants are plain sums.
std::string method_of_program(const record& row, const std::string& variant) {
  const bool names_method = variant == "compensated" || variant == "exact";
  return row.has("method") ? row.text("method") : names_method ? variant : "fast";
}

/// Reads a row of the programs in bench/, which name it DATA/TYPE/BACKEND/VARIANT/COUNT. The data "sum" are of no
/// named family. The method "exact squares" is the exact sum of squares.
measurement of_program(const record& row, const origin& from) {
  const std::string name = row.text("name");
  const std::vector<std::string> parts = split(name, '/');
  const double count = parts.size() < 5 ? 0 : std::strtod(parts[4].c_str(), nullptr);
  if (!(count >= 1 && count <= 1e18)) row.fail("its name is not DATA/TYPE/BACKEND/VARIANT/COUNT");
  const std::string &data = parts[0], &type = parts[1], &backend = parts[2];
  const bool is_ceiling = backend == ceiling, of_squares = parts[3] == "exact squares";
  const std::string variant = is_ceiling && parts[3] == "read" ? "device" : of_squares ? "exact" : parts[3];
  return {from,
          data == "sum" ? "" : data,
          of_squares ? "sum_of_squares" : "sum",
          type,
          backend,
          variant,
          is_ceiling   ? ""
          : of_squares ? "exact"
                       : method_of_program(row, variant),
          count,
          count * (type.ends_with("64") ? 8 : 4),
          row.positive("real_time") * seconds_in(row)};
}

measurement of_command(const record& row, const origin& from) {
  return {from,
          "",
          row.text("operation"),
          row.text("type"),
          row.text("backend"),
          row.text("variant"),
          row.text("method"),
          row.positive("count"),
          row.positive("bytes"),
          row.positive("seconds"),
          row.flag("warm"),
          row.has("noise") ? row.number_or_null("noise") : std::nullopt,
          row.flag("disturbed") || row.flag("ceiling_too_low") ||
              (row.has("throttled") && row.number_or_null("throttled").value_or(0) > 0)};
}

/// The read ceiling that a row of 'fanin bench' contains, as a measurement.
measurement ceiling_of(const record& row, measurement one) {
  const bool alone = row.positive("threads") == 1;
  one.backend = ceiling;
  one.variant = row.text("memory") == "device" ? "device" : alone ? "one-thread" : "all-threads";
  one.method.clear();
  one.seconds = row.positive("ceiling_seconds");
  return one;
}

bool same_case(const measurement& a, const measurement& b) {
  const auto key = [](const measurement& one) {
    return std::tie(one.data, one.operation, one.type, one.backend, one.variant, one.method, one.count);
  };
  return key(a) == key(b);
}

/// Replaces the repetitions of each case by their median.
std::vector<measurement> without_repetitions(std::vector<measurement> all) {
  std::vector<measurement> kept;
  for (auto rest = all.begin(); rest != all.end();) {
    const auto begin = rest;
    rest = std::stable_partition(begin, all.end(), [&, one = *begin](const auto& m) { return same_case(m, one); });
    std::vector<double> seconds;
    for (auto one = begin; one != rest; ++one) seconds.push_back(one->seconds);
    kept.push_back(*begin);
    kept.back().seconds = measure::median(std::move(seconds));
  }
  return kept;
}

}  // namespace

std::vector<measurement> read_measurements(const json& document, const origin& from) {
  std::vector<measurement> all;
  for (const record& row : record(document).list("benchmarks")) {
    const bool timed = row.text("run_type") == "iteration" && row.has("real_time");
    const bool many_results = row.has("layout") && row.text("layout") != "array";
    if (!timed || row.flag("misaligned") || many_results) continue;
    if (row.has("operation")) {
      all.push_back(of_command(row, from));
      all.push_back(ceiling_of(row, all.back()));
    } else {
      all.push_back(of_program(row, from));
    }
  }
  return without_repetitions(std::move(all));
}

}  // namespace fanin::cli::charts
