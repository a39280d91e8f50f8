// SPDX-License-Identifier: Apache-2.0
// Any text as numbers, plain or CSV: the parser gives the same numbers, or the same message, for the text as a whole,
// in pieces of any sizes, from a file and from a pipe. Words are read as the numbers that from_chars() and
// strtod() read. If the numbers decide the type, it is the first of i64, u64 and f64 that has all numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cli/input/column_choice.hpp"
#include "cli/input/compression.hpp"
#include "cli/input/layout_options.hpp"
#include "cli/input/npz.hpp"
#include "cli/input/number_format.hpp"
#include "tests/fuzz/file_and_pipe.hpp"

using namespace fanin;
using namespace fanin::cli;
using namespace fanin::fuzz;

namespace {

const std::string path = numbered_descriptor::path();

/// Appends the values and the types of all columns. Returns whether a table without them is an error: a table without
/// a record, or a table of which every column is taken and none has a value.
bool take_values(text_parser& parser, read_input& found) {
  for (const column_values& one : parser.columns())
    append(found, {one.bytes.data(), one.bytes.size() / byte_size(one.type), one.type});
  return !parser.has_record() || (parser.leaves_out_columns() && found.elements.empty());
}

/// The text in pieces of 1 to `most` bytes, which `seed` chooses. A piece in which nothing is complete grows.
read_input in_pieces(std::string_view text, const text_layout& layout, std::optional<element_type> type,
                     std::size_t most, std::uint32_t seed) {
  return outcome_of([&](read_input& found) {
    text_parser parser(layout, type, path);
    std::size_t at = 0, window = 0;
    for (bool last = false; !last;) {
      seed = seed * 1664525 + 1013904223;
      window += 1 + (seed >> 16) % most;
      last = window >= text.size() - at;
      const std::size_t done = parser.parse(text.substr(at, window), last);
      expect(done <= std::min(window, text.size() - at), "no more is consumed than was given");
      at += done;
      if (done > 0) window = 0;
    }
    expect(at == text.size(), "the last piece is consumed to its end");
    take_values(parser, found);
  });
}

/// The advice about a header depends on how much of the text behind a wrong word is known.
read_input without_advice(read_input input) {
  const std::size_t advice = input.error.find("; if line 1 names");
  if (advice != input.error.npos) input.error.erase(advice, input.error.find(';', advice + 1) - advice);
  return input;
}

/// A number of 8 or 16 bits is one of the two that the double next to the word lies between, or it.
template <narrow_float T>
void expect_number(std::string_view word, T value) {
  const double near = std::strtod(std::string(word).c_str(), nullptr);
  if (std::isnan(near)) return expect(std::isnan(value), "NaN is read as NaN");
  expect(std::signbit(value) == std::signbit(near), "a number keeps its sign");
  const double size = std::fabs(near), found = std::fabs(static_cast<float>(value));
  const unsigned magnitude = value.bits & (T::sign_bit - 1u);
  if (std::isinf(size)) return expect(std::isinf(found), "an infinity is one");
  const double below = magnitude > 0 ? static_cast<float>(T::of_bits(magnitude - 1)) : 0;
  const double above = magnitude + 1 < T::after_largest ? static_cast<float>(T::of_bits(magnitude + 1)) : HUGE_VAL;
  expect(2 * size >= below + found && 2 * size <= found + above, "a number is the nearest one");
}

template <class T>
void expect_number(std::string_view word, T value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  T same{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), same);
  expect(end == word.data() + word.size() && code != std::errc::invalid_argument, "every accepted word is a number");
  if constexpr (std::is_floating_point_v<T>) {
    const std::string copy(word);
    const T parsed = std::is_same_v<T, float> ? static_cast<T>(std::strtof(copy.c_str(), nullptr))
                                              : static_cast<T>(std::strtod(copy.c_str(), nullptr));
    if (std::isnan(parsed)) return expect(std::isnan(value), "NaN is read as NaN");
    expect(parsed == value && std::signbit(parsed) == std::signbit(value), "a number is that of strtod()");
  }
  if (code == std::errc())
    expect(std::memcmp(&same, &value, sizeof same) == 0 || value != value, "and of from_chars()");
}

