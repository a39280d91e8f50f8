// SPDX-License-Identifier: Apache-2.0
// Tests of what the command says about a command line that cannot be parsed.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("parse errors");

TEST_CASE("an option without its value: the message says how to write the option") {
  const scratch_folder here;
  const std::regex with_value("  (?:-.,)?(--[a-z-]+) ([A-Z]+)(?![A-Za-z]| VALUES).*");
  std::set<std::string> tried;  // subcommands share options
  for (const std::string subcommand : {"sum", "describe", "quantile", "compare", "accuracy", "ladder", "lesson",
                                       "lab", "bench", "regress", "report", "generate", "merge"}) {
    std::istringstream help(here.fanin(subcommand + " --help").out);
    std::smatch found;
    for (std::string line; std::getline(help, line);) {
      if (!std::regex_match(line, found, with_value) || !tried.insert(found.str(1)).second) continue;
      const std::string written = found.str(1) + " " + found.str(2);
      CAPTURE(written);
      check_failure(here.fanin(subcommand + " " + found.str(1)), 2,
                    "fanin: " + found.str(1) + " needs a value: write '" + written + "'; see 'fanin " + subcommand +
                        " --help'\n");
    }
  }
  CHECK(tried.size() > 50);
  check_failure(here.fanin("sum x.npy --column="), 2, "--column needs a value: write '--column COLUMN'");
  check_failure(here.fanin("sum x.npy -o"), 2, "--output needs a value: write '--output FILE'");
  check_failure(here.fanin("regress a b -L n"), 2,
                "--parameter-list needs 2 values: write '--parameter-list NAME VALUES'; see 'fanin regress --help'");
}

TEST_CASE("arguments and options that a subcommand cannot do without") {
  const scratch_folder here;
  check_failure(here.fanin("reduce"), 2, "OPERATION is missing: write 'fanin reduce OPERATION [FILE...]'");
  check_failure(here.fanin("merge"), 2, "STATE is missing: write 'fanin merge STATE...'; see 'fanin merge --help'");
  check_failure(here.fanin("generate uniform"), 2, "--output is missing: write 'fanin generate SPEC --output FILE'");
}

TEST_CASE("a value for an option that takes none") {
  const scratch_folder here;
  check_failure(here.fanin("sum --json=3"), 2, "--json takes no value; see 'fanin sum --help'");
  check_failure(here.fanin("sum --csv=maybe"), 2, "--csv takes no value; see 'fanin sum --help'");
}

TEST_CASE("options before the subcommand") {
  const scratch_folder here;
  check_failure(here.fanin("--verson"), 2, "fanin: unknown option '--verson'; did you mean '--version'?");
  check_failure(here.fanin("--json sum"), 2, "fanin: unknown option '--json'; there are --help, --version");
  check_failure(here.fanin("sum mean --column"), 2, "only one subcommand can be given, not sum and mean");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
