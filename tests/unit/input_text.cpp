// SPDX-License-Identifier: Apache-2.0
// Tests of the text and CSV parser: the numbers do not depend on how the text is split into pieces.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/input/text_parser.hpp"
#include "cli/kit/errors.hpp"
#include "tests/unit/text_pieces.hpp"

namespace fanin::cli {
namespace {

template <class T>
std::vector<T> parse(std::string_view text, const text_layout& layout, std::size_t piece) {
  text_parser parser(layout, type_of<T>, "x");
  parse_in_pieces(parser, text, piece, [] {});
  REQUIRE(parser.columns().size() == 1);
  const std::vector<std::byte>& bytes = parser.columns()[0].bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
void check(std::string_view text, const text_layout& layout, const std::vector<T>& expected) {
  CAPTURE(text);
  for (std::size_t piece = 1; piece <= text.size() + 1; ++piece) {
    CAPTURE(piece);
    CHECK(parse<T>(text, layout, piece) == expected);
  }
}

template <class T = double>
void check_refused(std::string_view text, const text_layout& layout, std::string_view message) {
  CAPTURE(text);
  for (std::size_t piece = 1; piece <= text.size() + 1; ++piece) {
    CAPTURE(piece);
    std::string error_text = "nothing";
    try {
      parse<T>(text, layout, piece);
    } catch (const std::runtime_error& error) {
      error_text = error.what();
    }
    CHECK(error_text == message);
  }
}

constexpr double infinity = std::numeric_limits<double>::infinity();
const text_layout plain;

text_layout csv(std::string column = "", bool header = false, char delimiter = ',') {
  return {true, delimiter, std::move(column), header};
}

TEST_SUITE_BEGIN("text");

TEST_CASE("words of plain text") { check<double>("1 2.5\n-3e2\t+4\r\n", plain, {1, 2.5, -300, 4}); }

TEST_CASE("plain text separates at the delimiter too") {
  check<double>("1, 2\n3 4,5\r\n\n 6\n", {.delimiter = ','}, {1, 2, 3, 4, 5, 6});
  check<double>("\t1\t\t2\t\n", {.delimiter = '\t'}, {1, 2});
  check<double>("1;2", {.delimiter = ';'}, {1, 2});
  check<double>("\n\n 7", plain, {7});
  check<double>(
      "\xEF\xBB\xBF"
      "7",
      plain, {7});
  check<double>(
      "\xEF\xBB\xBF"
      "7\xBB"
      "8",
      {.delimiter = '\xBB'}, {7, 8});
  check<double>("", plain, {});
}

TEST_CASE("plain text without a delimiter has no comma") {
  const auto refusal = [](int line, int byte, std::string_view word) {
    return fmt::format(
        "x: line {}, byte {}: '{}' is not a number of type f64; if ',' separates numbers, say --delimiter ',' or "
        "--format csv{}",
        line, byte, word,
        std::ranges::count(word, ',') == 1 && word != "," ? "; if the comma is a decimal point, say --decimal ,"
                                                          : "");
  };
  check_refused("2\n3,14", plain, refusal(2, 1, "3,14"));
  check_refused("1,,", plain, refusal(1, 1, "1,,"));
  check_refused("1, , 3", plain, refusal(1, 1, "1,"));
  check_refused("0 1, 2", plain, refusal(1, 3, "1,"));
  check_refused("1\n,\n2", plain, refusal(2, 1, ","));
  check_refused("1 2,", {.skip_missing = true}, refusal(1, 3, "2,"));
  check_refused(
      "1,2", {.delimiter = ';'},
      "x: line 1, byte 1: '1,2' is not a number of type f64; if the comma is a decimal point, say --decimal ,");
}

TEST_CASE("plain text: an empty field between delimiters is an error, as in CSV") {
  const text_layout comma{.delimiter = ','};
  check_refused("1\n2,,3\n", comma, "x: line 2, byte 3: the field is empty; --missing skip leaves it out");
  check_refused("1\n2, ,3\n", comma, "x: line 2, byte 4: the field is empty; --missing skip leaves it out");
  check_refused("1\n,2\n", comma, "x: line 2, byte 1: the field is empty; --missing skip leaves it out");
  check_refused("1,2\n3,\n4,5", comma, "x: line 2, byte 3: the field is empty; --missing skip leaves it out");
  check_refused("1,2\n3, ", comma, "x: line 2, byte 4: the field is empty; --missing skip leaves it out");
  check_refused("1,2\r\n3,", comma, "x: line 2, byte 3: the field is empty; --missing skip leaves it out");
}

TEST_CASE("a line ends with LF, CR LF or CR") {
  check<double>("1\r2\r\n3\n\r4\r", plain, {1, 2, 3, 4});
  check_refused("1\r2\r\n\n3x", plain, "x: line 4, byte 1: '3x' is not a number of type f64");
  check<double>("a,b\r1,2\r\r\n3,4\r", csv("b"), {2, 4});
  check<double>("\"a\",\"b\"\r\"1\",\"2\"\r\"3\",\"4\"\r", csv("b"), {2, 4});
  check_refused("n,x\r\"a\rb\r\nc\",1\rd,z\r", csv("x"),
                "x: line 5, byte 3: column 'x': 'z' is not a number of type f64");
}

TEST_CASE("numbers are correctly rounded and complete") {
  check<double>("0.1 1e308 5e-324 1e-400 -1e-400", plain, {0.1, 1e308, 5e-324, 0.0, -0.0});
  check<double>("inf -inf Infinity", plain, {infinity, -infinity, infinity});
  check<double>("12.50 -.5 5. 007 -0.0 9007199254740991 9007199254740993 0.000000000000000123", plain,
                {12.5, -0.5, 5, 7, -0.0, 9007199254740991, 9007199254740992, 1.23e-16});
  check<double>("9007199.254740993 123456789012345678 1234567890123456789012345 0.1234567890123456789", plain,
                {9007199.254740993, 123456789012345678.0, 1234567890123456789012345.0, 0.1234567890123456789});
  for (const std::string_view word : {".", "-", "-.", "1.2.3", "1..", "--1", "1-", "- 1"}) {
    CHECK_THROWS_AS(parse<double>(word, plain, 1), bad_data);
  }
  check<float>("0.1 16777217", plain, {0.1f, 16777216.f});
  check<std::int64_t>("9223372036854775807 -9223372036854775808", plain,
                      {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  check<std::uint32_t>("4294967295", plain, {4294967295u});
  const auto nan = parse<double>("nan", plain, 8);
  REQUIRE(nan.size() == 1);
  CHECK(std::isnan(nan[0]));
}

TEST_CASE("decimal numbers of every length have the bits that strtod() gives") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string word;
    const std::size_t digits = 1 + random() % 19;
    for (std::size_t k = 0; k < digits; ++k) word += static_cast<char>('0' + random() % 10);
    if (random() % 4 != 0) word.insert(random() % (digits + 1), ".");
    if (random() % 2 == 0) word.insert(0, "-");
    CAPTURE(word);
    const std::vector<double> found = parse<double>(word, plain, word.size());
    REQUIRE(found.size() == 1);
    REQUIRE(std::bit_cast<std::uint64_t>(found[0]) ==
            std::bit_cast<std::uint64_t>(std::strtod(word.c_str(), nullptr)));
  }
}

TEST_CASE("numbers of 16 bits are rounded once") {
  const auto bits = [](auto... each) { return std::vector<f16>{f16::of_bits(each)...}; };
  // 2049 is halfway between two numbers, and 2048 is the even one.
  check<f16>("2049 2049.00000000000000000000000000000001 2048.99999999999999999999999999999999", plain,
             bits(0x6800u, 0x6801u, 0x6800u));
  check<f16>("65519.999 -5.9604644775390625e-8 2.98e-8 inf +0.1", plain,
             bits(0x7bffu, 0x8001u, 0u, 0x7c00u, 0x2e66u));
  check<bf16>("1 3.39e38 1e-41", plain, {bf16::of_bits(0x3f80), bf16::of_bits(0x7f7f), bf16::of_bits(0)});
  check_refused<f16>("65520", plain, "x: line 1, byte 1: '65520' is out of range for f16");
  check_refused<bf16>("3.4e38", plain, "x: line 1, byte 1: '3.4e38' is out of range for bf16");
  check_refused<bf16>("1e39", plain, "x: line 1, byte 1: '1e39' is out of range for bf16");
  check<e5m2>("1 -0.3 61439.999 inf", plain,
              {e5m2::of_bits(0x3c), e5m2::of_bits(0xb5), e5m2::of_bits(0x7b), e5m2::of_bits(0x7c)});
  check<e4m3>("1 464 0.00097656251", plain, {e4m3::of_bits(0x38), e4m3::of_bits(0x7e), e4m3::of_bits(1)});
  check_refused<e5m2>("61440", plain, "x: line 1, byte 1: '61440' is out of range for e5m2");
  check_refused<e4m3>("464.001", plain, "x: line 1, byte 1: '464.001' is out of range for e4m3");
  check_refused<e4m3>("inf", plain, "x: line 1, byte 1: 'inf' is out of range for e4m3");
  check_refused<f16>("0x1", plain, "x: line 1, byte 1: '0x1' is not a number of type f16");
}

TEST_CASE("a word, a number and a field have a greatest length") {
  const auto refusal = [](const std::string& text, const text_layout& layout) {
    std::string first;
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 19, text.size()}) {
      try {
        parse<double>(text, layout, piece);
        return std::string("nothing");
      } catch (const bad_data& error) {
        CHECK((first.empty() || first == error.what()));
        first = error.what();
      }
    }
    return first;
  };
  const std::string word(longest_word, '0'), field(longest_field, 'x');
  CHECK(parse<double>(word + " 1", plain, 1000) == std::vector<double>{0, 1});
  CHECK(parse<double>(fmt::format("-{:.1074f}", 5e-324), plain, 1000) == std::vector<double>{-5e-324});
  CHECK(refusal("1\n2 0" + word + " 1", plain) == "x: line 2, byte 3: the word has more than 4096 bytes");
  CHECK_THROWS_AS(text_parser(plain, element_type::f64, "x").parse(word + "0", false), bad_data);
  CHECK(refusal("1\n\"0" + word + "\"\n", csv()) == "x: line 2, byte 1: the word has more than 4096 bytes");
  CHECK(parse<double>("1," + field + "\n2,\n", csv("1"), 1 << 19) == std::vector<double>{1, 2});
  CHECK(refusal("1,x\n2,x" + field, csv("1")) == "x: line 2, byte 3: the field has more than 1048576 bytes");
  CHECK(refusal("1,x\n2,\"" + field, csv("1")) == "x: line 2, byte 3: the field has more than 1048576 bytes");
  CHECK(refusal("a,b" + word + "\n1,2", csv("a")) == "x: line 1, byte 3: the word has more than 4096 bytes");
  const std::string commas(most_names - 1, ',');
  CHECK(parse<double>("a" + commas + "\n1" + commas, csv("a"), 1 << 19) == std::vector<double>{1});
  CHECK(refusal("a" + commas + ",\n", csv("a")) == "x: line 1, byte 65538: the header has more than 65536 names");
  CHECK(parse<double>("1" + commas + ",", csv("1"), 1 << 19) == std::vector<double>{1});
}

TEST_CASE("bad numbers are named with line and byte") {
  check_refused("1 2\n3 4x 5", plain, "x: line 2, byte 3: '4x' is not a number of type f64");
  check_refused("abc", plain, "x: line 1, byte 1: 'abc' is not a number of type f64");
  check_refused(
      "\xEF\xBB\xBF"
      "a",
      plain, "x: line 1, byte 1: 'a' is not a number of type f64");
  check_refused("1\n\n  +-1", plain, "x: line 3, byte 3: '+-1' is not a number of type f64");
  check_refused("1e400", plain, "x: line 1, byte 1: '1e400' is out of range for f64");
  check_refused<float>("1 1e39", plain, "x: line 1, byte 3: '1e39' is out of range for f32");
  check_refused<std::int32_t>("2147483648", plain, "x: line 1, byte 1: '2147483648' is out of range for i32");
  check_refused<std::uint64_t>("-1", plain, "x: line 1, byte 1: '-1' is not a number of type u64");
  check_refused<std::int32_t>("1.5", plain, "x: line 1, byte 1: '1.5' is not a number of type i32");
}

TEST_CASE("columns of CSV") {
  check<double>("1\n2\n3", csv(), {1, 2, 3});
  check<double>("a,b\r\n1,2\r\n3,4\r\n", csv("b"), {2, 4});
  check<double>("a,b\n1,2\n\n3,4\n", csv("1", true), {1, 3});
  check<double>("1;2;3\n4;5;6", csv("2", false, ';'), {2, 5});
  check<double>("\xEF\xBB\xBFprice\n5\n", csv("price"), {5});
  check<double>("1,\n2,", csv("1"), {1, 2});
  check<double>("1st,2nd\n 1 ,  2  \n", csv("2nd"), {2});
}

TEST_CASE("quoted fields of CSV") {
  check<double>("\"the \"\"name\"\"\",x\n\"a,b\",1\n\"c\nd\",\" 2 \"\r\n", csv("x"), {1, 2});
  check<double>("x\n\"3\"", csv("x"), {3});
  check<double>("\"the \"\"name\"\"\"\n3", csv("the \"name\""), {3});
  check_refused("x\n\"3", csv("x"), "x: line 2, byte 1: a quote is not closed");
  check_refused("x\n\"3\"4\n", csv("x"), "x: line 2, byte 4: text follows a closing quote");
  check_refused("n,x\n\"a\nb\",1\nc,z\n", csv("x"), "x: line 4, byte 3: column 'x': 'z' is not a number of type f64");
}

TEST_CASE("CSV has no byte 0x00, in columns that are not asked for either") {
  using namespace std::string_view_literals;
  check_refused("1,a\n2,b\0c\n"sv, csv("1"), "x: line 2, byte 4: a byte 0x00 is not text");
  check_refused("1,a\n2,\"b\0\"\n"sv, csv("1"), "x: line 2, byte 5: a byte 0x00 is not text");
  check_refused("a\0,b\n1,2\n"sv, csv("b"), "x: line 1, byte 2: a byte 0x00 is not text");
  check_refused("1,\0"sv, csv("1"), "x: line 1, byte 3: a byte 0x00 is not text");
  const std::string field(longest_field - 1, 'x');
  const std::string in_it = "1," + field + '\0', behind = "1,x" + field + 'x' + '\0';
  for (const std::size_t piece : {std::size_t{1} << 19, 2 * longest_field}) {
    CHECK_THROWS_WITH_AS(parse<double>(in_it, csv("1"), piece), doctest::Contains("a byte 0x00"), bad_data);
    CHECK_THROWS_WITH_AS(parse<double>(behind, csv("1"), piece), doctest::Contains("the field has more than"),
                         bad_data);
  }
}

TEST_CASE("CSV that does not fit") {
  check_refused("a,b\n1,2\n", csv("total"), "x: no column is called 'total'; there are a, b");
  check_refused("price,count\n1,2\n", csv("prise"),
                "x: no column is called 'prise'; did you mean 'price'? there are price, count");
  check_refused("a,b,a\n1,2,3\n", csv("a"), "x: several columns are called 'a'; choose one by its number");
  check<double>("a,b,a\n1,2,3\n", csv("b"), {2});
  check<double>("a,b,a\n1,2,3\n", csv("3", true), {3});
  check_refused("1,2\n", csv(), "x: there are several columns of numbers, 1, 2; choose one with --column");
  check_refused(",\n1,2\n", csv("", true), "x: there are several columns of numbers, 1, 2; choose one with --column");
  check_refused("a,b\n1,2\n", csv("", true),
                "x: there are several columns of numbers, a, b; choose one with --column");
  check_refused("1,2\n3\n", csv("2"), "x: line 2, byte 1: the record has 1 field, but the first record has 2");
  check_refused("1\n", csv("2"),
                "x: line 1, byte 1: the record has only 1 field, but --column asks for field 2; if blanks separate "
                "the fields, say "
                "--delimiter ' '");
  check_refused("Report\nprice,count\n1,2\n", csv("price"),
                "x: no column is called 'price'; there are Report; if the table begins further down, --skip-lines or "
                "--comment skips the lines above it; if blanks separate the fields, say --delimiter ' '");
  check_refused("a,b\n1,2\n", csv("3", true),
                "x: line 1, byte 3: the record has only 2 fields, but --column asks for field 3");
  check_refused("1,2\n3,\n", csv("2"),
                "x: line 2, byte 3: column 2: the field is empty; --missing skip leaves it out");
  check_refused("a,b\n1,2\n1,234,5\n", csv("b"),
                "x: line 3, byte 7: the record has 3 fields, but the header has 2 names");
  check_refused("a\n1,2\n", csv("1", true), "x: line 2, byte 3: the record has 2 fields, but the header has 1 name");
  check_refused("a,b\n1,2\n3\n", csv("a"), "x: line 3, byte 1: the record has 1 field, but the header has 2 names");
  check_refused("1,2\n\n3,4,5\n", csv("1"), "x: line 3, byte 5: the record has 3 fields, but the first record has 2");
  check_refused("1,2,3\n4,5\n", csv("1"), "x: line 2, byte 3: the record has 2 fields, but the first record has 3");
  check_refused("price\n1\n", csv(),
                "x: no column is all numbers: 1 'price'; if line 1 names the columns, say --header");
  check_refused("Report\nprice,count\n1,2\n", csv(),
                "x: no column is all numbers: 1 'price'; if the table begins further down, --skip-lines or --comment "
                "skips the lines above it");
  check_refused("1,2\n", csv("0"), "there is no column 0; --column counts from 1");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
