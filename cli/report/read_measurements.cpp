// SPDX-License-Identifier: Apache-2.0
// Reads files in Google Benchmark's schema, which 'fanin bench' and the programs in bench/ write.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/report/results.hpp"
#include "measure/timing.hpp"

namespace fanin::cli::charts {

namespace {

double seconds_in(const std::string& unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  throw bad_data(fmt::format("unknown unit of time '{}'", printable(unit)));
}

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The method that a row of the programs in bench/ names: by its key "method", as bench/device_sums.cpp writes it, or
/// by its variant. Other variants are plain sums.
std::string method_of_program(const json& row, const std::string& variant) {
  const bool names_method = variant == "compensated" || variant == "exact";
  return row.value("method", names_method ? variant : "fast");
}

/// Reads a row of the programs in bench/, which name it DATA/TYPE/BACKEND/VARIANT/COUNT. The data "sum" are of no
/// named family. The method "exact squares" is the exact sum of squares.
measurement of_program(const json& row, const origin& from) {
  const std::string name = row.at("name").get<std::string>();
  const std::vector<std::string> parts = split(name);
  const double count = parts.size() < 5 ? 0 : std::strtod(parts[4].c_str(), nullptr);
  if (!(count > 0)) throw bad_data(fmt::format("a row with the name '{}'", printable(name)));
  checked_amount(count, "a count");
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
          positive(row, "real_time") * seconds_in(row.at("time_unit").get<std::string>())};
}

measurement of_command(const json& row, const origin& from) {
  const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
  return {from,
          "",
          text("operation"),
          text("type"),
          text("backend"),
          text("variant"),
          text("method"),
          positive(row, "count"),
          positive(row, "bytes"),
          positive(row, "seconds")};
}

/// The read ceiling that a row of 'fanin bench' contains, as a measurement.
measurement ceiling_of(const json& row, measurement one) {
  const bool alone = positive(row, "threads") == 1;
  one.backend = ceiling;
  one.variant = row.at("memory") == "device" ? "device" : alone ? "one-thread" : "all-threads";
  one.method.clear();
  one.seconds = positive(row, "ceiling_seconds");
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
  for (const json& row : document.at("benchmarks")) {
    const bool timed = row.at("run_type") == "iteration" && row.contains("real_time");
    if (!timed || row.value("misaligned", false)) continue;
    if (row.contains("operation")) {
      all.push_back(of_command(row, from));
      all.push_back(ceiling_of(row, all.back()));
    } else {
      all.push_back(of_program(row, from));
    }
  }
  return without_repetitions(std::move(all));
}

}  // namespace fanin::cli::charts
