// SPDX-License-Identifier: Apache-2.0
// fanin compare sums one input with every usable backend and variant.
#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include <fanin/fanin.hpp>

#include "cli/commands.hpp"
#include "cli/device/machine.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/commit.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/terminal.hpp"
#include "cli/kit/text.hpp"
#include "measure/ceiling.hpp"
#include "measure/timing.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/families.hpp"

namespace fanin::cli {

namespace {

constexpr std::size_t classic_count = 100'000'000;
constexpr std::string_view classic_name = "10^8 floats of 1.23";
constexpr measure::stopping_rule stopping_rule_per_row{.budget_seconds = 0.1};

struct compare_options {
  input_options input;
  std::vector<std::string> backends;
  std::string method;
  unsigned threads = 0;
  bool json = false;
};

struct comparison_row {
  memory place = memory::host;  ///< the memory that held the input
  result<scalar> reached;
  double error_ulps = 0;
  oracle::promise bound = oracle::promise::none;
  double seconds = 0, ceiling_seconds = 0;
};

struct comparison {
  std::string input, machine;
  array_view values;
  scalar exact;
  std::vector<comparison_row> rows;
  std::vector<passed_over> not_usable;
};

double gigabytes_per_second(const array_view& values, double seconds) {
  return seconds > 0 ? static_cast<double>(values.bytes()) / seconds / 1e9 : 0;
}

double share_of_ceiling(const comparison_row& row) { return row.seconds > 0 ? row.ceiling_seconds / row.seconds : 0; }

/// The fastest read of the input in memory `place` beside any row, in GB/s; 0 if no row was measured there.
double ceiling_of(const comparison& all, memory place) {
  double most = 0;
  for (const comparison_row& row : all.rows) {
    if (row.place == place) most = std::max(most, gigabytes_per_second(all.values, row.ceiling_seconds));
  }
  return most;
}

struct time_unit {
  const char* name;
  double seconds;
};

/// The largest unit in which the shortest time of the rows is at least 0.1.
time_unit unit_of(const comparison& all) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const comparison_row& row : all.rows) shortest = std::min(shortest, row.seconds);
  for (const time_unit unit : {time_unit{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}) {
    if (shortest >= unit.seconds / 10) return unit;
  }
  return {"ns", 1e-9};
}

bool on_device(const backend* one) { return one->home() == memory::device && one->probe().usable(); }

// Returns null if no device backend is usable, or if `values` does not fit in the device's memory.
std::unique_ptr<measure::device_copy> copy_to_device(const array_view& values,
                                                     const std::vector<const backend*>& wanted) {
  if (values.count == 0 || !std::ranges::any_of(wanted, on_device)) return nullptr;
  try {
    return require_gpu().make_device_copy(values);
  } catch (const out_of_memory&) {
    return nullptr;
  }
}

comparison compare(std::string name, const array_view& values, const std::vector<const backend*>& wanted,
                   std::optional<fanin::method> only, unsigned threads) {
  comparison all{
      .input = std::move(name), .machine = {}, .values = values, .exact = {}, .rows = {}, .not_usable = {}};
  const element_type type = default_result(operation::sum, values.type);
  const unsigned cores = threads == 0 ? default_threads() : threads;
  progress line("exact sum of " + all.input);
  const oracle::exact_sum exact(values, cores);
  all.exact = exact.rounded(type);
  const measure::rotation in_place = measure::rotation::in_place(values);
  const std::unique_ptr<measure::device_copy> copied = copy_to_device(values, wanted);
  all.machine = machine_name(copied != nullptr);

  for (const backend* one : wanted) {
    const availability& state = one->probe();
    if (!state.usable()) {
      all.not_usable.push_back({one->name(), state.why, std::string(state.detail)});
      continue;
    }
    for (const variant_info& variant : one->variants()) {
      if (only && variant.how != *only) continue;
      const options chosen{.backend = one->name(), .variant = variant.name, .how = variant.how, .threads = threads};
      const request query{operation::sum, values, variant.how, type, variant.name, cores};
      if (!one->supports(query).usable()) continue;
      line.set_task(fmt::format("{}/{}", one->name(), variant.name));
      comparison_row row;
      if (copied && on_device(one)) row.place = memory::device;
      const auto run = [&](const array_view& from) { row.reached = reduce(operation::sum, from, chosen); };
      const auto run_in_place = [&](std::size_t) { run(values); };
      try {
        const measure::timed_beside_reads timed =
            row.place == memory::device
                ? copied->time(run, stopping_rule_per_row)
                : measure::time_beside_reads(run_in_place, *one, in_place, cores, stopping_rule_per_row);
        row.seconds = timed.call.seconds();
        row.ceiling_seconds = timed.ceiling_seconds;
      } catch (const out_of_memory& failure) {
        all.not_usable.push_back(
            {one->name(), reason::unsupported, fmt::format("{}: {}", variant.name, failure.what())});
        continue;
      }
      row.error_ulps = exact.error_ulps(row.reached.value);
      row.bound = exact.judge(row.reached.value, row.reached.report);
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

json kept_json(oracle::promise bound) {
  return bound == oracle::promise::none ? json(nullptr) : json(bound == oracle::promise::kept);
}

std::string as_json(const comparison& all) {
  json rows = json::array(), not_usable = json::array();
  for (const comparison_row& row : all.rows) {
    const report& how = row.reached.report;
    const double rate = gigabytes_per_second(all.values, row.seconds);
    rows.push_back({{"backend", how.backend},
                    {"variant", how.variant},
                    {"method", to_string(how.how)},
                    {"memory", to_string(row.place)},
                    {"value_text", value_text(row.reached.value)},
                    {"value_hex", value_hex(row.reached.value)},
                    {"error_ulps", json_number(row.error_ulps)},
                    {"bound_ok", kept_json(row.bound)},
                    {"reproducibility", to_string(how.reproducibility)},
                    {"seconds", row.seconds},
                    {"gigabytes_per_second", rate},
                    {"share_of_ceiling", share_of_ceiling(row)}});
  }
  for (const passed_over& one : all.not_usable) not_usable.push_back(passed_over_json(one));
  json whole = described({{"machine", all.machine},
                          {"date", date_now()},
                          {"commit", source_commit},
                          {"input", all.input},
                          {"element_type", to_string(all.values.type)},
                          {"count", all.values.count},
                          {"exact", {{"value_text", value_text(all.exact)}, {"value_hex", value_hex(all.exact)}}},
                          {"ceiling_gigabytes_per_second", ceiling_of(all, memory::host)},
                          {"rows", rows},
                          {"not_usable", not_usable}});
  if (const double on_device = ceiling_of(all, memory::device); on_device > 0) {
    whole["device_ceiling_gigabytes_per_second"] = on_device;
  }
  return printed(whole);
}

std::string bound_text(oracle::promise bound) {
  if (bound == oracle::promise::none) return "none";
  return bound == oracle::promise::kept ? "kept" : "BROKEN";
}

std::string as_text(const comparison& all) {
  std::string text = fmt::format("{}: {} elements of {}\nexact sum {}  {}\nread ceiling {:.1f} GB/s", all.input,
                                 all.values.count, to_string(all.values.type), value_text(all.exact),
                                 value_hex(all.exact), ceiling_of(all, memory::host));
  if (const double on_device = ceiling_of(all, memory::device); on_device > 0) {
    text += fmt::format(" in host memory, {:.1f} GB/s on the device", on_device);
  }
  text += "\n\n";
  const time_unit unit = unit_of(all);
  std::vector<table_row> rows = {{"backend", "variant", "method", "memory", "same bits", "bound", "value",
                                  "error/ulp", unit.name, "GB/s", "of ceiling"}};
  for (const comparison_row& row : all.rows) {
    const report& how = row.reached.report;
    rows.push_back({std::string(how.backend), std::string(how.variant), std::string(to_string(how.how)),
                    std::string(to_string(row.place)), std::string(to_string(how.reproducibility)),
                    bound_text(row.bound), value_text(row.reached.value), fmt::format("{:.4g}", row.error_ulps),
                    fmt::format("{:.3f}", row.seconds / unit.seconds),
                    fmt::format("{:.1f}", gigabytes_per_second(all.values, row.seconds)),
                    row.seconds > 0 ? fmt::format("{:.0f} %", 100 * share_of_ceiling(row)) : "-"});
  }
  text += align(rows, 6);
  for (const passed_over& one : all.not_usable) {
    text += fmt::format("{}: not usable here ({}: {})\n", one.backend, to_string(one.why), one.detail);
  }
  return text;
}

void run_compare(compare_options arguments) {
  const std::optional<fanin::method> only = parse_method(arguments.method);
  // Without --backend, the table also names the backends that are not usable here.
  const std::vector<const backend*> wanted = arguments.backends.empty()
                                                 ? std::vector(backends().begin(), backends().end())
                                                 : chosen_backends(arguments.backends);
  const auto report = [&](const comparison& all) {
    write_stdout(arguments.json ? as_json(all) : terminal::of_stdout().with_verdicts(as_text(all)));
  };
  if (arguments.input.path.empty() && standard_input_is_data()) arguments.input.path = "-";
  if (arguments.input.path.empty()) {
    if (arguments.input != input_options{}) throw usage_error("options of an input need FILE");
    const std::vector<float> classic = oracle::generate<float>("constant", classic_count, 0);
    report(compare(std::string(classic_name), std::span<const float>(classic), wanted, only, arguments.threads));
    return;
  }
  source input(arguments.input);
  input.require_one_column("compare");
  if (is_complex(input.type())) {
    throw usage_error(
        fmt::format("{}: compare is for real numbers; these are {}", input.name(), to_string(input.type())));
  }
  const array_view values = input.load();
  const comparison all =
      with_input_name(input.name(), [&] { return compare(input.name(), values, wanted, only, arguments.threads); });
  input.finish();
  report(all);
}

}  // namespace

command add_compare(CLI::App& root) {
  auto arguments = std::make_shared<compare_options>();
  CLI::App* parser = root.add_subcommand("compare", "Sum one input with every usable backend and variant");
  add_input_options(*parser, arguments->input, false);
  add_backends_option(*parser, arguments->backends);
  add_method_option(*parser, arguments->method);
  add_threads_option(*parser, arguments->threads);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  parser->footer(
      "Without FILE, standard input is read if it is a pipe or a file. Otherwise the input is 10^8 floats of 1.23,\n"
      "whose sum a plain loop gets badly wrong.\n"
      "error/ulp is the distance from the exact sum in units of the last place; 0 is the correctly rounded sum.\n"
      "bound says whether the variant's proven error bound was kept, for an exact variant whether the value has the\n"
      "bits of the exact sum. 'none' means that nothing is proven: too many elements for the precision, or values "
      "so\n"
      "large that a partial sum may overflow. The ceiling is the fastest read of the same bytes from the same "
      "memory,\n"
      "measured in this process. Backends that work on a device find the data there, unless it is too long for its\n"
      "memory.\n\n"
      "Examples:\n  fanin compare\n  fanin compare data.npy --method exact\n  fanin compare prices.csv --column 2 "
      "--json");
  return {parser, [arguments] { run_compare(*arguments); }};
}

}  // namespace fanin::cli
