// SPDX-License-Identifier: Apache-2.0
// Tests of the search for separators and for plain records, against loops over single characters, on every
// instruction set of this machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/input/plain_records.hpp"
#include "cli/input/separators.hpp"
#include "tests/support/targets.hpp"

namespace fanin::cli {
namespace {

std::string random_text(std::size_t size, std::string_view characters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(size, ' ');
  for (char& c : text) c = characters[random() % characters.size()];
  return text;
}

void check_separators(const std::string& text, std::size_t begin, char delimiter) {
  CAPTURE(text.size());
  CAPTURE(begin);
  separators found;
  found.find(text, begin, delimiter);
  CHECK(found.begin() == begin);
  CHECK(found.end() == std::min(text.size(), begin + separators::most_bytes));
  std::size_t delimiters = 0, others = 0;
  bool right = true;
  for (std::size_t at = begin; at < found.end(); ++at) {
    const char c = text[at];
    if (c == delimiter) right = right && found.delimiter(delimiters++) == at;
    if (c == '\n' || c == '\r' || c == '"' || c == '\0') right = right && found.line_end_or_odd(others++) == at;
  }
  CHECK(right);
  CHECK(found.delimiters() == delimiters);
  CHECK(found.delimiter(delimiters) >= found.end());
  CHECK(found.line_end_or_odd(others) >= found.end());
}

/// The fields of the plain record at `at`, or nothing.
std::optional<std::vector<std::string>> fields_at(std::string_view text, std::size_t at, char delimiter) {
  std::vector<std::string> fields(1);
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\0') return std::nullopt;
    if (c == '\r' && at + 1 == text.size()) return std::nullopt;
    if (c == '\r' || c == '\n') return fields;
    if (c == delimiter) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return std::nullopt;
}

void check_records(std::string_view text, std::size_t fields) {
  plain_records records(',');
  int misses = 0;
  for (std::size_t at = 0; at <= text.size();) {
    if (misses % plain_records::most_misses == 0) records.begin(text);
    const auto expected = fields_at(text, at, ',');
    const bool is_record = records.find(at, fields);
    REQUIRE(is_record == (expected && expected->size() == fields));
    if (is_record) {
      for (std::size_t i = 0; i < fields; ++i) REQUIRE(records.field(i) == (*expected)[i]);
      REQUIRE(records.end() > at);
      REQUIRE(ends_line(text[records.end() - 1]));
      REQUIRE((text[records.end() - 1] == '\n' || text[records.end()] != '\n'));
      at = records.end();
      misses = 1;
    } else {
      ++at;  // Whatever another parser leaves out, the search goes on there.
      ++misses;
    }
  }
}

TEST_SUITE("text") {
  TEST_CASE("separators of texts of every length from every place") {
    const std::string dense = random_text(400, ",\n\r\"1;", 1),
                      sparse = random_text(400, "1234567890123456789,\n", 2);
    const std::string high = random_text(400, "\xff\x80,\x7f\n", 3), none(400, 'x'), all(400, ','), ends(400, '\n');
    test::on_every_target([&] {
      for (const std::string& text : {dense, sparse, high, none, all, ends}) {
        for (std::size_t size = 0; size <= text.size(); ++size) check_separators(text.substr(0, size), size % 7, ',');
        for (const char delimiter : {';', '\t', ' ', '\xff', '\x80', '1', '\0'}) check_separators(text, 3, delimiter);
      }
    });
  }

  TEST_CASE("separators of long texts") {
    for (const std::string_view characters : {",", "\n", ",\n", "1,", "123456789,\n"}) {
      const std::string text = random_text(3 * separators::most_bytes + 5, characters, 4);
      test::on_every_target([&] {
        for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, separators::most_bytes, text.size() - 1})
          check_separators(text, begin, ',');
      });
    }
  }

  TEST_CASE("plain records") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const std::string text = random_text(seed,
                                           seed % 3 == 0   ? "1,\n"
                                           : seed % 3 == 1 ? "1,\r\n"
                                                           : "12,,\r\n\"",
                                           seed);
      for (std::size_t fields = 1; fields <= 4; ++fields) check_records(text, fields);
    }
  }

  TEST_CASE("plain records in texts that are searched in parts") {
    std::mt19937_64 random(5);
    std::string text;
    while (text.size() < 5 * separators::most_bytes) {
      const std::size_t length = random() % 50 == 0 ? random() % 3000 : random() % 30;
      text += std::string(length, 'x') + "," + std::string(random() % 20, 'y') + (random() % 7 == 0 ? "\r\n" : "\n");
      if (random() % 100 == 0) text += random() % 2 == 0 ? "\"a\n\",b\n" : "a,b,c\n";
    }
    plain_records records(',');
    records.begin(text);
    std::size_t found = 0, at = 0;
    while (at < text.size()) {
      const std::size_t line_end = text.find_first_of("\n\"", at);
      const std::string_view line = std::string_view(text).substr(at, line_end - at);
      const bool is_plain = text[line_end] == '\n' && std::ranges::count(line, ',') == 1;
      REQUIRE(records.find(at, 2) == is_plain);
      if (is_plain) REQUIRE(records.field(0) == line.substr(0, line.find(',')));
      found += is_plain ? 1 : 0;
      at = is_plain ? records.end() : line_end + 1;
    }
    CHECK(found > 1000);
  }

  TEST_CASE("records are not looked for behind many that were not found") {
    const std::string text = "1,2\n3,4\n";
    plain_records records(',');
    for (int misses = 0; misses <= plain_records::most_misses; ++misses) {
      records.begin(text);
      for (int i = 0; i < misses; ++i) CHECK_FALSE(records.find(0, 3));
      CHECK(records.find(0, 2) == (misses < plain_records::most_misses));
    }
    std::string turns;
    for (int i = 0; i < 2 * plain_records::most_misses; ++i) turns += "1,2\n3\n";
    records.begin(turns);
    for (std::size_t at = 0; at < turns.size(); at += 6) {
      CHECK(records.find(at, 2));
      CHECK_FALSE(records.find(at + 4, 2));
    }
  }

  TEST_CASE("a record of more than separators::most_bytes bytes is not found, and the next one is") {
    const std::string text = "1," + std::string(separators::most_bytes, 'x') + "\n2,3\n";
    plain_records records(',');
    records.begin(text);
    CHECK_FALSE(records.find(0, 2));
    CHECK(records.find(text.size() - 4, 2));
    CHECK(records.field(1) == "3");
  }
}

}  // namespace
}  // namespace fanin::cli
