// SPDX-License-Identifier: Apache-2.0
#include "cli/input/npy.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t prefix_bytes = 8;             // magic, major, minor
constexpr std::uint64_t longest_header = 1u << 20;  // NumPy's default limit is 10000.
constexpr std::uint64_t too_many_bytes = std::uint64_t{1} << 63;
constexpr char too_large[] = "the header describes an array of 2^63 bytes or more";

struct type_code {
  std::string_view code;
  element_type type;
};
constexpr auto type_codes = [] {
  std::array<type_code, element_count + 1> codes{};
  constexpr auto listed = element_rows.for_each([](const auto& row) { return type_code{row.npy, row.enumerator}; });
  std::ranges::copy(listed, codes.begin());
  codes.back() = {"b1", element_type::u8};  // bool: a byte that is 0 or 1
  return codes;
}();

/// Whether the code says no more than how many bytes an element has.
bool is_void(std::string_view code) { return code[0] == 'V'; }

/// Reads the Python dictionary {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }.
class dictionary_parser {
 public:
  dictionary_parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  npy_header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !type_) {
        type_ = description();
      } else if (key == "shape" && !count_) {
        count_ = shape();
      } else if (key == "fortran_order" && !order_seen_) {
        order_seen_ = true;
        fortran_order_ = boolean();
      } else {
        malformed(fmt::format("unexpected key '{}'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ < text_.size()) malformed("text after the dictionary");
    if (!type_ || !count_ || !order_seen_) malformed("'descr', 'fortran_order' and 'shape' are needed");
    if (*count_ >= too_many_bytes / byte_size(*type_)) fail(too_large);
    return {*type_, *count_, 0, std::move(shape_), fortran_order_};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw bad_data(fmt::format("{}: {}", name_, what)); }
  [[noreturn]] void malformed(const std::string& what) const { fail("malformed .npy header: " + what); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) malformed(fmt::format("'{}' is missing at byte {}", wanted, at_ + 1));
  }
  std::string_view quoted() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      malformed(fmt::format("a quoted word is missing at byte {}", at_ + 1));
    }
    const std::size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
    if (end == std::string_view::npos) malformed("a quote is not closed");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    malformed("'fortran_order' is neither True nor False");
  }

  element_type description() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') fail("the array is a structured array; save one of its fields");
    const std::string_view code = quoted();
    if (code.empty()) malformed("'descr' is empty");
    const bool ordered = std::string_view("<>|=").find(code[0]) != std::string_view::npos;
    const std::string_view kind = ordered ? code.substr(1) : code;
    if (!kind.empty() && kind[0] == 'O')
      fail("arrays of Python objects ('O') cannot be reduced; save it with .astype('float64')");
    const auto* known = std::ranges::find(type_codes, kind, &type_code::code);
    if (known == std::end(type_codes)) {
      std::vector<std::string> codes;
      for (const type_code& one : type_codes)
        codes.push_back(is_void(one.code) ? fmt::format("{} (as {}, with --type)", one.code, to_string(one.type))
                                          : std::string(one.code));
      fail(fmt::format("element type '{}' is not supported; these are: {}", printable(code), fmt::join(codes, ", ")));
    }
    if (byte_size(known->type) == 1) return known->type;
    if (code[0] == '>') {
      fail(fmt::format("big-endian data ('{}') is not supported; save it with .astype('<{}')", code, kind));
    }
    if (code[0] != '<' && code != "|V2") malformed(fmt::format("'descr' does not say the byte order: '{}'", code));
    return known->type;
  }

  std::uint64_t shape() {
    expect('(');
    std::uint64_t product = 1;
    bool empty = false;
    while (!accept(')')) {
      const std::uint64_t extent = integer();
      shape_.push_back(extent);
      empty = empty || extent == 0;
      if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) {
        fail(too_large);
      }
      if (!accept(',')) {
        expect(')');
        if (shape_.size() == 1) malformed("'shape' is a number in parentheses, and a tuple of one ends with a comma");
        break;
      }
    }
    return empty ? 0 : product;
  }
  std::uint64_t integer() {
    skip_space();
    std::uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) fail(too_large);
    if (code != std::errc()) malformed("'shape' is not a tuple of non-negative integers");
    if (*begin == '0' && end != begin + 1) malformed("a number in 'shape' begins with a zero");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 writes long integers with this suffix.
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::optional<element_type> type_;
  std::optional<std::uint64_t> count_;
  std::vector<std::size_t> shape_;
  bool order_seen_ = false, fortran_order_ = false;
};

}  // namespace

bool is_npy(std::span<const std::byte> start) noexcept { return text_of(start).starts_with(magic); }

npy_header read_npy_header(byte_reader& in) {
  const auto fail = [&](const std::string& what) { throw bad_data(fmt::format("{}: {}", in.name(), what)); };
  const auto start = in.peek(prefix_bytes);
  if (start.empty()) fail("is empty, not a .npy file");
  if (!is_npy(start)) fail("is not a .npy file: the first bytes are not \\x93NUMPY");
  if (start.size() < prefix_bytes) fail("truncated .npy file: the header is cut short");
  const auto major = std::to_integer<unsigned>(start[6]), minor = std::to_integer<unsigned>(start[7]);
  if (major < 1 || major > 3) fail(fmt::format(".npy version {}.{} is not known; 1 to 3 are", major, minor));

  const std::size_t length_bytes = major == 1 ? 2 : 4, text_begin = prefix_bytes + length_bytes;
  const auto with_length = in.peek(text_begin);
  if (with_length.size() < text_begin) fail("truncated .npy file: the header is cut short");
  std::uint64_t length = 0;
  for (std::size_t i = text_begin; i-- > prefix_bytes;)
    length = length << 8 | std::to_integer<std::uint64_t>(with_length[i]);
  if (length > longest_header)
    fail(fmt::format("malformed .npy header: a length of {} bytes is not plausible", length));

  const std::size_t header_bytes = text_begin + static_cast<std::size_t>(length);
  const auto whole = in.peek(header_bytes);
  if (whole.size() < header_bytes) {
    fail(fmt::format("truncated .npy file: the header claims {} bytes and the file ends after {}", header_bytes,
                     whole.size()));
  }
  npy_header header = dictionary_parser(text_of(whole).substr(text_begin), in.name()).parse();
  header.header_bytes = header_bytes;
  in.skip(header_bytes);
  return header;
}

std::vector<element_type> types_to_say(const npy_header& header) {
  const std::string_view code = std::ranges::find(type_codes, header.type, &type_code::type)->code;
  std::vector<element_type> meant;
  for (const type_code& one : type_codes) {
    if (is_void(code) && one.code == code) meant.push_back(one.type);
  }
  return meant;
}

std::string write_npy_header(element_type type, std::span<const std::size_t> shape) {
  constexpr std::size_t alignment = 64, text_begin = prefix_bytes + 2;
  const auto* known = std::ranges::find(type_codes, type, &type_code::type);
  const char order = byte_size(type) == 1 || is_void(known->code) ? '|' : '<';
  // A tuple of one number has a comma behind it.
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, known->code,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  text.append(alignment - 1 - (text_begin + text.size()) % alignment, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace fanin::cli
