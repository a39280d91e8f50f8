// SPDX-License-Identifier: Apache-2.0
#include "cli/input/options.hpp"

#include <string>

#include <fmt/format.h>

#include "cli/kit/options.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

void add_input_options(CLI::App& parser, input_options& arguments, bool required) {
  parser.add_option("FILE", arguments.path, "input file; - is standard input")->type_name("")->required(required);
  add_reading_options(parser, arguments);
}

void add_reading_options(CLI::App& parser, input_options& arguments) {
  const auto option = [&](const char* name, const char* value, std::string& to, const char* description) {
    return parser.add_option(name, to, description)->type_name(value);
  };
  option("--format", "FORMAT", arguments.format,
         "npy, raw, text or csv (default: recognised by the rules in 'fanin --help')");
  static const std::string types =
      fmt::format("element type: {} (raw: required; text, csv: i64 or u64 if all numbers are integers, else f64)",
                  fmt::join(names_of(all_element_types), " "));
  option("--type", "TYPE", arguments.type, types.c_str());
  add_number_option(parser, "--skip", 0, arguments.skip, "raw: bytes to skip at the start");
  add_number_option(parser, "--count", 0, arguments.count, "raw: number of elements to read (default: all)");
  option("--member", "NAME", arguments.member, "npz, zip: the array or file (default: the only one)");
  add_list_option(parser, "--column", arguments.column,
                  "csv: columns by name or by number from 1, as in 'price,3'; or all, for every column of numbers")
      ->type_name("COLUMN");
  option("--delimiter", "CHARACTER", arguments.delimiter,
         "character between fields, or 'tab'; a blank stands for any number of them (default: for csv the first "
         "records show it, "
         "for text white space)");
  CLI::Option* header = parser.add_flag("--header", arguments.header, "csv: the first line names the columns");
  parser
      .add_flag("--no-header", arguments.no_header,
                "csv: the first line is data (default: it is a header if it has text above a column of numbers)")
      ->excludes(header);
  option("--missing", "WORD", arguments.missing,
         "text, csv: 'skip' leaves out empty fields, NA, N/A, #N/A, <NA>, NULL and NONE; 'error' (default) refuses "
         "them");
  option("--missing-words", "WORDS", arguments.missing_words,
         "text, csv: more words that stand for a missing number, as in '-,-999'; implies --missing skip");
  option("--decimal", "CHARACTER", arguments.decimal,
         "text, csv: the decimal character; with ',' 1,5 is a number (default: '.')");
  option("--thousands", "CHARACTER", arguments.thousands,
         "text, csv: the character between groups of three digits; with ',' 1,234.5 is a number");
  add_number_option(parser, "--skip-lines", 0, arguments.skip_lines, "text, csv: lines to skip at the start");
  option("--comment", "CHARACTER", arguments.comment,
         "text, csv: skip lines that begin with this character, such as '#'");
}

}  // namespace fanin::cli
