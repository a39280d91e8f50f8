// SPDX-License-Identifier: Apache-2.0
// fanin report draws charts of results, all in one HTML file or one chart as SVG or CSV.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/backend.hpp>

#include "cli/commands.hpp"
#include "cli/kit/child.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/draw.hpp"
#include "cli/report/page.hpp"
#include "cli/report/results.hpp"

namespace fanin::cli {

namespace {

using charts::chart_kind;
using charts::chart_kinds;
using charts::figure;

enum class report_format : std::uint8_t { html, svg, csv };
constexpr report_format all_formats[] = {report_format::html, report_format::svg, report_format::csv};
std::string_view to_string(report_format format) {
  constexpr std::string_view names[] = {"html", "svg", "csv"};
  return names[static_cast<std::size_t>(format)];
}

struct report_options {
  std::string output, format = "html", chart;
  std::vector<std::string> files;
  bool force = false;  ///< replace the file `output`
  bool history = false;
};

/// The figures of the kind `name`, or the figure with the id `name`. @throws bad_data if a kind has no figure
std::vector<figure> chosen(std::vector<figure> figures, const std::string& name) {
  std::vector<std::string_view> known;
  for (const chart_kind& kind : chart_kinds()) known.push_back(kind.name);
  const bool is_kind = std::ranges::find(known, name) != known.end();
  if (!is_kind && std::ranges::find(figures, name, &figure::id) == figures.end()) {
    for (const figure& one : figures) known.push_back(one.id);
    throw usage_error(fmt::format("unknown chart '{}'{}", printable(name), detail::suggestion(name, known)));
  }
  std::erase_if(figures, [&](const figure& one) { return one.kind != name && one.id != name; });
  if (figures.empty()) throw bad_data(fmt::format("these results have nothing for the chart '{}'", name));
  return figures;
}

const figure& only(const std::vector<figure>& figures, report_format format) {
  if (figures.size() == 1) return figures.front();
  std::vector<std::string_view> names;
  for (const figure& one : figures) names.push_back(one.id);
  throw usage_error(
      fmt::format("--format {} is for one chart; --chart takes {}", to_string(format), fmt::join(names, ", ")));
}

/// Measures speed and error over the number of elements and, if there is a GPU, the ladder. This program runs itself
/// for each measurement.
charts::results measured_here() {
  using command_line = std::vector<std::string>;
  std::vector<command_line> runs = {
      {"bench", "--json", "--count", "2^10,2^13,2^16,2^19,2^22,2^24", "--method", "fast,exact", "--budget", "0.3"}};
  for (const char* count : {"1000", "10000", "100000", "1000000"}) {
    runs.push_back({"accuracy", "uniform", "condition:1e10", "--json", "--count", count});
  }
  if (find_backend("cuda").probe().usable()) runs.push_back({"ladder", "--json"});
  charts::results all;
  progress line("report");
  for (const command_line& run : runs) {
    const std::string command = fmt::format("fanin {}", fmt::join(run, " "));
    line.set_task(command);
    all.add(command, json::parse(run_child({"/proc/self/exe", run}).out));
  }
  return all;
}

void run_report(const report_options& arguments) {
  const auto format = parse_choice<report_format>("format", arguments.format, all_formats);
  if (arguments.output.ends_with(".json")) {
    throw usage_error(
        fmt::format("'{}' looks like a result; the file to write comes first", printable(arguments.output)));
  }
  const std::string name = arguments.history ? "history" : arguments.chart;
  if (name == "history" && arguments.files.empty()) throw usage_error("the history needs results of several commits");
  for (const std::string& input : arguments.files) {
    std::error_code absent;
    if (std::filesystem::equivalent(input, arguments.output, absent)) {
      throw usage_error(fmt::format("'{}' is a result; the file to write comes first", printable(arguments.output)));
    }
  }
  output_file file(arguments.output, arguments.force);  // A bad path fails before minutes of measuring.
  const charts::results all = arguments.files.empty() ? measured_here() : charts::read_results(arguments.files);
  if (!all.skipped.empty()) {
    write_stderr(
        fmt::format("warning: skipped {}: there is no chart for such results", fmt::join(all.skipped, ", ")));
  }
  std::vector<figure> figures = charts::all_figures(all);
  if (!name.empty()) figures = chosen(std::move(figures), name);
  if (figures.empty()) throw bad_data("these results have nothing to draw");
  const std::string text = format == report_format::html  ? charts::html_page(all, figures)
                           : format == report_format::svg ? charts::svg_file(only(figures, format))
                                                          : charts::csv(only(figures, format));
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string list_of_charts() {
  std::string text = "Charts:\n";
  for (const chart_kind& kind : chart_kinds()) text += fmt::format("  {:<12} {}\n", kind.name, kind.story);
  return text + R"(
A RESULT is what 'fanin bench', 'regress', 'ladder', 'lab latency', 'accuracy' or 'compare' prints with --json. Other
JSON files are skipped with a warning. Without a RESULT the command measures speeds and errors for several lengths,
and the ladder if there is a GPU. The page needs no network and no script. If a machine has results of several
commits, the charts show the latest, and the history shows all of them.

Examples:
  fanin report here.html
  fanin ladder --json > ladder.json
  fanin report report.html ladder.json bench.json
  fanin report ladder.svg --format svg --chart ladder ladder.json
  fanin report trend.html --history bench/results/MACHINE/???????.json)";
}

}  // namespace

command add_report(CLI::App& root) {
  auto arguments = std::make_shared<report_options>();
  CLI::App* parser = root.add_subcommand("report", "Draw results: one HTML file with charts and tables");
  parser->add_option("OUT", arguments->output, "the file to write")->type_name("")->required();
  parser->add_option("RESULT", arguments->files, "result files (default: the command measures now)")->type_name("");
  parser->add_option("--format", arguments->format, "html; or one chart as svg or csv")
      ->type_name("FORMAT")
      ->capture_default_str();
  CLI::Option* chart =
      parser->add_option("--chart", arguments->chart, "only the charts of this kind, or the chart with this id");
  chart->type_name("NAME");
  parser->add_flag("--force", arguments->force, "replace OUT if it exists");
  parser->add_flag("--history", arguments->history, "only the history from commit to commit")->excludes(chart);
  parser->footer(list_of_charts());
  return {parser, [arguments] { run_report(*arguments); }};
}

}  // namespace fanin::cli
