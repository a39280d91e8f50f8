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
    {undecided, "regress: a case is undecided, and none became slower (0 with --lenient)"},
    {backend_not_usable, "the backend asked for is not usable here"}};

constexpr std::string_view channels =
    "Results go to stdout, messages to stderr. A NUMBER is written as 1000, 1e3 or 2^10.";
constexpr std::string_view environment =
    "FANIN_BACKEND stands in for --backend of every subcommand. NO_COLOR, if set, keeps bold and coloured text off a "
    "terminal.";

constexpr std::string_view input_formats =
    "gzip and zstd data are unpacked, by their first bytes; after --format raw only if the name ends with .gz or "
    ".zst.\n"
    "Input is .npy, .npz or .zip by its first bytes; csv by its name (.csv, .tsv, in upper or lower case) or "
    "--column,\n"
    "--header or --no-header, or if its first records are a table;\n"
    "raw by its name (.bin, .raw) or --skip or --count; otherwise text. --format overrules all of these.\n"
    "In text, white space separates numbers, and a comma only with --delimiter ','. Numbers that are integers\n"
    "alone, in the text or in a column, are i64 or u64, and otherwise f64; --type overrules. A line ends with LF,\n"
    "CR LF or CR. A word, number or name has at most 4096 bytes, another field of csv 1048576, a header\n"
    "65536 names. All records of csv have as many fields; an empty one is an error where a number belongs.\n"
    "--column takes a name of the header, a number from 1, a list of these ('price,3'), or all: every column of\n"
    "numbers. Operations of one input, reduce and describe take all where there is no --column, and a note names the\n"
    "columns that are left out. A word that is a name of the header is that column, also if it is a number or has\n"
    "commas. The first records of csv tell what separates the fields, unless --delimiter does. The first line of csv is\n"
    "a header with --header, if a column is chosen by name, or if it alone is text in a column of numbers;\n"
    "--no-header says that it is none. --missing skip leaves out, and counts, empty fields and the words NA, N/A,\n"
    "#N/A, <NA>, NULL and NONE in upper or lower case; nan is a number.";

constexpr std::string_view examples =
    "  fanin sum data.npy                     the correctly rounded sum, the same bits everywhere\n"
    "  fanin sum data.npy --method fast       plain floating-point addition, on the best backend\n"
    "  fanin compare data.npy                 every backend and variant: error, bound, time\n"
    "  fanin help SUBCOMMAND                  options and examples of a subcommand";

}  // namespace fanin::cli
