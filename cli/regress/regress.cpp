// SPDX-License-Identifier: Apache-2.0
// fanin regress compares two builds, or two result files, case by case.
#include "cli/regress/regress.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/terminal.hpp"
#include "cli/kit/text.hpp"
#include "cli/regress/pairs.hpp"
#include "cli/regress/revisions.hpp"
#include "cli/regress/run.hpp"

namespace fanin::cli {

namespace {

/// The default is short, because the times of two processes differ by more than the noise within one process. The
/// time is better spent on more pairs.
constexpr double default_budget_seconds = 0.1;

struct regress_options {
  std::string a, b, threshold = "3%";
  bool google_benchmark = false, nvbench = false, command = false;
  std::optional<double> budget_seconds = {};  ///< budget per case and process
  std::uint64_t pairs = 0;                    ///< 0 to add pairs until the cases are decided
  std::optional<double> at_most_seconds = {};
  bool floor = false, json = false, lenient = false, may_fail = false, instructions = false, compare_output = false;
  std::uint64_t warmups = 0, layouts = 0;
  std::string setup, prepare, csv, markdown, build, run;
  std::vector<std::string> controls;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::optional<double> timeout_seconds = {};  ///< the limit for one process
  std::vector<std::pair<std::string, std::string>> axes;

  program_kind kind_of_program(const std::string& word, const std::string& folder) const {
    return google_benchmark ? program_kind::google_benchmark
           : nvbench        ? program_kind::nvbench
           : command        ? program_kind::command
                            : kind_of(word, folder);
  }
  run_plan plan(double checked_threshold, program_kind kind) const {
    run_plan all;
    all.process = {.kind = kind,
                   .budget_seconds = budget_seconds.value_or(default_budget_seconds),
                   .axes = axes,
                   .limits = {},
                   .parameters = parameters,
                   .may_fail = may_fail,
                   .instructions = instructions,
                   .prepare = prepare,
                   .variables = {}};
    all.setup = setup;
    all.warmups = warmups;
    all.compare_output = compare_output;
    all.layouts = layouts;
    all.controls = controls;
    all.process.limits.seconds = timeout_seconds.value_or(all.process.limits.seconds);
    all.threshold = checked_threshold;
    all.pairs = pairs;
    all.floor = floor;
    all.at_most_seconds = at_most_seconds.value_or(all.at_most_seconds);
    return all;
  }
};

/// Compares two result files.
regress_result compare_results(const regress_options& arguments, double threshold, std::span<const measured> sides) {
  regress_result all{
      .a = arguments.a, .b = arguments.b, .threshold = threshold, .from_files = true, .cases = {}, .left_out = {}};
  add_pair(all, sides);
  mark_controls(all, arguments.controls);
  judge_files(all);
  write_stderr(
      "warning: each result is from one process, so only changes by a factor of 2 are reported; compare the two "
      "programs to see smaller changes");
  if (sides[0].machine != sides[1].machine) {
    write_stderr(fmt::format("warning: the machines differ: '{}' and '{}'", sides[0].machine, sides[1].machine));
  }
  return all;
}

/// Turns the verdicts into an exit status, after the results have been printed.
/// @throws regression, bad_data, undecided_cases
void conclude(const regress_result& all, bool lenient) {
  if (const regress_case* moved = moved_control(all)) {
    throw undecided_cases(fmt::format("the run is void: the control {} changed, so no verdict holds", moved->name));
  }
  const auto called = [&](verdict kind) {
    return std::ranges::count_if(all.cases,
                                 [kind](const regress_case& one) { return !one.control && one.called() == kind; });
  };
  const auto of_all = [&](verdict kind) {
    return fmt::format("{} of {} cases {}", called(kind), all.cases.size(), to_string(kind));
  };
  if (called(verdict::slower) > 0) throw regression(of_all(verdict::slower));
  if (all.interrupted) throw bad_data(fmt::format("interrupted after {} pairs", most_pairs_of(all)));
  if (!lenient && called(verdict::undecided) > 0) throw undecided_cases(of_all(verdict::undecided));
}

/// The seconds that a text such as "90", "90s", "1.5m" or "2h" stands for.
double parse_duration(std::string_view option, std::string_view text) {
  constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  double unit = 1;
  std::string_view digits = text;
  for (const auto& [letter, seconds] : units) {
    if (!text.ends_with(letter)) continue;
    unit = seconds;
    digits.remove_suffix(1);
  }
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size() || !(value > 0 && value <= 1e9)) {
    throw usage_error(fmt::format("{} is a time above 0, as in 90s, 5m or 1h, not '{}'", option, printable(text)));
  }
  return value * unit;
}

/// The number above 0 and up to `most` that `digits` are. In messages `what` names the kind of value that the
/// option takes.
double parse_positive(std::string_view option, std::string_view what, double most, std::string_view digits) {
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size() || !(value > 0 && value <= most)) {
    throw usage_error(fmt::format("{} is {} above 0, up to {}, not '{}'", option, what, most, printable(digits)));
  }
  return value;
}

