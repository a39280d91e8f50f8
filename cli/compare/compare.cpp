// SPDX-License-Identifier: Apache-2.0
// fanin compare sums one input, or each row, segment or group of it, with every usable backend and variant.
#include "cli/compare/compare.hpp"

#include <memory>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/batch/layouts.hpp"
#include "cli/commands.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/commit.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/terminal.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/families.hpp"

namespace fanin::cli {

namespace {

constexpr std::size_t classic_count = 100'000'000;
constexpr std::string_view classic_name = "10^8 floats of 1.23";

struct compare_options {
  input_options input;
  batch_options many;
  std::vector<std::string> backends;
  std::string method;
  unsigned threads = 0;
  bool json = false;
};

struct comparison_row {
  scalar value;
  double error_ulps = 0;
  oracle::promise bound = oracle::promise::none;
};

struct comparison {
  std::string input;
  scalar exact;
  timed_variants times;
  std::vector<comparison_row> rows;  ///< one for each row of `times`
};

comparison compare(std::string name, const array_view& values, const variant_choice& asked) {
  comparison all{.input = std::move(name), .exact = {}, .times = {}, .rows = {}};
  progress line("exact sum of " + all.input);
  const oracle::exact_sum exact(values, asked.cores());
  all.exact = exact.rounded(default_result(operation::sum, values.type));
  result<scalar> reached;
  const auto call = [&](const array_view& from, const options& chosen) {
    reached = reduce(operation::sum, from, chosen);
    return reached.report;
  };
  const auto judge = [&](const timed_variant& row) {
    all.rows.push_back({reached.value, exact.error_ulps(reached.value), exact.judge(reached.value, row.how)});
  };
  all.times = time_variants(asked, values, layout::array, line, call, judge);
  return all;
}

std::string as_json(const comparison& all) {
  json rows = json::array();
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    const comparison_row& row = all.rows[i];
    json members = first_members(all.times.rows[i]);
    members.update({{"value_text", value_text(row.value)},
                    {"value_hex", value_hex(row.value)},
                    {"error_ulps", json_number(row.error_ulps)},
                    {"bound_ok", kept_json(row.bound)}});
    members.update(last_members(all.times, all.times.rows[i]));
    rows.push_back(members);
  }
  const array_view& values = all.times.values;
  json whole = described({{"machine", all.times.machine},
                          {"date", date_now()},
                          {"commit", source_commit},
                          {"input", all.input},
                          {"element_type", to_string(values.type)},
                          {"count", values.count},
                          {"exact", {{"value_text", value_text(all.exact)}, {"value_hex", value_hex(all.exact)}}}});
  whole.update(members_of(all.times));
  whole.update({{"rows", rows}, {"not_usable", not_usable_json(all.times)}});
  return printed(whole);
}

std::string as_text(const comparison& all) {
  const array_view& values = all.times.values;
  std::vector<table_row> rows = {first_headings()};
  const auto append = [&rows](const table_row& cells) {
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  };
  append({"bound", "value", "error/ulp"});
  append(last_headings(all.times));
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    const comparison_row& row = all.rows[i];
    rows.push_back(first_cells(all.times.rows[i]));
    append({bound_text(row.bound), value_text(row.value), fmt::format("{:.4g}", row.error_ulps)});
    append(last_cells(all.times, all.times.rows[i]));
  }
  return fmt::format("{}: {} of {}\nexact sum {}  {}\n\n{}{}", all.input, counted(values.count, "element"),
                     to_string(values.type), value_text(all.exact), value_hex(all.exact), align(rows, 6),
                     not_usable_text(all.times));
}

void run_compare(compare_options arguments) {
  // Without --backend, the table also names the backends that are not usable here.
  const variant_choice asked{.backends = arguments.backends.empty()
                                             ? std::vector(backends().begin(), backends().end())
                                             : chosen_backends(arguments.backends),
                             .only = parse_method(arguments.method),
                             .threads = arguments.threads};
  const auto show = [&](const auto& all) {
    for (const std::string& one : warnings_of(all.times)) write_stderr("warning: " + one);
    write_stdout(arguments.json ? as_json(all) : terminal::of_stdout().with_verdicts(as_text(all)));
  };
  if (arguments.input.path.empty() && standard_input_is_data()) arguments.input.path = "-";
  if (arguments.input.path.empty()) {
    if (arguments.input != input_options{}) throw usage_error("options about the input, such as --column, need FILE");
    if (arguments.many.given()) throw usage_error(fmt::format("{} needs FILE", arguments.many.name()));
    const std::vector<float> classic = oracle::generate<float>("constant", classic_count, 0);
    return show(compare(std::string(classic_name), std::span<const float>(classic), asked));
  }
  check_index_path(arguments.many, arguments.input.path);
  arguments.input.can_skip = arguments.many.takes_missing();
  source input(arguments.input);
  input.require_one_column("compare");
  if (is_complex(input.type())) {
    throw usage_error(
        fmt::format("{}: compare is for real numbers; these are {}", input.name(), to_string(input.type())));
  }
  if (arguments.many.given()) return show(compare_results(input, arguments.many, asked));
  const array_view values = input.load();
  const comparison all = with_input_name(input.name(), [&] { return compare(input.name(), values, asked); });
  input.finish();
  warn_of_rounding(input.name(), input.columns()[0].rounded_as(values.type), values.type);
  show(all);
}

}  // namespace

command add_compare(CLI::App& root) {
  auto arguments = std::make_shared<compare_options>();
  CLI::App* parser = root.add_subcommand(
      "compare", "Sum one input, or its rows, with every usable backend and variant, and compare");
  add_input_options(*parser, arguments->input, false);
  add_layout_options(*parser, arguments->many);
  add_backends_option(*parser, arguments->backends);
  add_method_option(*parser, arguments->method);
  add_threads_option(*parser, arguments->threads);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  parser->footer(
      R"(Without FILE, standard input is read if it is a pipe or a file. Otherwise the input is 10^8 floats of 1.23, whose sum
a plain loop gets badly wrong.

Columns of the table:
  error/ulp  distance from the exact sum in units of the last place (ulp); 0 is the correctly rounded sum
  bound      whether the error is within the proven bound of the variant; for an exact variant whether the value has
             the bits of the exact sum; 'none' if nothing is proven
  ceiling    speed in GB/s of the fastest read of the same bytes from the same memory, measured together with the row
Nothing is proven if there are too many elements for the precision, or if a partial sum may overflow. If a row is
more than 5 % faster than its ceiling, it has a warning in place of a share. For backends that work on a device the
data are copied to the device before the timing, unless they are too long for its memory.

With --axis, --segments or --keys each row, segment or group has a sum. error/ulp and bound are then about the sum
with the largest error. 'at' is the number of that sum. 'alone' counts the sums that have the same bits as a sum of
their elements alone, or as the only group.

The loops in the lower part add as other programs do:
  in-order   one element after the other
  numpy      in blocks of 128 if elements are neighbours in memory, otherwise in order
  any-order  in an order that changes from call to call, as atomic additions of a GPU do

Examples:
  fanin compare
  fanin compare data.npy --method exact
  fanin compare prices.csv --column 2 --json
  fanin compare matrix.npy --axis 0
  fanin compare forces.npy --keys cells.npy)");
  return {parser, [arguments] { run_compare(*arguments); }};
}

}  // namespace fanin::cli
