// SPDX-License-Identifier: Apache-2.0
#include "cli/advice.hpp"

#include <algorithm>
#include <iterator>

namespace fanin::cli {

namespace {

struct foreign_option {
  std::string_view subcommand;  ///< empty: every subcommand
  std::string_view word, sentence;
};

constexpr std::string_view advice_on_groups =
    "'fanin reduce count,min,max,sum,mean,standard_deviation FILE --column all --by COLUMN --nan skip' describes "
    "each group";
constexpr std::string_view advice_on_output = "describe prints a table, or JSON with --json; '> FILE' writes a file";
constexpr std::string_view advice_on_records =
    "fanin reads every record; another tool leaves records out: awk -F, 'NR == 1 || $2 > 3' x.csv | fanin sum -";
constexpr std::string_view advice_on_digits =
    "fanin prints the digits that identify the number; printf '%.3f' \"$(fanin sum FILE)\" prints fewer";
constexpr std::string_view advice_on_samples =
    "sample_variance and sample_standard_deviation divide by n - 1, variance and standard_deviation by n";
constexpr std::string_view advice_on_encoding =
    "fanin reads UTF-8; 'iconv -f ENCODING -t UTF-8 FILE | fanin sum -' converts";

constexpr foreign_option foreign_options[] = {
    {"describe", "--by", advice_on_groups},
    {"describe", "--group-by", advice_on_groups},
    {"describe", "--groupby", advice_on_groups},
    {"describe", "--nan", "describe always leaves NaN out, and counts them in the column 'nan'"},
    {"describe", "--skipna", "describe always leaves NaN out; --missing skip leaves empty fields out"},
    {"describe", "--all", "describe has a line for every column of numbers"},
    {"describe", "--csv", advice_on_output},
    {"describe", "--output", advice_on_output},
    {"describe", "-o", advice_on_output},
    {"", "--where", advice_on_records},
    {"", "--filter", advice_on_records},
    {"", "--query", advice_on_records},
    {"", "--precision", advice_on_digits},
    {"", "--digits", advice_on_digits},
    {"", "--round", advice_on_digits},
    {"", "--ddof", advice_on_samples},
    {"", "--sample", advice_on_samples},
    {"", "--encoding", advice_on_encoding},
};

}  // namespace

std::string_view advice_on_option(std::string_view subcommand, std::string_view word) {
  const auto found = std::ranges::find_if(foreign_options, [&](const foreign_option& one) {
    return one.word == word && (one.subcommand.empty() || one.subcommand == subcommand);
  });
  return found == std::end(foreign_options) ? std::string_view() : found->sentence;
}

}  // namespace fanin::cli
