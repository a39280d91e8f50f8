// SPDX-License-Identifier: Apache-2.0
// fanin regress compares two builds, or two result files, case by case.
#include "cli/regress/regress.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/kit/child.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/interrupt.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/regress/pairs.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

/// The default is short, because the times of two processes differ by more than the noise within one process. The
/// time is better spent on more pairs.
constexpr double usual_budget_seconds = 0.1;

struct regress_options {
  std::string a, b, threshold = "3%";
  std::optional<double> budget_seconds = {};  ///< budget per case and process
  std::uint64_t pairs = 0;                    ///< 0 for the default of checked_pairs()
  bool floor = false, json = false, strict = false;
  std::optional<double> timeout_seconds = {};  ///< of one process
  std::vector<std::string> passed_on;
};

/// The number of pairs to run. The default grows with the number of cases, because p-values are adjusted for it; see
/// docs/regress.md.
std::size_t checked_pairs(std::uint64_t requested, std::size_t cases) {
  const std::size_t least = pairs_needed(cases);
  // With an even number A and B go first equally often.
  if (requested == 0) return std::max<std::size_t>(12, (least + 5) / 2 * 2);
  if (requested > most_pairs) throw usage_error(fmt::format("--pairs {}: {} at most", requested, most_pairs));
  if (requested >= least) return requested;
  throw usage_error(
      fmt::format("--pairs {}: to call one of {} cases slower takes {} at least", requested, cases, least));
}

std::string story(const regress_result& all, char side, double elapsed_seconds) {
  if (all.pairs_done == 0) return fmt::format("first pair: {}", side);
  const auto done = static_cast<double>(all.pairs_done), wanted = static_cast<double>(all.pairs_wanted);
  return fmt::format("pair {} of {}: {}, about {:.0f} s left", all.pairs_done + 1, all.pairs_wanted, side,
                     elapsed_seconds * (wanted / done - 1));
}

/// Runs the pairs A B, B A, A B, ... With --aa, A runs before and after B in each pair.
regress_result run_pairs(const regress_options& arguments, double threshold) {
  regress_result all{.a = arguments.a, .b = arguments.b, .threshold = threshold, .cases = {}, .left_out = {}};
  std::vector<std::string> bench_arguments = {
      "bench", "--json", "--budget", fmt::format("{}", arguments.budget_seconds.value_or(usual_budget_seconds))};
  bench_arguments.insert(bench_arguments.end(), arguments.passed_on.begin(), arguments.passed_on.end());
  child_limits limits;
  limits.seconds = arguments.timeout_seconds.value_or(limits.seconds);
  const interrupt_watch watch;
  progress line("regress");
  const double start = measure::now_seconds();
  std::vector<measured> sides(arguments.floor ? 3 : 2);
  do {
    for (std::size_t i = 0; i < sides.size() && !watch.seen(); ++i) {
      const std::size_t side = all.pairs_done % 2 == 0 ? i : sides.size() - 1 - i;
      const std::string& program = side == 1 ? arguments.b : arguments.a;
      line.set_task(story(all, side == 1 ? 'B' : 'A', measure::now_seconds() - start));
      try {
        sides[side] = read_result(program, output_of(program, bench_arguments, limits));
      } catch (const bad_data&) {
        if (!watch.seen()) throw;
      }
    }
    if (watch.seen()) break;
    add_pair(all, sides);
    if (all.pairs_done == 1) all.pairs_wanted = checked_pairs(arguments.pairs, all.cases.size());
  } while (all.pairs_done < all.pairs_wanted);
  if (all.pairs_done == 0) throw bad_data("interrupted before the first pair was done");
  judge_cases(all);
  return all;
}

/// The content of a result file, or nothing if `path` is a program. The file is read once, because it may be a pipe.
std::optional<measured> result_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw bad_data(fmt::format("{}: {}", path, std::strerror(errno)));
  if ((file >> std::ws).peek() == '{') return read_result(path, {std::istreambuf_iterator<char>(file), {}});
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0) return {};
  throw bad_data(fmt::format("{}: neither a program that can be run nor a result of 'fanin bench --json'", path));
}

/// Compares two result files.
regress_result compare_results(const regress_options& arguments, double threshold, std::span<const measured> sides) {
  regress_result all{
      .a = arguments.a, .b = arguments.b, .threshold = threshold, .from_files = true, .cases = {}, .left_out = {}};
  add_pair(all, sides);
  judge_files(all);
  write_stderr(
      "warning: one process of each build tells less than pairs of the two programs; only a factor of 2 is called");
  if (sides[0].machine != sides[1].machine) {
    write_stderr(fmt::format("warning: the machines differ: '{}' and '{}'", sides[0].machine, sides[1].machine));
  }
  return all;
}

