// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/options.hpp"

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/options.hpp"
#include "cli/kit/parser.hpp"

namespace fanin::cli {

void batch_options::check_output() const {
  if (given() || output.empty()) return;
  throw usage_error("--output requires --axis, --segments, --keys or --by; a single value is printed");
}

namespace {

/// Refuses an empty value: an unset variable of a script would ask for one result.
CLI::Option* require_word(CLI::Option* option, const std::string& name) {
  return option->check([name](const std::string& text) {
    if (text.empty()) throw usage_error(fmt::format("{} is empty", name));
    return std::string();
  });
}

CLI::Option* add_word(CLI::App& parser, const std::string& name, std::string& to, const std::string& description) {
  return require_word(parser.add_option(name, to, description), name);
}

}  // namespace

void add_layout_options(CLI::App& parser, batch_options& arguments) {
  const auto option = [&](const char* name, const char* value, std::string& to, const char* description) {
    return add_word(parser, name, to, description)->type_name(value);
  };
  CLI::Option* const axis =
      option("--axis", "AXES", arguments.axis,
             "a result for each row along this axis (-1: the last axis), or along several axes as in "
             "'0,2'");
  option("--shape", "COUNTS", arguments.shape, "shape of an input that is not .npy, as in '3,4,5'")->needs(axis);
  CLI::Option* const segments =
      option("--segments", "FILE", arguments.segments,
             "a result for each segment; FILE is an .npy of offsets, one more than there are segments");
  CLI::Option* const keys = option("--keys", "FILE", arguments.keys,
                                   "a result for each group; FILE is an .npy with the group number of each element");
  add_number_option(parser, "--groups", 0, arguments.groups,
                    "number of groups (default: 1 more than the largest key)");
  parser.get_option("--groups")->needs(keys);
  parser
      .add_flag("--drop-others", arguments.drop_others, "leave out elements whose key is not the number of a group")
      ->needs(keys);
  axis->excludes(segments)->excludes(keys);
  segments->excludes(keys);
}

void add_batch_options(CLI::App& parser, batch_options& arguments) {
  add_layout_options(parser, arguments);
  add_word(
      parser, "--output,-o", arguments.output,
      "with --axis, --segments or --keys: write the results to an .npy (argmin, argmax: the indices); with --by: "
      "write the lines; - is standard output")
      ->type_name("FILE");
}

void add_by_options(CLI::App& parser, batch_options& arguments) {
  const char* const about =
      "csv: a result for each group of records that have the same text in these columns, as in 'region,year'; "
      "requires --column";
  CLI::Option* const by =
      require_word(add_list_option(parser, "--by", arguments.by, about), "--by")->type_name("COLUMNS");
  parser.add_flag("--sort-keys", arguments.sort_keys, "with --by: sort the groups by their keys")->needs(by);
  parser
      .add_flag("--csv", arguments.csv, "with --by: put commas between the fields, and always print a line of names")
      ->needs(by)
      ->excludes(parser.get_option("--json"));
  for (const char* other : {"--axis", "--segments", "--keys"}) {
    if (CLI::Option* const option = parser.get_option_no_throw(other)) by->excludes(option);
  }
}

}  // namespace fanin::cli
