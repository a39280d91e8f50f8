// SPDX-License-Identifier: Apache-2.0
// The subcommands of `fanin`.
#pragma once

#include <functional>
#include <vector>

#include "cli/kit/options.hpp"

namespace fanin::cli {

/// A subcommand: its parser, and the function that runs it after parsing. run() writes to stdout at most once, at its
/// end. @throws usage_error, bad_data, fanin::error
struct command {
  CLI::App* parser;
  std::function<void()> run;
};

std::vector<command> add_reductions(CLI::App& root);  ///< one for each operation of the catalogue, and `reduce`
command add_describe(CLI::App& root);
command add_count(CLI::App& root);
command add_median(CLI::App& root);
command add_quantile(CLI::App& root);
command add_compare(CLI::App& root);
command add_accuracy(CLI::App& root);
command add_ladder(CLI::App& root);
command add_lesson(CLI::App& root);
command add_check(CLI::App& root);
command add_lab(CLI::App& root);
command add_bench(CLI::App& root);
command add_regress(CLI::App& root);
command add_generate(CLI::App& root);
command add_report(CLI::App& root);
command add_merge(CLI::App& root);
command add_backends(CLI::App& root);
command add_device(CLI::App& root);
command add_completion(CLI::App& root);
command add_manpage(CLI::App& root);

}  // namespace fanin::cli