/// Turns the verdicts into an exit status, after the results have been printed.
/// @throws regression, bad_data, undecided_cases
void conclude(const regress_result& all, bool strict) {
  const auto called = [&](verdict kind) {
    return std::ranges::count(all.cases, kind, [](const regress_case& one) { return one.judged.called; });
  };
  const auto of_all = [&](verdict kind) {
    return fmt::format("{} of {} cases {}", called(kind), all.cases.size(), to_string(kind));
  };
  if (called(verdict::slower) > 0) throw regression(of_all(verdict::slower));
  if (all.pairs_done < all.pairs_wanted) {
    throw bad_data(fmt::format("interrupted after {} of {} pairs", all.pairs_done, all.pairs_wanted));
  }
  if (strict && called(verdict::undecided) > 0) throw undecided_cases(of_all(verdict::undecided));
}

double parse_percent(std::string_view name, std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  double value = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (code != std::errc() || end != number.data() + number.size() || !(value > 0 && value <= 1000)) {
    throw usage_error(fmt::format("{} is a percentage above 0, up to 1000, not '{}'", name, printable(text)));
  }
  return value / 100;
}

void run_regress(const regress_options& arguments) {
  const double threshold = parse_percent("--threshold", arguments.threshold);
  const std::optional<measured> a = result_in(arguments.a), b = result_in(arguments.b);
  if (a.has_value() != b.has_value()) throw usage_error("A and B are two programs or two results, not one of each");
  if (a && (arguments.floor || arguments.pairs > 0 || arguments.budget_seconds || arguments.timeout_seconds ||
            !arguments.passed_on.empty())) {
    throw usage_error(
        "two results are compared as they are: no --pairs, --aa, --budget or --timeout, and no choice of cases");
  }
  const regress_result all =
      a ? compare_results(arguments, threshold, std::array{*a, *b}) : run_pairs(arguments, threshold);
  write_stdout(arguments.json ? printed(as_json(all)) : as_text(all));
  conclude(all, arguments.strict);
}

constexpr const char* footer =
    R"(Runs A and B in turns (A B, B A, ...), each time a process of its own that measures all cases. A case is SLOWER
if an exact signed-rank test of the pairs' ratios puts the change beyond the threshold at p < 0.01, adjusted
for the number of cases: of runs that compare a build with itself one in a hundred at most reports a SLOWER.
FASTER is the same the other way round, SAME a change that lies within the threshold both ways at p < 0.01 each.
UNDECIDED says what would decide it. 12 pairs can call one of up to 40 cases; by default there are 16 for 20
and for 40. Ctrl-C judges the pairs that are done, if there are 8. From two result files only a factor of 2
is called. The default cases of the CPU take three to four minutes on two cores: a case is measured for a short time
only in each process, because what differs from one process to the next takes more pairs, not longer ones.
docs/regress.md gives the reasons and how small a change is found.

Examples:
  fanin regress build/main/bin/fanin build/mine/bin/fanin
  fanin regress old/fanin new/fanin --aa --backend tbb --count 2^24 --strict
  fanin regress old.json new.json)";

}  // namespace

command add_regress(CLI::App& root) {
  auto arguments = std::make_shared<regress_options>();
  CLI::App* parser = root.add_subcommand("regress", "Say of each case whether build B is slower than build A");
  parser->add_option("A", arguments->a, "fanin as built before, or a result of 'fanin bench --json'")
      ->type_name("")
      ->required();
  parser->add_option("B", arguments->b, "fanin as built now, or a result of the same kind")
      ->type_name("")
      ->required();
  add_number_option(*parser, "--pairs", least_pairs, arguments->pairs,
                    "pairs of processes (default: 12; more for more than two cases)");
  parser->add_option("--threshold", arguments->threshold, "the change that matters")
      ->type_name("PERCENT")
      ->capture_default_str();
  parser->add_flag("--aa", arguments->floor, "also run A against itself, and call no change below what that shows");
  add_budget_option(*parser, usual_budget_seconds,
                    [arguments](double seconds) { arguments->budget_seconds = seconds; });
  add_seconds_option(*parser, "--timeout", "seconds that one process may take, before it is killed",
                     child_limits{}.seconds, [arguments](double seconds) { arguments->timeout_seconds = seconds; });
  for (const char* axis : {"--backend", "--variant", "--operation", "--type", "--method", "--count", "--threads"}) {
    const auto pass_on = [arguments, axis](const std::string& value) {
      arguments->passed_on.insert(arguments->passed_on.end(), {axis, value});
    };
    parser->add_option_function<std::string>(axis, pass_on, "for 'fanin bench', which says what it takes")
        ->type_name("LIST");
  }
  parser->add_flag("--strict", arguments->strict, "exit with status 4 if a case is undecided");
  parser->add_flag("--json", arguments->json, "print one JSON object, with the times from every process");
  parser->footer(footer);
  return {parser, [arguments] { run_regress(*arguments); }};
}

}  // namespace fanin::cli
