// SPDX-License-Identifier: Apache-2.0
// The results of fanin bench as text, CSV and JSON.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/version.hpp>

#include "cli/bench/bench.hpp"
#include "cli/device/machine.hpp"
#include "cli/kit/commit.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/share.hpp"
#include "cli/kit/table.hpp"
#include "measure/ceiling.hpp"

namespace fanin::cli {

namespace {

json to_json(const bench_row& row) {
  const bench_case& which = row.which;
  json one = {{"name", which.name()},
              {"backend", which.backend->name()},
              {"variant", which.variant.name},
              {"operation", to_string(which.what)},
              {"type", to_string(which.type)},
              {"method", to_string(which.variant.method)},
              {"count", which.count},
              {"layout", to_string(which.layout)},
              {"length", which.is_batch() ? which.length : which.count},
              {"results", which.results()},
              {"bytes", which.bytes()},
              {"memory", to_string(row.place)},
              {"warm", row.warm},
              {"threads", row.threads},
              {"verified",
               row.verified == oracle::promise::none ? json(nullptr) : json(row.verified == oracle::promise::kept)},
              {"error_ulps", row.error_ulps ? json_number(*row.error_ulps) : json(nullptr)}};
  if (!row.timing) {
    one["error_message"] = row.problem;
    return one;
  }
  const measure::timing& timing = *row.timing;
  const double seconds = timing.seconds();
  one["run_name"] = one["name"];
  one["run_type"] = "iteration";
  one["repetitions"] = 1;
  one["repetition_index"] = 0;
  one["iterations"] = timing.taken * timing.calls_per_sample;
  one["real_time"] = 1e9 * seconds;
  one["cpu_time"] = 1e9 * timing.cpu_seconds;
  one["time_unit"] = "ns";
  one["bytes_per_second"] = static_cast<double>(which.bytes()) / seconds;
  one["seconds"] = seconds;
  one["ceiling_seconds"] = row.ceiling_seconds;
  one["share_of_ceiling"] = row.ceiling_seconds / seconds;
  one["ceiling_too_low"] = measure::exceeds_ceiling(row.ceiling_seconds / seconds);
  one["noise"] = json_number(measure::relative_noise(timing.samples));
  one["settled"] = timing.settled;
  one["discarded"] = timing.discarded;
  one["waited_share"] = timing.waited_share ? json(*timing.waited_share) : json(nullptr);
  one["disturbed"] = timing.disturbed();
  one["throttled"] = timing.throttled ? json(*timing.throttled) : json(nullptr);
  one["calls_per_sample"] = timing.calls_per_sample;
  one["samples"] = timing.samples;
  return one;
}

json rows_of(const bench_result& all, bool timed) {
  json rows = json::array();
  for (const bench_row& row : all.rows) {
    if (row.timing.has_value() == timed) rows.push_back(to_json(row));
  }
  return rows;
}

std::string check_text(const bench_row& row) {
  if (row.verified == oracle::promise::broken) return "WRONG";
  return row.verified == oracle::promise::kept ? "ok" : "none";
}

table_row to_cells(const bench_row& row) {
  const bench_case& which = row.which;
  table_row cells = {which.name(), std::string(to_string(row.place)), row.warm ? "warm" : "", check_text(row)};
  if (!row.timing) return cells;
  const double seconds = row.timing->seconds();
  cells.insert(cells.end(), {fmt::format("{:.3f}", 1e6 * seconds),
                             fmt::format("{:.2f}", static_cast<double>(which.bytes()) / seconds / 1e9),
                             share_text(row.ceiling_seconds / seconds, 1),
                             fmt::format("{:.1f} %", 100 * measure::relative_noise(row.timing->samples)),
                             std::to_string(row.timing->samples.size()), std::to_string(row.timing->discarded)});
  return cells;
}

/// @throws bad_data if `has_it` holds for a row; the message is `matter` and the names of all such rows
template <class Predicate>
void refuse(const bench_result& all, const char* matter, Predicate has_it) {
  std::vector<std::string> names;
  for (const bench_row& row : all.rows) {
    if (has_it(row)) names.push_back(row.which.name());
  }
  if (!names.empty()) throw bad_data(fmt::format("{}: {}", matter, fmt::join(names, ", ")));
}

}  // namespace

std::string machine_of(const std::vector<bench_case>& cases) {
  return machine_name(
      std::ranges::any_of(cases, [](const bench_case& one) { return one.backend->home() == memory::device; }));
}

void check_results(const bench_result& all) {
  refuse(all, "wrong results, so not timed",
         [](const bench_row& row) { return row.verified == oracle::promise::broken; });
  refuse(all, "the device failed", [](const bench_row& row) { return row.device_failed; });
  if (!all.rows.empty() &&
      std::ranges::none_of(all.rows, [](const bench_row& row) { return row.timing.has_value(); })) {
    throw bad_data(fmt::format("no case was timed: {}", all.rows.front().problem));
  }
  if (all.rows.size() < all.cases) {
    throw bad_data(fmt::format("interrupted after {} of {} cases", all.rows.size(), all.cases));
  }
}

std::string warning_of(const bench_result& all) {
  std::vector<std::string> names;
  double longest = 0;
  for (const bench_row& row : all.rows) {
    if (!row.timing || !row.timing->disturbed()) continue;
    names.push_back(row.which.name());
    longest = std::max(longest, *row.timing->waited_share);
  }
  if (names.empty()) return {};
  return fmt::format(
      "warning: do not use the times of {}: other programs were running, and threads waited for a core for up to "
      "{:.0f} % of "
      "the time",
      fmt::join(names, ", "), 100 * longest);
}

json as_json(const bench_result& all) {
  return {{"context",
           {{"json_schema_version", 1},
            {"date", all.date},
            {"num_cpus", default_threads()},
            {"library_build_type", FANIN_BUILD},
            {"fanin_version", FANIN_VERSION},
            {"commit", source_commit},
            {"machine", all.machine},
            {"command", all.command},
            {"threads", all.threads},
            {"budget_seconds", all.budget_seconds},
            {"complete", all.rows.size() == all.cases}}},
          {"benchmarks", rows_of(all, true)},
          {"not_timed", rows_of(all, false)}};
}

std::string as_csv(const bench_result& all) {
  json rows = json::array();
  for (const bench_row& row : all.rows) {
    rows.push_back(to_json(row));
    rows.back().erase("samples");
  }
  return csv_of(rows);
}

std::string as_text(const bench_result& all) {
  std::vector<table_row> rows = {
      {"case", "memory", "caches", "check", "us", "GB/s", "of ceiling", "noise", "samples", "discarded"}};
  for (const bench_row& row : all.rows) rows.push_back(to_cells(row));
  std::string text = fmt::format("{}, {} threads\n\n{}", all.machine, all.threads, align(rows, 4));
  for (const bench_row& row : all.rows) {
    if (!row.timing) {
      text += fmt::format("{}: not timed: {}\n", row.which.name(), row.problem);
    } else if (measure::exceeds_ceiling(row.ceiling_seconds / row.timing->seconds())) {
      text += above_ceiling_text(row.which.name()) + "\n";
    }
  }
  return text;
}

}  // namespace fanin::cli