void export_text(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  output_file file(path, true);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

void run_regress(const regress_options& arguments) {
  const std::string_view percent = arguments.threshold;
  const double threshold = parse_positive("--threshold", "a percentage", 1000,
                                          percent.substr(0, percent.size() - (percent.ends_with('%') ? 1 : 0))) /
                           100;
  if (arguments.build.empty() != arguments.run.empty()) throw usage_error("--build and --run need each other");
  std::optional<built_revisions> built;
  if (!arguments.build.empty()) built.emplace(arguments.a, arguments.b, arguments.build, arguments.layouts > 0);
  const std::string word_a = built ? arguments.run : arguments.a, word_b = built ? arguments.run : arguments.b;
  const program_kind kind = arguments.kind_of_program(word_a, built ? built->folder('a', 0) : "");
  if (kind != program_kind::fanin && (arguments.budget_seconds || !arguments.axes.empty())) {
    throw usage_error(
        "--budget and the choice of cases are for builds of fanin; other programs take their own options");
  }
  if (kind != program_kind::command &&
      (arguments.may_fail || arguments.instructions || arguments.compare_output || !arguments.parameters.empty())) {
    throw usage_error("--ignore-failure, --instructions, --compare-output and -L are for --command");
  }
  const auto side_of = [&](const std::string& word, const std::string& folder) {
    if (kind == program_kind::command) return side{word, folder, {}, {}, {}};
    return find_side(kind, word, folder);
  };
  std::vector<side> sides_of_a, sides_of_b;
  for (std::size_t order = 0; order < (built ? built->orders() : 1); ++order) {
    sides_of_a.push_back(side_of(word_a, built ? built->folder('a', order) : ""));
    sides_of_b.push_back(side_of(word_b, built ? built->folder('b', order) : ""));
  }
  const side &a = sides_of_a.front(), &b = sides_of_b.front();
  if (a.result.has_value() != b.result.has_value()) {
    throw usage_error("A and B are one program and one result; give two programs or two results");
  }
  if (a.result && (arguments.floor || arguments.pairs > 0 || arguments.at_most_seconds || arguments.budget_seconds ||
                   arguments.timeout_seconds || !arguments.axes.empty())) {
    throw usage_error(
        "two results take no --pairs, --at-most, --quick, --aa, --budget or --timeout, and no choice of cases");
  }
  regress_result all = a.result ? compare_results(arguments, threshold, std::array{*a.result, *b.result})
                                : run_pairs(sides_of_a, sides_of_b, arguments.plan(threshold, kind));
  all.a = arguments.a;
  all.b = arguments.b;
  export_text(arguments.csv, as_csv(all));
  export_text(arguments.markdown, as_markdown(all));
  write_stdout(arguments.json ? printed(as_json(all)) : terminal::of_stdout().with_verdicts(as_text(all)));
  conclude(all, arguments.lenient);
}

constexpr const char* footer =
    R"(Runs A and B alternately (A B, B A, ...). Each run is a process of its own, and measures all cases.

Verdicts, by an exact signed-rank test of the ratios of all pairs, adjusted for the number of cases:
  SLOWER     the change is above the threshold, at p < 0.01
  FASTER     the same in the other direction
  SAME       the change is within the threshold in both directions, at p < 0.01 each
  UNDECIDED  none of these; a note says which change the run would have found, and what would decide the case
If a build is compared with itself, at most one run in a hundred reports a SLOWER.

Exit status: 3 if a case is SLOWER. Otherwise 4 if a case is UNDECIDED, or 0 with --lenient. 4 too if a --control is
SLOWER or FASTER: then the run is void.

- The run ends when every case is decided, or after --at-most. The cases that take the least time are measured first.
- The first test is after 12 pairs of a case, and later for more than two verdicts (after 16 pairs for 20 verdicts). An
  undecided case is tested again whenever its number of pairs has doubled. All tests share one error of 1 %.
- --pairs takes that many pairs of every case, however long they take, and tests once.
- After Ctrl-C the finished pairs are evaluated, if there are at least 8.
- Between two result files only a change by a factor of 2 is reported.
- All default cases of the CPU take four minutes on two cores (--at-most 5m). Each process measures a case only
  briefly, because differences between processes need more pairs, and not longer ones.
- A and B may be programs of Google Benchmark, which are recognised, or of nvbench (--nvbench), or any commands
  (--command). Put each in quotes with its options. Cases of the same name form a pair. --command has one case: the
  time from start to end, with standard output in /dev/null. -L makes more cases.
- Commands and Google Benchmark have CPU time too, and commands have --instructions. Each has a verdict. If the wall
  time is undecided and another measure is SLOWER or FASTER, that verdict is the verdict of the case.
- With --build, A and B are revisions of git. Each is built in a worktree of its own. '.' is the current state.
docs/regress.md gives the reasons and how small a change is found.

Examples:
  fanin regress build/main/bin/fanin build/mine/bin/fanin --at-most 10m
  fanin regress old/fanin new/fanin --aa --backend tbb --count 2^24 --lenient
  fanin regress old.json new.json
  fanin regress './bench_old --benchmark_filter=Sort' './bench_new --benchmark_filter=Sort'
  fanin regress HEAD~1 . --build 'make bench' --run ./bench
  fanin regress --command 'gzip -{n} -kc data.bin' 'zstd -{n} -c data.bin' -L n 1,9 --quick)";

}  // namespace

