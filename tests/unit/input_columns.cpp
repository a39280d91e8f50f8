// SPDX-License-Identifier: Apache-2.0
// Tests of several columns of CSV and of missing numbers: the result does not depend on how the text is split.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/input/table_guess.hpp"
#include "cli/input/text_parser.hpp"
#include "cli/kit/errors.hpp"
#include "tests/unit/text_pieces.hpp"

namespace fanin::cli {
namespace {

/// The columns as text, as in "price 1 2, qty 3 (1 missing)", or the message of an error.
std::string columns_in_pieces(std::string_view text, const text_layout& layout, std::size_t piece) {
  std::vector<std::string> columns;
  try {
    text_parser parser(layout, element_type::f64, "x");
    parse_in_pieces(parser, text, piece, [] {});
    for (const column_values& one : parser.columns()) {
      std::vector<double> values(one.bytes.size() / sizeof(double));
      if (!values.empty()) std::memcpy(values.data(), one.bytes.data(), one.bytes.size());
      columns.push_back(fmt::format("{} {}", one.name, fmt::join(values, " ")));
      if (one.missing > 0) columns.back() += fmt::format(" ({} missing)", one.missing);
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

void check_columns(std::string_view text, const text_layout& layout, const std::string& expected) {
  check_every_piece(text, expected, [&](std::size_t piece) { return columns_in_pieces(text, layout, piece); });
}

text_layout table(std::string column, bool header = false, bool skip_missing = false) {
  return {true, ',', std::move(column), header, skip_missing};
}

TEST_SUITE_BEGIN("text");

TEST_CASE("several columns, in the order of the choice") {
  const std::string text = "id,price,qty\r\n1,2.5,3\r\n\"4\",\"5\",6";
  check_columns(text, table("price,qty"), "price 2.5 5, qty 3 6");
  check_columns(text, table("qty,1"), "qty 3 6, id 1 4");
  check_columns(text, table(" qty , price "), "qty 3 6, price 2.5 5");
  check_columns(text, table("3,2", true), "qty 3 6, price 2.5 5");
  check_columns("1,2,3\n4,5,6\n", table("3,1"), "3 3 6, 1 1 4");
  check_columns("\xEF\xBB\xBF" + text, table("all", true), "id 1 4, price 2.5 5, qty 3 6");
  check_columns("1,2\n\n3,4\n", table("all"), "1 1 3, 2 2 4");
  check_columns("7", table("all"), "1 7");
}

TEST_CASE("the only column of numbers has no name") {
  const text_layout guessed = {.csv = true, .guess_header = true};
  check_columns("name,price\na,1\nb,2\n", guessed, " 1 2");
  check_columns("a,1.5\nb,2.5\n", guessed, " 1.5 2.5");
  check_columns("price\n1\n2\n", guessed, " 1 2");
  check_columns("name,price,qty\na,1,3\n", guessed,
                "x: there are several columns of numbers, price, qty; choose one with --column");
}

TEST_CASE("any number of blanks and tabs between the fields") {
  const std::string text = "  time value\tname \r\n  0.1  1.5  \"a b\" \n\n10 \t2.5 b\n 3 4 c  ";
  for (const std::optional<char> delimiter : {std::optional(' '), std::optional<char>()}) {
    const text_layout columns = {.csv = true, .delimiter = delimiter, .column = "value,time"};
    check_columns(text, columns, "value 1.5 2.5 4, time 0.1 10 3");
    check_columns("\t" + text + '\n', columns, "value 1.5 2.5 4, time 0.1 10 3");
  }
  check_columns("1  2\n3 \t 4", {.csv = true, .delimiter = ' ', .column = "2"}, " 2 4");
  check_columns("a b\n1 2 \n1 2 3\n", {.csv = true, .delimiter = ' ', .column = "b"},
                "x: line 3, byte 5: the record has 3 fields, but the header has 2 names");
  check_columns("a b\n1 \"2\"\t3", {.csv = true, .delimiter = ' ', .column = "b"},
                "x: line 2, byte 7: the record has 3 fields, but the header has 2 names");
}

/// Records of four fields. The second field is a name. One of `faults` fields has a fault.
std::string random_records(std::mt19937_64& random, std::uint64_t faults) {
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  std::string text;
  for (int record = 0; record < 1500; ++record) {
    if (one_in(50)) text += one_in(2) ? "\n" : " \r\n";
    for (int field = 0; field < 4; ++field) {
      const std::string number = fmt::format("{}", static_cast<double>(random() % 100000) / 100);
      if (field > 0) text += ',';
      if (field == 1) {
        const std::string names[] = {"name", "a\"b", "\"a \"\"b\"\", \n c\"", std::string(random() % 20000, '1')};
        text += names[one_in(100) ? 3 : one_in(9) ? 1 + random() % 2 : 0];
      } else {
        text += one_in(20) ? " \t" + number + " " : one_in(30) ? "\"" + number + "\"" : one_in(100) ? "" : number;
      }
      if (one_in(faults)) text += one_in(3) ? "x" : one_in(2) ? "\"" : ",";
    }
    text += one_in(9) ? "\r\n" : one_in(9) ? "\r" : "\n";
  }
  return text;
}

// Pieces of one byte have no whole record; text as a whole is read record by record.
TEST_CASE("records are read alike one field after the other and as a whole") {
  std::mt19937_64 random(1);
  int right = 0, wrong = 0;
  for (const std::uint64_t faults : {1'000'000, 3000, 300}) {
    for (int i = 0; i < 12; ++i) {
      const std::string text = random_records(random, faults);
      const text_layout layout = table(i % 2 == 0 ? "1" : "4,3,1", false, i % 4 != 0);
      const std::string expected = columns_in_pieces(text, layout, 1);
      ++(expected.starts_with("x: line") ? wrong : right);
      for (const std::size_t piece : {std::size_t{100}, std::size_t{20000}, text.size()}) {
        CHECK((columns_in_pieces(text, layout, piece) == expected));
      }
    }
  }
  CHECK(right > 8);
  CHECK(wrong > 8);
}

TEST_CASE("a choice that the header has as a name is that column") {
  check_columns("\"a,b\",a,b\n1,2,3\n", table("a,b"), " 1");
  check_columns("\"a,b\",a,b\n1,2,3\n", table("1,b"), "a,b 1, b 3");
  check_columns("\"2,1\",x\n1,2\n", table("2,1", true), " 1");
  check_columns("\"2,1\",x\n1,2\n", table("x,1"), "x 2, 2,1 1");
  check_columns("all,x\n1,2\n", table("all", true), " 1");
  check_columns("2,1\n5,6\n", table("2", true), " 5");
  check_columns("pre-k,k,01,02,03\n1,2,3,4,5\n", table("k,03"), "k 2, 03 5");
  check_columns("pre-k,k,01,02,03\n1,2,3,4,5\n", table("03", true), " 5");
  check_columns("pre-k,k,01,02,03\n1,2,3,4,5\n", table("3,03", true), "01 3, 03 5");
  check_columns("0,1,2\n5,6,7\n", table("0", true), " 5");
  check_columns("0,1,2\n5,6,7\n", table("2,0", true), "2 7, 0 5");
  check_columns("\"a,b\",\"a,b\"\n1,2\n", table("a,b"),
                "x: several columns are called 'a,b'; choose one by its number");
}

TEST_CASE("a number with zeros in front that is no name is a number") {
  check_columns("2,1\n5,6\n", table("02", true), " 6");
  check_columns("2,2\n5,6\n", table("2", true), "x: several columns are called '2'; choose one by its number");
  check_columns("2,2\n5,6\n", table("1,02", true), "1 5, 02 6");
  check_columns("2,\n5,6\n", table("all", true), "2 5, 02 6");
}

TEST_CASE("a column without a name of its own has its number") {
  check_columns("a,,b,a\n1,2,3,4\n", table("all", true), "1 1, 2 2, b 3, 4 4");
  check_columns("a,b,a\n1,2,3\n", table("3,b"), "3 3, b 2");
}

TEST_CASE("choices of columns that cannot be") {
  const std::string text = "a,b\n1,2\n";
  check_columns(text, table("a,c"), "x: no column is called 'c'; did you mean 'a'? there are a, b");
  check_columns(text, table("a,"), "x: no column is called ''; there are a, b");
  check_columns(text, table("a,a"), "x: --column names column 1 twice");
  check_columns(text, table("b,a,2"), "x: --column names column 2 twice");
  check_columns(text, table("0,a"), "there is no column 0; --column counts from 1");
  check_columns("a,b,a\n1,2,3\n", table("a,b"), "x: several columns are called 'a'; choose one by its number");
  check_columns(text, table("5,1", true),
                "x: line 1, byte 3: the record has only 2 fields, but --column asks for field 5");
  check_columns("1,2\n", table("5,1"),
                "x: line 1, byte 3: the record has only 2 fields, but --column asks for field 5");
  check_columns("1,2\n3\n", table("all"), "x: line 2, byte 1: the record has 1 field, but the first record has 2");
  check_columns("", table("a,b"), " ");
}

TEST_CASE("a column that is not a number is named") {
  check_columns("a,b\n1,x\n", table("a,b"), "x: line 2, byte 3: column 'b': 'x' is not a number of type f64");
  check_columns("a,b\n1,1e999\n", table("a,b"), "x: line 2, byte 3: column 'b': '1e999' is out of range for f64");
  check_columns("a,b\n,1\n", table("a,b"),
                "x: line 2, byte 1: column 'a': the field is empty; --missing skip leaves it out");
  check_columns("1,b\n", table("1,2"),
                "x: line 1, byte 3: column 2: 'b' is not a number of type f64; if line 1 names the columns, say "
                "--header");
}

TEST_CASE("all columns are those of numbers") {
  const std::string text = "day,price,ticket,note\nmonday,2,A 7,\ntuesday,3,9,\n";
  check_columns(text, table("all", true), "price 2 3");
  check_columns(text, {.csv = true, .columns = default_columns::every, .guess_header = true}, "price 2 3");
  check_columns(text, {.csv = true, .skip_missing = true, .columns = default_columns::every, .guess_header = true},
                "price 2 3, note  (2 missing)");
  check_columns("x,1\ny,2\n", table("all"), "2 1 2");
  check_columns("1,x\n2,3\n4,NA\n", table("all"), "1 1 2 4");
  check_columns("a,b\n1,NA\n2,3\n", table("all", true),
                "x: line 2, byte 3: column 'b': 'NA' is not a number of type f64; --missing skip leaves it out");
  check_columns("a,b\n1,1e999\n", table("all", true),
                "x: line 2, byte 3: column 'b': '1e999' is out of range for f64; --column chooses other columns");
  check_columns("a,b\nx,y\n", table("all", true), "x: no column is all numbers: a 'x', b 'y'");
  check_columns("a;\"1,5\"\n", {.csv = true, .columns = default_columns::every},
                "x: no column is all numbers: 1 'a', 2 '1,5'; if the comma is a decimal point, say --decimal ,");
  check_columns("all,b\n1,x\n2,3\n", table("all", true), " 1 2");
}

TEST_CASE("a text that comes late in a column of numbers is an error") {
  std::string text = "a,b\n";
  while (text.size() <= most_guessed_bytes) text += "1,2\n";
  const std::size_t lines = text.size() / 4 + 1;
  CHECK(columns_in_pieces(text + "3,x\n", table("all", true), 1 << 20) ==
        fmt::format("x: line {}, byte 3: column 'b': 'x' is not a number of type f64; --column chooses other columns",
                    lines));
}

TEST_CASE("the only column of a table has no name where every column is taken") {
  const text_layout every{.csv = true, .columns = default_columns::every, .guess_header = true};
  check_columns("price\n1\n2\n", every, " 1 2");
  check_columns("1\n2\n", every, " 1 2");
  check_columns("price\n1\n2\n", {.csv = true, .columns = default_columns::every_named, .guess_header = true},
                "price 1 2");
  check_columns("day,price\nx,1\n", every, "price 1");
}

TEST_CASE("no more columns are read than names") {
  const std::string commas = std::string(most_names - 1, ','), row = "1" + commas;
  text_parser most(table("all", false, true), element_type::f64, "x");
  CHECK(most.parse(row, true) == row.size());
  CHECK(most.columns().size() == most_names);
  text_parser more(table("all", false, true), element_type::f64, "x");
  CHECK_THROWS_WITH_AS(more.parse(row + ",", true), "x: line 1, byte 65538: the record has more than 65536 fields",
                       bad_data);
}

TEST_CASE("missing numbers are left out and counted") {
  const std::string words = "a,b\n1,NA\n,n/a\n3,#N/A\n4,<na>\n5,Null\nnone,\" \"\n7,8\n";
  check_columns(words, table("a,b", false, true), "a 1 3 4 5 7 (2 missing), b 8 (6 missing)");
  check_columns(words, table("b", false, true), " 8 (6 missing)");
  check_columns("a\n1\n\n\"\"\n2\n", table("a", false, true), " 1 2 (1 missing)");
  check_columns("nan,-nan\ninf,-\n", table("1", false, true), " nan inf");
  check_columns("1\nx\n", table("1", false, true), "x: line 2, byte 1: column 1: 'x' is not a number of type f64");
  check_columns("1\nNA\n", table("1"),
                "x: line 2, byte 1: column 1: 'NA' is not a number of type f64; --missing skip leaves it out");
  check_columns("1\n-\n", table("1", false, true),
                "x: line 2, byte 1: column 1: '-' is not a number of type f64; --missing-words '-' leaves it out");
  check_columns("1,2\n3\n", table("1", false, true),
                "x: line 2, byte 1: the record has 1 field, but the first record has 2");
}

TEST_CASE("missing numbers of plain text") {
  const text_layout comma{.delimiter = ',', .skip_missing = true};
  check_columns("1,,3\n,4\r\n5,\n\nNA,n/a\n6", comma, " 1 3 4 5 6 (5 missing)");
  check_columns("1 NA 2\nnull 3", {.skip_missing = true}, " 1 2 3 (2 missing)");
  check_columns("1 NA", {}, "x: line 1, byte 3: 'NA' is not a number of type f64; --missing skip leaves it out");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
