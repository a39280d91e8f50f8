// SPDX-License-Identifier: Apache-2.0
// Text that `fanin --help` and the manual page share.
#pragma once

#include <string_view>

namespace fanin::cli {

constexpr int failed = 1, bad_usage = 2, regressed = 3, undecided = 4, backend_not_usable = 5;

struct exit_status {
  int status;
  std::string_view meaning;
};
constexpr exit_status exit_statuses[] = {
    {0, "done"},
    {failed, "bad input, I/O or device"},
    {bad_usage, "bad usage"},
    {regressed, "regress: a case became slower"},
    {undecided, "regress: a case is undecided, and none became slower (0 with --lenient); or a --control changed"},
    {backend_not_usable, "the named backend is not usable here"}};

constexpr std::string_view channels =
    "Results go to stdout, messages to stderr. A NUMBER is written as 1000, 1e3 or 2^10.";
constexpr std::string_view environment =
    "FANIN_BACKEND is the default of --backend in every subcommand. If NO_COLOR is set, text on a terminal has no "
    "bold "
    "type and no colours.";

constexpr std::string_view input_formats =
    R"(How the format of an input is recognised (--format overrules this):
  .npy, .npz, .zip  by the first bytes
  csv               the name ends with .csv or .tsv, or --column, --header or --no-header is given, or the first
                    records form a table
  raw               the name ends with .bin or .raw, or --skip or --count is given
  text              everything else
gzip and zstd data are recognised by their first bytes, and unpacked. With --format raw they are unpacked only if the
name ends with .gz or .zst.

Text and csv:
- In text, white space separates numbers. A comma separates numbers only with --delimiter ','.
- If all numbers are integers, their type is i64 or u64. Otherwise it is f64. Each column of csv has a type of its own.
  --type overrules this.
- A line ends with LF, CR LF or CR.
- A word, a number or a name has at most 4096 bytes. Any other field of csv has at most 1048576 bytes. A header has at
  most 65536 names.
- --missing skip leaves out missing numbers, and counts them. An empty field is a missing number, and so is NA, N/A,
  #N/A, <NA>, NULL or NONE, in upper or lower case. Without --missing skip a missing number is an error.
- nan is a number, and not a missing one.

csv alone:
- The first records show which character separates the fields: a comma, a semicolon, a tab or a bar. If the first line
  consists of names, any number of blanks may separate the fields too. --delimiter overrules this.
- All records have the same number of fields.
- The first line is a header in three cases: --header is given, a column is chosen by name, or the first line has text
  above a column of numbers. With --no-header the first line is data.
- --column takes a name, a number from 1, or a list of these ('price,3'). --column all is every column of numbers.
- A word that is a name in the header always means that column, even if the word is a number, is all, or has commas.
- Without --column, every column of numbers is taken by reduce, describe, and each operation of one input. A note names
  the columns that are left out.
)";

constexpr std::string_view examples =
    "  fanin sum data.npy                     the correctly rounded sum, the same bits everywhere\n"
    "  fanin sum data.npy --method fast       plain floating-point addition, on the best backend\n"
    "  fanin compare data.npy                 every backend and variant: error, bound, time\n"
    "  fanin help SUBCOMMAND                  options and examples of a subcommand";

}  // namespace fanin::cli