command add_regress(CLI::App& root) {
  auto arguments = std::make_shared<regress_options>();
  CLI::App* parser = root.add_subcommand("regress", "Find out for each case whether build B is slower than build A");
  parser
      ->add_option("A", arguments->a,
                   "the program as it was built before, here or in PATH; or a result file of such a program")
      ->type_name("")
      ->required();
  parser->add_option("B", arguments->b, "the program as it is built now; or a result file, if A is one")
      ->type_name("")
      ->required();
  CLI::Option* google = parser->add_flag("--google-benchmark", arguments->google_benchmark,
                                         "A and B are commands that take --benchmark_format=json");
  CLI::Option* nvbench =
      parser->add_flag("--nvbench", arguments->nvbench, "A and B are commands of nvbench that take --json stdout");
  CLI::Option* command =
      parser->add_flag("--command", arguments->command, "A and B are any commands, timed from start to end");
  google->excludes(nvbench, command);
  nvbench->excludes(command);
  const auto take_time = [arguments](const std::string& text) {
    arguments->at_most_seconds = parse_duration("--at-most", text);
  };
  CLI::Option* at_most = parser
                             ->add_option_function<std::string>("--at-most", take_time,
                                                                "the longest time to add pairs to undecided cases")
                             ->type_name("TIME")
                             ->default_str("60s");
  CLI::Option* quick = parser->add_flag_callback(
      "--quick", [arguments] { arguments->at_most_seconds = 10; }, "the same as --at-most 10s");
  add_number_option(*parser, "--pairs", least_pairs, arguments->pairs,
                    "take this many pairs of each case, instead of adding pairs until the cases are decided");
  parser->get_option("--pairs")->excludes(at_most, quick);
  at_most->excludes(quick);
  parser->add_option("--threshold", arguments->threshold, "the change that matters")
      ->type_name("PERCENT")
      ->capture_default_str();
  parser->add_flag("--aa", arguments->floor,
                   "also run A against itself, and report no change smaller than the variation of A");
  add_budget_option(*parser, default_budget_seconds,
                    [arguments](double seconds) { arguments->budget_seconds = seconds; });
  add_seconds_option(*parser, "--timeout", "seconds after which a process is killed", child_limits{}.seconds,
                     [arguments](double seconds) { arguments->timeout_seconds = seconds; });
  for (const char* axis : {"--backend", "--variant", "--operation", "--type", "--method", "--count", "--threads"}) {
    const auto pass_on = [arguments, axis](const std::string& value) { arguments->axes.emplace_back(axis, value); };
    parser->add_option_function<std::string>(axis, pass_on, "passed on to 'fanin bench'; see 'fanin help bench'")
        ->type_name("LIST");
  }
  parser->add_option("--control", arguments->controls, "names of cases that the change cannot touch, as in 'parse*'")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  parser->add_option("--setup", arguments->setup, "run this shell command before the first pair")
      ->type_name("COMMAND");
  parser->add_option("--prepare", arguments->prepare, "run this shell command before each process")
      ->type_name("COMMAND");
  add_number_option(*parser, "--warmup", 1, arguments->warmups, "run A and B this many times before the first pair");
  parser
      ->add_option("-L,--parameter-list", arguments->parameters,
                   "with --command: a case for each value, which replaces {NAME}; commas separate the values")
      ->type_name("NAME VALUES")
      ->allow_extra_args(false);
  parser->add_flag("--ignore-failure", arguments->may_fail, "with --command: accept any exit status");
  parser->add_flag("--compare-output", arguments->compare_output,
                   "with --command: compare the outputs first, and fail if they differ");
  parser->add_flag("--instructions", arguments->instructions,
                   "with --command: count the instructions too, by perf or else by valgrind");
  add_number_option(
      *parser, "--layouts", default_pairs, arguments->layouts,
      "run the pairs with this many sizes of the environment, each of which counts once; with --build also "
      "with three orders of functions");
  parser->add_option("--build", arguments->build, "A and B are revisions of git, which this shell command builds")
      ->type_name("COMMAND");
  parser->add_option("--run", arguments->run, "with --build: the program in the folder of a revision")
      ->type_name("COMMAND");
  parser->add_option("--export-csv", arguments->csv, "write the table to this file")->type_name("FILE");
  parser->add_option("--export-markdown", arguments->markdown, "write the table and the reasons to this file")
      ->type_name("FILE");
  parser->add_flag("--lenient", arguments->lenient,
                   "exit with status 0, not 4, if a case is undecided and none slower");
  parser->add_flag("--json", arguments->json, "print one JSON object, with the times from every process");
  parser->footer(footer);
  return {parser, [arguments] { run_regress(*arguments); }};
}

}  // namespace fanin::cli