/// Parsed by strtod(), one part after the other.
template <class P>
void expect_number(std::string_view word, std::complex<P> value) {
  if (word.starts_with('(')) word = word.substr(1, word.size() - 2);
  const std::string copy(word);
  const auto parse = [](const char* text, char** end) {
    return std::is_same_v<P, float> ? static_cast<P>(std::strtof(text, end)) : static_cast<P>(std::strtod(text, end));
  };
  const auto same = [](P a, P b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  char* end = nullptr;
  P re = parse(copy.c_str(), &end), im = 0;
  if (*end == '(') return;  // NaN with letters that strtod() may not know
  if (*end == 'j' || *end == 'i') {
    im = std::exchange(re, P{0});
  } else if (*end != '\0') {
    im = parse(end, &end);
    if (*end == '(') return;
    expect(*end == 'j' || *end == 'i', "the imaginary part ends with j or i");
  }
  expect(same(re, value.real()) && same(im, value.imag()), "a complex number is that of strtod()");
}

/// The words between white space and delimiters that are not left out.
std::vector<std::string_view> words_of(std::string_view text, const text_layout& layout) {
  std::vector<std::string_view> words;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto separates = [&](char c) { return is_space(c) || c == layout.delimiter; };
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(std::ranges::find_if(text, separates) - text.begin());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.empty() && !(layout.skip_missing && is_missing(word))) words.push_back(word);
  }
  return words;
}

template <std::integral T>
bool is_number_of(std::string_view word) {
  const bool negative_zero = word.starts_with('-') && word.find_first_not_of("-0") == word.npos;
  if (word.starts_with('+')) word.remove_prefix(1);
  T value{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return !negative_zero && code == std::errc() && end == word.data() + word.size();
}

/// The type that words decide which are all numbers.
element_type type_of_words(const std::vector<std::string_view>& words) {
  if (std::ranges::all_of(words, is_number_of<std::int64_t>)) return element_type::i64;
  return std::ranges::all_of(words, is_number_of<std::uint64_t>) ? element_type::u64 : element_type::f64;
}

/// Compares each word with its element.
void expect_elements(const std::vector<std::string_view>& words, element_type type,
                     std::span<const std::byte> elements) {
  for (const std::string_view written : words) {
    const std::string word = without_d_exponents(written).value_or(std::string(written));
    with_element(type, [&]<class T>() {
      expect(elements.size() >= sizeof(T), "every word has an element");
      T value;
      std::memcpy(&value, elements.data(), sizeof value);
      elements = elements.subspan(sizeof value);
      expect_number(word, value);
    });
  }
  expect(elements.empty(), "every element has a word");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, std::min(size, numbered_descriptor::most_bytes));
  const std::size_t chosen = in.choice(all_element_types.size() + 4);
  const std::optional type =
      chosen < all_element_types.size() ? std::optional(all_element_types[chosen]) : std::nullopt;
  const std::uint8_t choices = in.byte(), most = in.byte();
  constexpr char delimiters[] = {',', ';', '\t', ' '};
  input_options arguments{.format = choices % 2 == 1 ? "csv" : "text",
                          .type = std::string(type ? to_string(*type) : "")};
  if (choices & 2) arguments.delimiter = delimiters[choices >> 2 & 3];
  const bool is_plain = (choices & 128) == 0;
  if (!is_plain) {
    arguments.skip_lines = 1;
    arguments.comment = "#";
    arguments.missing_words = "-,-9";
    if (arguments.delimiter.empty()) std::tie(arguments.decimal, arguments.thousands) = std::pair(",", ".");
  }
  if (choices & 32) arguments.missing = "skip";
  if (choices % 2 == 1) arguments.header = (choices & 16) != 0;
  if (choices % 2 == 1) arguments.column = in.text_until('\n');
  if (choices % 2 == 1)
    arguments.no_header = (choices & 64) != 0 && !arguments.header && !column_choice(arguments.column).has_name();
  text_layout layout = layout_of(arguments, path);
  layout.csv = choices % 2 == 1;

  const auto bytes = std::as_bytes(in.bytes());
  if (is_compressed(bytes) || is_zip(bytes)) return 0;  // A file would be unpacked.
  const std::string_view text = in.text();
  const read_input pieces = in_pieces(text, layout, type, 1 + most % 40, size);
  bool lacks_values = false;
  const read_input whole = outcome_of([&](read_input& found) {
    text_parser parser(layout, type, path);
    expect(parser.parse(text, true) == text.size(), "the whole text is consumed");
    lacks_values = take_values(parser, found);
  });
  expect(without_advice(pieces) == without_advice(whole), "the text in pieces is the text as a whole");
  if (whole.error.empty() && !layout.csv && is_plain) {
    const std::vector<std::string_view> words = words_of(text, layout);
    expect(whole.types.front() == type.value_or(type_of_words(words)), "the numbers decide the type");
    expect_elements(words, whole.types.front(), whole.elements);
  }
  for (const auto made : {numbered_descriptor::kind::file, numbered_descriptor::kind::pipe}) {
    const read_input input = read_as(made, in.bytes(), arguments);
    expect(lacks_values ? !input.error.empty() : input == whole,
           "a file and a pipe are read as the parser reads text");
  }
  return 0;
}
