// SPDX-License-Identifier: Apache-2.0
// fanin bench measures all combinations of backends, variants, operations, types, methods, counts and layouts.
#include "cli/bench/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/kit/interrupt.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/terminal.hpp"

namespace fanin::cli {

namespace {

struct bench_options {
  bench_axes axes;
  unsigned threads = 0;
  double budget_seconds = 1;
  bool list = false, json = false, csv = false;
};

std::string list(const std::vector<bench_case>& cases) {
  std::string text;
  for (const bench_case& one : cases) text += one.name() + "\n";
  return text;
}

/// The command line, without the program's path and with its options in the parser's order.
std::string command_of(const CLI::App& parser) {
  std::string text = "fanin " + parser.get_name();
  for (const CLI::Option* option : parser.get_options()) {
    if (option->count() == 0) continue;
    text += " " + option->get_name();
    if (option->get_items_expected_max() > 0) text += fmt::format(" {}", fmt::join(option->results(), ","));
  }
  return text;
}

/// The progress line: the case that is measured next, and the time left at the mean time per case so far.
std::string story(const bench_case& next, std::size_t done, std::size_t cases, double elapsed_seconds) {
  std::string text = fmt::format("case {} of {}: {}", done + 1, cases, next.name());
  if (done == 0) return text;
  const double left = elapsed_seconds / static_cast<double>(done) * static_cast<double>(cases - done);
  return text + fmt::format(", about {:.0f} s left", left);
}

/// Returns null if there is not enough memory.
std::unique_ptr<bench_input> input_for(const bench_case& one, unsigned threads) try {
  return std::make_unique<bench_input>(one, threads);
} catch (const std::bad_alloc&) {
  return nullptr;
} catch (const std::length_error&) {
  return nullptr;
} catch (const out_of_memory&) {
  return nullptr;
}

bench_result measure_all(const std::vector<bench_case>& cases, const bench_options& arguments, std::string command) {
  const unsigned threads = arguments.threads == 0 ? default_threads() : arguments.threads;
  bench_result all{.date = date_now(),
                   .command = std::move(command),
                   .machine = machine_of(cases),
                   .threads = threads,
                   .budget_seconds = arguments.budget_seconds,
                   .cases = cases.size(),
                   .rows = {}};
  const interrupt_watch watch;
  const measure::stopping_rule limit{.budget_seconds = arguments.budget_seconds, .stop = watch.flag()};
  std::unique_ptr<bench_input> input;
  progress line("bench");
  const double start = measure::now_seconds();
  for (const bench_case& one : cases) {
    line.set_task(story(one, all.rows.size(), cases.size(), measure::now_seconds() - start));
    if (!input || !input->fits(one)) {
      input.reset();
      input = input_for(one, threads);
    }
    if (!input) {
      all.rows.push_back({.which = one, .threads = threads, .problem = "no memory for so many elements"});
      continue;
    }
    if (watch.seen()) break;
    bench_row row = one.is_batch() ? measure_batch(one, *input, threads, limit)
                                   : measure_case(one, reduction_of(one, threads), *input, threads, limit);
    if (watch.seen()) break;  // The interrupt cut the measurement of this row short.
    all.rows.push_back(std::move(row));
  }
  return all;
}

void run_bench(const bench_options& arguments, const CLI::App& parser) {
  const std::vector<bench_case> cases = sweep(arguments.axes);
  if (arguments.list) return write_stdout(list(cases));
  const bench_result all = measure_all(cases, arguments, command_of(parser));
  write_stdout(arguments.json  ? printed(as_json(all))
               : arguments.csv ? as_csv(all)
                               : terminal::of_stdout().with_verdicts(as_text(all)));
  if (const std::string warning = warning_of(all); !warning.empty()) write_stderr(warning);
  check_results(all);
}

}  // namespace

command add_bench(CLI::App& root) {
  auto arguments = std::make_shared<bench_options>();
  CLI::App* parser =
      root.add_subcommand("bench", "Check and time backends, variants, operations, types, lengths and layouts");
  const auto add_axis = [&](const char* name, std::vector<std::string>& to, const char* description) {
    parser->add_option(name, to, description)->type_name("LIST")->delimiter(',')->allow_extra_args(false);
  };
  add_backends_option(*parser, arguments->axes.backends);
  add_axis("--variant", arguments->axes.variants,
           "variants (default: the one that each backend uses for the method)");
  add_axis("--operation", arguments->axes.operations, "operations; 'all' means every operation (default: sum)");
  add_axis("--type", arguments->axes.types, "element types, or all (default: f32,f64)");
  add_axis("--method", arguments->axes.methods, "methods (default: fast,compensated,exact)");
  add_axis("--count", arguments->axes.counts, "numbers of elements, as 1000 or 2^20 (default: 2^12,2^24)");
  add_axis("--layout", arguments->axes.layouts,
           "array (one result); axis0, axis1, segments or groups (many results); or all (default: array)");
  add_axis("--length", arguments->axes.lengths,
           "elements of each result with many results; must divide the count (default: 16,256,4096)");
  add_threads_option(*parser, arguments->threads);
  add_budget_option(*parser, arguments->budget_seconds,
                    [arguments](double seconds) { arguments->budget_seconds = seconds; });
  CLI::Option* names = parser->add_flag("--list", arguments->list, "print the names of the cases and stop");
  CLI::Option* as_object =
      parser->add_flag("--json", arguments->json, "print Google Benchmark's JSON, with the samples")->excludes(names);
  parser->add_flag("--csv", arguments->csv, "print the rows as CSV")->excludes(as_object)->excludes(names);
  parser->footer(
      R"(LIST is one word, or several words separated by commas. Every combination that exists is a case. A case is checked
against the exact result first, and is timed only if the error is within the promised bound. 'none' means that nothing
is proven for so many elements of this type.

How a case is timed:
- Sampling stops when half the width of the 95 % confidence interval of the median is within 1 % of the median, or
  when the budget is spent. Samples that the scheduler interrupted are discarded.
- A warning names the cases in which a thread waited for a core for more than a tenth of the time.
- Inputs under 256 KiB are read from the caches ('warm'). For longer inputs several copies are used in turn, so that
  none is in a cache.
- The ceiling is the speed of the fastest read of the same bytes by as many threads.
- After an interrupt (Ctrl-C) the finished cases are printed.

With --layout axis0 or axis1 a case reduces the columns or the rows of a matrix. With segments or groups it reduces
segments or groups of random lengths, whose mean is --length. Every result is checked.
docs/benchmarking.md describes the JSON and the reasons.

Examples:
  fanin bench
  fanin bench --backend serial,tbb --method exact --count 2^10,2^20,2^27
  fanin bench --operation min,max,dot --type f64 --json > results.json
  fanin bench --layout axis0,axis1 --length 16,2^10 --type f32 --count 2^24
  fanin bench --variant naive,kahan,simd --type f32 --list)");
  return {parser, [arguments, parser] { run_bench(*arguments, *parser); }};
}

}  // namespace fanin::cli
