// SPDX-License-Identifier: Apache-2.0
// fanin count, median and quantile: how many numbers there are, and which stand at given places when all are sorted.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/joint.hpp"

namespace fanin::cli {

namespace {

std::shared_ptr<joint_options> add_statistic_options(CLI::App& parser) {
  auto arguments = std::make_shared<joint_options>();
  add_joint_options(parser, *arguments);
  parser.add_option("--nan", arguments->how.nan, "skip leaves NaN out; with propagate (default) NaN take part")
      ->type_name("POLICY");
  parser.add_flag("--json", arguments->json, "print a JSON object; for several results an array of objects");
  add_by_options(parser, arguments->many);
  return arguments;
}

constexpr std::string_view memory_and_input =
    "All numbers are held in memory: 8 bytes for each number, and up to 24 while they are read. With many results\n"
    "the command takes as much memory as for sums.\n"
    "Nothing is sorted. The time is proportional to the number of numbers.\n"
    "Without FILE, standard input is read if it is a pipe or a file.\n\n";

}  // namespace

command add_count(CLI::App& root) {
  CLI::App* parser = root.add_subcommand("count", "How many numbers there are");
  const auto arguments = add_statistic_options(*parser);
  parser->footer(
      "Counts all numbers, NaN too. --nan skip leaves NaN out. --missing skip leaves missing numbers out.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin count prices.csv --column price,amount --missing skip\n"
      "  fanin count prices.csv --column price --by region\n"
      "  fanin count data.npy --nan skip");
  return {parser, [arguments] { run_joint_reduction("count", {statistic::count()}, line_label::none, *arguments); }};
}

command add_median(CLI::App& root) {
  CLI::App* parser = root.add_subcommand("median", "The number in the middle, correctly rounded");
  const auto arguments = add_statistic_options(*parser);
  parser->footer(
      "The median is the number in the middle of the sorted numbers. If their count is even, the median is the mean "
      "of "
      "the\ntwo numbers in the middle, rounded once. A NaN makes the median NaN, unless --nan skip leaves NaN "
      "out.\n" +
      std::string(memory_and_input) +
      "Examples:\n  fanin median prices.csv --column price,amount\n"
      "  fanin median prices.csv --column price --by region,year\n  fanin median cube.npy --axis 0 --output m.npy");
  return {parser,
          [arguments] { run_joint_reduction("median", {statistic::median()}, line_label::none, *arguments); }};
}

command add_quantile(CLI::App& root) {
  CLI::App* parser =
      root.add_subcommand("quantile", "Quantiles, such as the number below which 95 % lie, correctly rounded");
  auto shares = std::make_shared<std::string>();
  parser->add_option("Q", *shares, "numbers from 0 to 1, separated by commas")->required()->type_name("");
  const auto arguments = add_statistic_options(*parser);
  parser->footer(
      "Let n numbers be sorted, with places from 0 to n - 1. The quantile Q is the number at the place Q (n - 1). "
      "Between\ntwo places it is interpolated linearly, as numpy.quantile does by default, and rounded once. Q is "
      "taken "
      "as it is\nwritten: 0.1 is exactly a tenth. A NaN makes every quantile NaN, unless --nan skip leaves NaN out.\n"
      "With several values of Q there is a line for each, which begins with Q.\n" +
      std::string(memory_and_input) +
      "Examples:\n  fanin quantile 0.9 data.npy\n  fanin quantile 0.05,0.5,0.95 prices.csv --column price\n"
      "  fanin quantile 0.5,0.9 prices.csv --column price --by region");
  return {parser, [arguments, shares] {
            std::vector<statistic> statistics;
            for (const std::string& one : split(*shares, ',')) statistics.push_back(statistic::quantile(one));
            run_joint_reduction("quantile", statistics, statistics.size() > 1 ? line_label::share : line_label::none,
                                *arguments);
          }};
}

}  // namespace fanin::cli
