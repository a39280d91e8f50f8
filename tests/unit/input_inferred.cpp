// SPDX-License-Identifier: Apache-2.0
// Tests of the types that columns of text have by themselves, and of the guess whether there is a header: neither
// depends on how the text is split.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/input/header_guess.hpp"
#include "cli/input/text_parser.hpp"
#include "cli/kit/errors.hpp"
#include "tests/unit/text_pieces.hpp"

namespace fanin::cli {
namespace {

std::string numbers_of(const column_values& column) {
  return with_element(column.type, [&]<class T>() -> std::string {
    std::vector<T> values(column.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), column.bytes.data(), column.bytes.size());
    if constexpr (std::same_as<T, double> || std::integral<T>) return fmt::format("{}", fmt::join(values, " "));
    return "numbers of another type";
  });
}

/// The columns as text, as in "a: i64 1 2", with the number of integers that no f64 is equal to; or an error.
std::string inferred_in_pieces(std::string_view text, const text_layout& layout, std::size_t piece) {
  std::vector<std::string> columns;
  try {
    text_parser parser(layout, std::nullopt, "x");
    parse_in_pieces(parser, text, piece, [] {});
    for (const column_values& one : parser.columns()) {
      columns.push_back(
          fmt::format("{}{} {}", one.name.empty() ? "" : one.name + ": ", to_string(one.type), numbers_of(one)));
      const rounded_numbers& rounded = one.rounded;
      if (rounded.integers > 0) {
        columns.back() += fmt::format(" ({} inexact{})", rounded.integers, rounded.decimals ? ", decimals" : "");
      }
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

void check_inferred(std::string_view text, const text_layout& layout, const std::string& expected) {
  check_every_piece(text, expected, [&](std::size_t piece) { return inferred_in_pieces(text, layout, piece); });
}

text_layout guessed(std::string column, bool skip_missing = false) {
  return {.csv = true, .column = std::move(column), .skip_missing = skip_missing, .guess_header = true};
}

TEST_SUITE_BEGIN("text");

TEST_CASE("integers alone are i64, or u64 above 2^63 - 1") {
  check_inferred("1 -2 +3 007", {}, "i64 1 -2 3 7");
  check_inferred("9223372036854775807 -9223372036854775808", {},
                 "i64 9223372036854775807 -9223372036854775808 (1 inexact)");
  check_inferred("1 9223372036854775808 2", {}, "u64 1 9223372036854775808 2");
  check_inferred("18446744073709551615", {}, "u64 18446744073709551615 (1 inexact)");
  check_inferred("0000000000000000000000018446744073709551615", {}, "u64 18446744073709551615 (1 inexact)");
  check_inferred("1382016600011617669 1", {}, "i64 1382016600011617669 1 (1 inexact)");
  check_inferred("1 NA 3", {.skip_missing = true}, "i64 1 3");
  check_inferred("", {}, "i64 ");
}

TEST_CASE("a number that no integer type has makes the column f64") {
  check_inferred("1 2.5", {}, "f64 1 2.5");
  check_inferred("1 2e3 4", {}, "f64 1 2000 4");
  check_inferred("3 nan", {}, "f64 3 nan");
  check_inferred("3 -inf", {}, "f64 3 -inf");
  check_inferred("5 -0 7", {}, "f64 5 -0 7");
  check_inferred("18446744073709551616 1", {}, "f64 1.8446744073709552e+19 1");
  check_inferred("1 -9223372036854775809", {}, "f64 1 -9.223372036854776e+18 (1 inexact)");
  check_inferred("-1 9223372036854775808", {}, "f64 -1 9.223372036854776e+18");
  check_inferred("9223372036854775808 -1", {}, "f64 9.223372036854776e+18 -1");
}

TEST_CASE("integers that f64 rounds are counted, before and behind the number that makes the column f64") {
  check_inferred("9007199254740993 0.5", {}, "f64 9007199254740992 0.5 (1 inexact)");
  check_inferred("0.5 9007199254740993 9007199254740992 -9007199254740993", {},
                 "f64 0.5 9007199254740992 9007199254740992 -9007199254740992 (2 inexact)");
  check_inferred("0.5 100000000000000000000 100000000000000000001", {}, "f64 0.5 1e+20 1e+20 (1 inexact)");
  check_inferred("0.5 9007199254740993.0 9.007199254740993e15", {},
                 "f64 0.5 9007199254740992 9007199254740992 (1 inexact, decimals)");
  check_inferred("18446744073709551615 0.5 -00000000000000000000009007199254740993", {},
                 "f64 1.8446744073709552e+19 0.5 -9007199254740992 (2 inexact)");
}

TEST_CASE("a word that is no number changes no type") {
  check_inferred("1 x", {}, "x: line 1, byte 3: 'x' is not a number of type f64");
  check_inferred("1 1e999", {}, "x: line 1, byte 3: '1e999' is out of range for f64");
  check_inferred("a,b\n1,\n,2.5\nNA,3\n", {.csv = true, .column = "a,b", .skip_missing = true},
                 "a: i64 1, b: f64 2.5 3");
}

TEST_CASE("each column has its own type") {
  check_inferred("a,b,c\n1,2,18446744073709551615\n-3,\"4.5\",6\n", {.csv = true, .column = "all", .header = true},
                 "a: i64 1 -3, b: f64 2 4.5, c: u64 18446744073709551615 6 (1 inexact)");
  check_inferred("1,2\n3,4.5\n", {.csv = true, .column = "all"}, "1: i64 1 3, 2: f64 2 4.5");
}

TEST_CASE("the first line is a header if it alone is text in a column of numbers") {
  check_inferred("day,price\nmonday,2\ntuesday,3\n", guessed("2"), "i64 2 3");
  check_inferred("day,price\nmonday,NA\ntuesday,3\n", guessed("2", true), "i64 3");
  check_inferred("price\n2.5\n", guessed(""), "f64 2.5");
  check_inferred("\"a\nb\",c\r\n1,2\r\n", guessed("all"), "a\nb: i64 1, c: i64 2");
  check_inferred("id,2023,2024\n1,5,6\n2,7,8\n", guessed("3"), "i64 6 8");
  check_inferred("\n\nx,y\n1,2\n", guessed("y"), "i64 2");
  check_inferred("\"\",\"2023\",\"2024\"\n\"1\",5,6\n\"2\",7,8\n", guessed("2"), "i64 5 7");
  check_inferred("\"2023\"\n1\n2\n", guessed(""), "i64 1 2");
  check_inferred("name,0.5,0.9\n0,2,3\n1,4,5\n", guessed("2"), "i64 2 4");
  check_inferred("name,1e-3,1e-2\n0,2,3\n1,4,5\n", guessed("3"), "i64 3 5");
  check_inferred("\"name\",\"0.5\"\n0,2\n1,4\n", guessed("2"), "i64 2 4");
  check_inferred("#,2023,2024\n1,5,6\n2,7,8\n", guessed("2"), "i64 5 7");
}

TEST_CASE("marks that stand for a missing number are no names") {
  for (const std::string mark : {"-", "--", "?", ".", "*", "NA", "n/a"}) {
    const bool is_known = mark.starts_with('N') || mark.starts_with('n');
    const std::string error = fmt::format(
        "x: line 1, byte 1: column 1: '{}' is not a number of type f64; {}", mark,
        is_known ? "--missing skip leaves it out"
                 : fmt::format("if line 1 names the columns, say --header; --missing-words '{}' leaves it "
                               "out",
                               mark));
    check_inferred(mark + ",1\n2,3\n", guessed("1"), error);
    check_inferred(mark + ",1\n2,3\n", guessed("2"), "i64 1 3");
    check_inferred(mark + ",b\n2,3\n", guessed("2"), "i64 3");
  }
  check_inferred(
      "price\n-\n2\n", guessed("1"),
      "x: line 2, byte 1: column 'price': '-' is not a number of type f64; --missing-words '-' leaves it out");
}

TEST_CASE("the first line is data if all columns are of numbers, or a text of it occurs again") {
  check_inferred("1,2\n3,4\n", guessed("2"), "i64 2 4");
  check_inferred("1.5,2\n3,4\n", guessed("1"), "f64 1.5 3");
  check_inferred("1,2.5\n3,4.5\n", guessed("all"), "1: i64 1 3, 2: f64 2.5 4.5");
  check_inferred("20\n20.5\n21\n", guessed(""), "f64 20 20.5 21");
  check_inferred("5\n", guessed(""), "i64 5");
  check_inferred("0,1.5\n0.1,2.5\n", guessed("1"), "f64 0 0.1");
  check_inferred("1,0\n2,0.5\n3,0.7\n", guessed("2"), "f64 0 0.5 0.7");
  check_inferred("alice,3.5\nbob,5.25\n", guessed("2"), "f64 3.5 5.25");
  check_inferred("alice,3.5\nbob,5.25\ncarol,4\n", guessed("2"), "f64 3.5 5.25 4");
  check_inferred("\"1\",\"2\"\n\"3\",\"4\"\n", guessed("2"), "i64 2 4");
  check_inferred("1,\n,2\n3,4\n", guessed("1", true), "i64 1 3");
  check_inferred("north,5\nsouth,6\nnorth,7\n", guessed("2"), "i64 5 6 7");
  check_inferred(
      "day,price\nmonday,NA\n", guessed("2", true),
      "x: line 1, byte 5: column 2: 'price' is not a number of type f64; if line 1 names the columns, say --header");
  check_inferred(
      "1+2j\n3\n", {.csv = true, .guess_header = true},
      "x: line 1, byte 1: column 1: '1+2j' is not a number of type f64; if line 1 names the columns, say --header");
}

TEST_CASE("a first line of numbers that may be a header is an error") {
  const std::string doubt =
      "x: the first line has numbers, so it may be data or names of columns; say --header or --no-header";
  check_inferred("region,2023,2024,2025\nnorth,10,11,12\nsouth,20,21,25\n", guessed("4"), doubt);
  check_inferred(",2023\nnorth,10\n", guessed("2"), doubt);
  check_inferred(",0.5,0.9\na,2,3\nb,4,5\n", guessed("2"), doubt);
  check_inferred("wl,400.5,401.0\ns1,5,6\ns2,7,8\n", guessed("2"), doubt);
  check_inferred("date,2023.0\n2020-01-01,10\n", guessed("2"), doubt);
  check_inferred("0,1\n0.25,0.5\n", guessed("all"), doubt);
  check_inferred("0,1\n5,0.5\n", guessed("all"), doubt);
  check_inferred(",0,1,2\n0,1,2,3\n1,4,5,6\n", guessed("2"), doubt);
  check_inferred("total,2020,2021\nnorth,5,6\ntotal,5,6\n", guessed("2"), doubt);
  check_inferred("north,5\nsouth,6\n", guessed("2"), doubt);
  check_inferred("1,2\n3,x\n", guessed("1"), doubt);
  check_inferred("name,5\n7,8\nsouth,9\n", guessed("2"), doubt);
  check_inferred("1,north\n2,south\n1,east\n", guessed("1"), doubt);
  check_inferred("north,5\n", guessed("2"), doubt);
  for (const std::string fault :
       {"\u22125", "$5", "\u20ac5", "5%", "1 234", "1.5\u00a0", "1.2.3", "\"1,234.50\"", "-$5"}) {
    CAPTURE(fault);
    check_inferred(fault + "\n3\n5\n", guessed(""), doubt);
    check_inferred(fault + ",b\n3,x\n5,y\n", guessed("1"), doubt);
    check_inferred(fault + ",2\n3,4\n5,6\n", guessed("2"), doubt);
  }
  check_inferred("1.5,1O\n3,4\n5,6\n", guessed("1"), doubt);
  check_inferred("region,2023-Q1,1st\na,1,2\nb,3,4\n", guessed("3"), "i64 2 4");
  text_layout of_thousands = guessed("2");
  of_thousands.numbers.thousands = ',';
  check_inferred("north,\"1,234.50\"\nsouth,900\neast,20\n", of_thousands, doubt);
  check_inferred("\"1,234\",5\n7,8\n9,10\n", of_thousands, "i64 5 8 10");
  of_thousands.column = "1";
  check_inferred("\"1,234\",5\n7,8\n9,10\n", of_thousands, "i64 1234 7 9");
  check_inferred("5,\"7\"\n2,8\n", guessed("2"), "i64 7 8");
  check_inferred("\"5\",\"7\"\n2,8\n", guessed("2"), "i64 8");
  check_inferred("region,2023\nnorth,1\n", {.csv = true, .column = "2"}, "i64 2023 1");
  check_inferred("region,2023\nnorth,1\n", {.csv = true, .column = "2", .header = true}, "i64 1");
}

TEST_CASE("records that end behind the first 64 KiB take no part in the guess") {
  const std::string rest = std::string(header_guess::most_bytes, ' ');
  CHECK(inferred_in_pieces("1\n2.5\n" + rest + "\n3\n", guessed(""), 1000).starts_with("x: the first line"));
  CHECK(inferred_in_pieces("1\n2.5\n3\n" + rest + "\n4\n", guessed(""), 1000) == "f64 1 2.5 3 4");
  const std::string ends_there = "1\n2.5\n" + std::string(header_guess::most_bytes - 7, ' ') + "3";
  CHECK(inferred_in_pieces(ends_there, guessed(""), 1000) == "f64 1 2.5 3");
  CHECK(inferred_in_pieces(ends_there, guessed(""), 1 << 20) == "f64 1 2.5 3");
  CHECK(inferred_in_pieces(ends_there + "4\n", guessed(""), 1000).starts_with("x: the first line"));
}

TEST_CASE("long records take part in the guess") {
  std::string header = "c0", numbers = "0";
  while (header.size() <= 2 * header_guess::most_bytes) {
    header += fmt::format(",column_{}", header.size());
    numbers += ",1";
  }
  for (const std::size_t piece : {std::size_t{5000}, std::size_t{1} << 20}) {
    CHECK(inferred_in_pieces(header + "\n" + numbers + "\n2" + numbers.substr(1), guessed("1"), piece) == "i64 0 2");
    CHECK(inferred_in_pieces(header + "\n" + numbers, guessed("1"), piece) == "i64 0");
  }
  CHECK(inferred_in_pieces("a" + header + ",1\nb" + header + ",2\na" + header + ",3", guessed("1"), 1 << 20)
            .find("is not a number") != std::string::npos);
  std::string too_many = "a";
  for (std::size_t i = 0; i < most_names; ++i) too_many += ",b";
  CHECK(inferred_in_pieces(too_many + "\n1\n", guessed("1"), 1 << 20)
            .starts_with("x: line 1, byte 1: column 1: 'a' is not a number"));
  const std::string longest = std::string(longest_word, 'a') + ",";
  std::string record;
  while (record.size() <= header_guess::most_bytes_of_long) record += longest;
  CHECK(inferred_in_pieces(record + "\n1\n", guessed("1"), 1 << 20).find("is not a number of type f64") !=
        std::string::npos);
}

TEST_CASE("a fault in the first records is reported where it is") {
  check_inferred("a,b\n1,2\n3,\"4\n", guessed("1"), "x: line 3, byte 3: a quote is not closed");
  check_inferred("a,b\n1,2\n3\n", guessed("1"),
                 "x: line 3, byte 1: the record has 1 field, but the header has 2 names");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
