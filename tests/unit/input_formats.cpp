// SPDX-License-Identifier: Apache-2.0
// Tests of numbers as people and programs write them, of lines that are none of the data, and of what separates
// fields: none of these depends on how the text is split.
#include <doctest/doctest.h>

#include <cstring>
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

/// The columns of f64 as text, with the line of each element of the first one, or the message of an error.
std::string read_in_pieces(std::string_view text, text_layout layout, std::size_t piece) {
  std::vector<std::string> columns;
  try {
    text_parser parser(layout, element_type::f64, "x");
    std::vector<std::vector<double>> found;
    parse_in_pieces(parser, text, piece, [&] {
      if (!parser.knows_columns()) return;
      found.resize(parser.columns().size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::vector<std::byte>& bytes = parser.columns()[i].bytes;
        const std::size_t before = found[i].size();
        found[i].resize(before + bytes.size() / sizeof(double));
        if (!bytes.empty()) std::memcpy(found[i].data() + before, bytes.data(), bytes.size());
      }
      parser.clear();
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      columns.push_back(fmt::format("{}", fmt::join(found[i], " ")));
      if (parser.columns()[i].missing > 0)
        columns.back() += fmt::format(" ({} missing)", parser.columns()[i].missing);
    }
    for (std::size_t i = 0; layout.keep_lines && i < parser.lines()->elements(); ++i) {
      columns[0] += fmt::format("{}{}", i == 0 ? " in lines " : " ", parser.lines()->line_of(i));
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

void check(std::string_view text, const text_layout& layout, const std::string& expected) {
  check_every_piece(text, expected, [&](std::size_t piece) { return read_in_pieces(text, layout, piece); });
}

text_layout every_column() { return {.csv = true, .columns = default_columns::every, .guess_header = true}; }

TEST_SUITE_BEGIN("text");

TEST_CASE("exponents of Fortran") {
  check("1.5D+03 2d0 -1.D-2 1D3 .5d1", {}, "1500 2 -0.01 1000 5");
  check("a;b\n1.5D+03;x\n", every_column(), "1500");
  for (const std::string word : {"D3", "1D", "1D+", "1DD3", "d", "1.5D+0x"}) {
    check(word, {}, fmt::format("x: line 1, byte 1: '{}' is not a number of type f64", word));
  }
  check("1D999", {}, "x: line 1, byte 1: '1D999' is out of range for f64");
}

TEST_CASE("a decimal comma, and characters between thousands") {
  const text_layout comma{.numbers = {.decimal = ','}};
  check("3,14 -2,5e1 7 1,", comma, "3.14 -25 7 1");
  check("3.14", comma, "x: line 1, byte 1: '3.14' is not a number of type f64");
  check("1,2,3", comma, "x: line 1, byte 1: '1,2,3' is not a number of type f64");
  const text_layout german{.numbers = {.decimal = ',', .thousands = '.'}};
  check("1.234,5 -12.345.678 999 1.234D1", german, "1234.5 -12345678 999 12340");
  const text_layout english{.numbers = {.thousands = ','}};
  check("1,234.5 12,345,678 1234567 -1,000e3", english, "1234.5 12345678 1234567 -1000000");
  for (const std::string word : {"1,5", "12,34", "1234,567", ",123", "1,234,", "1,,234", "1.234,567"}) {
    check(word, english,
          fmt::format("x: line 1, byte 1: '{}' is not a number of type f64; after each ',' there have to be three "
                      "digits",
                      word));
  }
  check("1e1,000", english, "x: line 1, byte 1: '1e1,000' is not a number of type f64");
  check("n;v\na;1 234,5\nb;-2\n", {.csv = true, .column = "v", .numbers = {.decimal = ',', .thousands = ' '}},
        "1234.5 -2");
  check("n,v\na,\"1,234\"\nb,7\n", {.csv = true, .column = "v", .numbers = {.thousands = ','}}, "1234 7");
}

TEST_CASE("words of one's own stand for missing numbers, also if they are numbers") {
  const text_layout own{.skip_missing = true, .numbers = {.missing_words = {"-", "-999", "null"}}};
  check("1 - -999 NA null 3 -999.5", own, "1 3 -999.5 (4 missing)");
  check("1 nil", own, "x: line 1, byte 3: 'nil' is not a number of type f64");
  check("a,b\n-999,x\n5,y\n",
        {.csv = true,
         .skip_missing = true,
         .columns = default_columns::every,
         .guess_header = true,
         .numbers = {.missing_words = {"-999"}}},
        "5 (1 missing)");
}

TEST_CASE("errors name what only looks like a number, and the options that read it") {
  const auto refusal = [](std::string_view shown, std::string_view advice) {
    return fmt::format("x: line 1, byte 1: '{}' is not a number of type f64{}", shown, advice);
  };
  check("\u22125", {}, refusal("\\xe2\\x88\\x925", "; it has U+2212 (minus sign), which is not '-'"));
  check("1\u00a0000", {}, refusal("1\\xc2\\xa0000", "; it has U+00A0 (no-break space)"));
  check("\"1,234\"\n", {.csv = true},
        "x: no column is all numbers: 1 '1,234'; if the comma is a decimal point, say --decimal , --delimiter ,; if "
        "commas are between thousands, say --thousands ,");
  check("1.234,5", {.delimiter = ';'},
        refusal("1.234,5", "; if points are between thousands, say --decimal , --thousands ."));
  const std::string utf16 = "x: the text is UTF-16; 'iconv -f UTF-16 -t UTF-8' converts it";
  check(
      "\xff\xfe"
      "1",
      {}, utf16);
  check(
      "\xfe\xff"
      "1",
      {.csv = true}, utf16);
  using namespace std::string_view_literals;
  const std::string without_mark = "x: the text is UTF-16; 'iconv -f UTF-16{} -t UTF-8' converts it";
  check("a\0,\0b\0\n\0001\0,\0002\0"sv, {.csv = true}, fmt::format(fmt::runtime(without_mark), "LE"));
  check("\0001\0\n"sv, {}, fmt::format(fmt::runtime(without_mark), "BE"));
  check("1\0\n\0"sv, {}, fmt::format(fmt::runtime(without_mark), "LE"));
  check("$1.50", {}, refusal("$1.50", "; \"sed 's/[$]//g' FILE | fanin sum -\" takes the sign $ out"));
  check("50%", {}, refusal("50%", "; \"sed 's/[%]//g' FILE | fanin sum -\" takes the sign % out"));
  check("1;2", {}, refusal("1;2", "; if ';' separates numbers, say --delimiter ';' or --format csv"));
  check("1'000", {}, refusal("1'000", "; if \"'\" is between thousands, say --thousands \"'\""));
  check(
      "a,1 000\n", {.csv = true, .column = "2", .header = false},
      "x: line 1, byte 3: column 2: '1 000' is not a number of type f64; if line 1 names the columns, say --header; "
      "if ' ' is between thousands, say --thousands ' '");
  const std::string for_excel = "x: line 1 names the delimiter for Excel; --skip-lines 1 skips it";
  check("sep=;\na;b\n1;2\n", {.csv = true}, for_excel);
  check("\xEF\xBB\xBFsep=,\n1,2\n", {.csv = true}, for_excel);
  check("sep=;\n1;2\n", {.csv = true, .delimiter = ';', .column = "2", .skip_lines = 1}, "2");
  check("%", {}, refusal("%", ""));
  check("[1]", {}, refusal("[1]", "; if this is JSON, jq takes the numbers out: jq '.[].price' FILE | fanin sum -"));
}

TEST_CASE("lines above the data, and comments") {
  check("title, \"of\n1 2\n\r3 4\r\n5", {.skip_lines = 2}, "3 4 5");
  check(
      "\xEF\xBB\xBF"
      "title\na,b\r\n1,2\r\n",
      {.csv = true, .column = "b", .skip_lines = 1}, "2");
  check("1\n2", {.skip_lines = 2}, "");
  check("1\n2", {.skip_lines = 9}, "");
  check("t\n1 x", {.skip_lines = 1}, "x: line 2, byte 3: 'x' is not a number of type f64");
  const text_layout comments{.comment = '#'};
  check("# 1 2\n3 4\n  # \"5\n#\n6\n#7", comments, "3 4 6");
  check("1 # 2", comments, "x: line 1, byte 3: '#' is not a number of type f64");
  check("1,\n#2\n", {.delimiter = ',', .skip_missing = true, .comment = '#'}, "1 (1 missing)");
  check("# x\na,b\n# y, \"z\n1,2\n \t#\n3,4\n#", {.csv = true, .column = "a", .comment = '#'}, "1 3");
  check("#a;b\nc;d\n#\n1;x\n", {.csv = true, .columns = default_columns::every, .guess_header = true, .comment = '#'},
        "1");
  check("c\n1\n#\nx\n", {.csv = true, .column = "c", .comment = '#'},
        "x: line 4, byte 1: column 'c': 'x' is not a number of type f64");
}

TEST_CASE("the lines of elements") {
  const text_layout lines{.comment = '#', .keep_lines = true};
  check("1 2\n3 4\n\n5\n6\n# 7\n8", lines, "1 2 3 4 5 6 8 in lines 1 1 2 2 4 5 7");
  check("1 2\r3\r\n4", lines, "1 2 3 4 in lines 1 1 2 3");
  const text_layout table{.csv = true, .column = "b", .comment = '#', .keep_lines = true};
  check("a,b\n1,2\n\n\"x\ny\",3\n# 9\n4,5\n6,7", table, "2 3 5 7 in lines 2 4 7 8");
}

TEST_CASE("the records tell what separates the fields") {
  check("a;b\n1;x\n2;y\n", every_column(), "1 2");
  check("a\tb\n1,5\tx\n", every_column(),
        "x: no column is all numbers: 1 '1,5', 2 'x'; if the comma is a decimal point, say --decimal ,");
  check("a|b\n1|2\n", every_column(), "1, 2");
  check("\"a;b\",c\n1,2\n", every_column(), "1, 2");
  check("a,b\n1,x;y\n2,z;u\n", every_column(), "1 2");
  check("1;2\n3;4\n", {.csv = true, .column = "2"}, "2 4");
  check("1\n2\n", every_column(), "1 2");
  check("1,5;2,5\n3,5;4,5\n", {.csv = true, .column = "2"},
        "x: either ',' or ';' may separate the fields; say which by --delimiter");
  check("1,5;2,5\n3,5;4,5\n", {.csv = true, .column = "2", .numbers = {.decimal = ','}}, "2.5 4.5");
  check("1,5\n2,5\n", {.csv = true, .numbers = {.decimal = ','}}, "1.5 2.5");
  check("a,b;c\n1,x;y\n2,z\n", every_column(), "1 2");
}

TEST_CASE("which text of no known format is a table") {
  const auto table = [](std::string_view text, const text_layout& layout = {}) {
    return is_table(text, true, layout, text_numbers(element_type::f64, layout, "x"));
  };
  CHECK(table("a,b\n1,2\n"));
  CHECK(table("x\ty\n1\t2"));
  CHECK(table("day;price\nmonday;2,5\ntuesday;3\n"));
  CHECK(table("1,2,3\n4,5,6\n"));
  CHECK(table("1;2\n3;4\n"));
  CHECK(table("time  value\n  1     2.5\n 10\t3\n"));
  CHECK(table("\"a b\" c\n1 2\n"));
  CHECK(table("t\nn,v\na,2\n", {.skip_lines = 1}));
  CHECK(table("# t\nn,v\na,2\n", {.comment = '#'}));
  for (const std::string_view list : {"3,14\n2,71\n", "1,234\n5,678,901\n", "1,2,3\n", "1\t2\n3\t4\n", "1 2\n3 4\n",
                                      "1, 2\n3\n", "a,b\nc,d\n", "word\n1\n", "", "1.5D+03\n2\n", "a b\nc d\n",
                                      "a 3\n1 2\n", "1 2\n3 x\n", "nan inf\n1 2\n", "a b\n1 2 3\n"}) {
    CAPTURE(list);
    CHECK_FALSE(table(list));
  }
  CHECK_FALSE(table("1,2\n3,4\n", {.delimiter = ','}));
  CHECK_FALSE(table("1,5\n2,5\n", {.numbers = {.decimal = ','}}));
  CHECK_FALSE(table(std::string_view("a,b\n1,\0\n", 8)));
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
