// SPDX-License-Identifier: Apache-2.0
// Tests of the .npy reader: files of numpy and other writers, and files that it rejects.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cli/input/npy.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

std::string file_with(std::string_view dictionary, int major = 1) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), '\0', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  if (major > 1) file += std::string(2, '\0');
  return file.append(dictionary);
}

std::string dictionary(std::string_view descr, std::string_view shape) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + std::string(shape) +
         ", }   \n";
}

byte_reader reader_of(const std::string& bytes) { return {std::as_bytes(std::span(bytes)), "x.npy"}; }

npy_header parse(const std::string& bytes) {
  byte_reader in = reader_of(bytes);
  return read_npy_header(in);
}

std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const bad_data& error) {
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_SUITE_BEGIN("npy");

TEST_CASE("versions 1, 2 and 3 are read, and the reader stands at the first element") {
  for (const int major : {1, 2, 3}) {
    CAPTURE(major);
    const std::string header = file_with(dictionary("<f8", "(3, 4)"), major);
    byte_reader in = reader_of(header + "data");
    const npy_header read = read_npy_header(in);
    CHECK(read.type == element_type::f64);
    CHECK(read.count == 12);
    CHECK(read.header_bytes == header.size());
    const auto rest = in.peek(10);
    REQUIRE(rest.size() == 4);
    CHECK(std::memcmp(rest.data(), "data", 4) == 0);
  }
}

TEST_CASE("every element type, and no other") {
  const std::pair<const char*, element_type> known[] = {
      {"<f4", element_type::f32},  {"<f8", element_type::f64},  {"<i4", element_type::i32},
      {"<i8", element_type::i64},  {"<u4", element_type::u32},  {"<u8", element_type::u64},
      {"<i2", element_type::i16},  {"<u2", element_type::u16},  {"|u1", element_type::u8},
      {"|b1", element_type::u8},   {"<f2", element_type::f16},  {"|V2", element_type::bf16},
      {"<V2", element_type::bf16}, {"|V1", element_type::e5m2}, {"<c8", element_type::c64},
      {"<c16", element_type::c128}};
  for (const auto& [code, type] : known) CHECK(parse(file_with(dictionary(code, "(1,)"))).type == type);
  for (const std::string code : {"<f3", "<c32", "<U8", "|V8", "f", "<"}) {
    CAPTURE(code);
    CHECK(contains(refusal(file_with(dictionary(code, "(1,)"))), "not supported"));
  }
  for (const std::string code : {">f8", ">f4", ">i4", ">V2"}) {
    CHECK(contains(refusal(file_with(dictionary(code, "(1,)"))), "big-endian"));
  }
  CHECK(contains(refusal(file_with(dictionary("|O", "(1,)"))), "Python objects"));
  CHECK(
      contains(refusal(file_with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}")), "structured"));
  for (const std::string code : {"f8", "u4"}) {
    CHECK(contains(refusal(file_with(dictionary(code, "(1,)"))), "byte order"));
  }
  for (const std::string code : {"|i1", "<i1", ">i1", "i1"}) {
    CHECK(parse(file_with(dictionary(code, "(1,)"))).type == element_type::i8);
  }
  CHECK(contains(refusal(file_with(dictionary("", "(1,)"))), "empty"));
}

TEST_CASE("shapes") {
  CHECK(parse(file_with(dictionary("<f8", "()"))).count == 1);
  CHECK(parse(file_with(dictionary("<f8", "(0,)"))).count == 0);
  CHECK(parse(file_with(dictionary("<f8", "(7, 0, 9)"))).count == 0);
  CHECK(parse(file_with(dictionary("<f8", "(5L,)"))).count == 5);
  CHECK(parse(file_with(dictionary("<f8", "( 2 , 3 ,4 )"))).count == 24);
  CHECK(parse(file_with("{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"<i4\"}")).count == 2);
  // The number of bytes of 2^60 - 1 elements of 8 bytes fits in 63 bits. For 2^60 elements it does not.
  CHECK(parse(file_with(dictionary("<f8", "(1152921504606846975,)"))).count == 1152921504606846975);
  for (const std::string shape : {"(1152921504606846976,)", "(4294967296, 4294967296)", "(18446744073709551616,)"}) {
    CAPTURE(shape);
    CHECK(contains(refusal(file_with(dictionary("<f8", shape))), "2^63 bytes or more"));
  }
  for (const std::string shape : {"(04,)", "(3, 007)", "(00,)", "(+4,)", "(1_0,)", "(4.0,)", "(4e0,)", "(0x4,)",
                                  "(-1,)", "3", "(3)", "(3", "(a,)", "(1 2)", "[3]"}) {
    CAPTURE(shape);
    CHECK(contains(refusal(file_with(dictionary("<f8", shape))), "malformed .npy header"));
  }
}

TEST_CASE("damaged headers") {
  const std::string good = file_with(dictionary("<f8", "(3,)"));
  CHECK(contains(refusal(""), "is empty"));
  CHECK(contains(refusal("PK\x03\x04 not an array"), "is not a .npy file"));
  for (std::size_t length = 6; length < good.size(); ++length) {
    CAPTURE(length);
    const bool has_length = length >= 10;
    CHECK(contains(refusal(good.substr(0, length)), has_length ? "truncated .npy file: the header claims"
                                                               : "truncated .npy file: the header is cut short"));
  }
  for (const int major : {0, 4}) {
    CHECK(contains(refusal(file_with(dictionary("<f8", "(3,)"), major)), "version " + std::to_string(major) + ".0"));
  }
  CHECK(contains(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "not plausible"));
  for (const std::string text :
       {"", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'descr': '<f8'}", "{'other': 1}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}", "{'descr': '<f8", "{'descr' '<f8'}"}) {
    CAPTURE(text);
    CHECK(contains(refusal(file_with(text)), "malformed .npy header"));
  }
  CHECK(contains(refusal(file_with(dictionary("<f8", "(3,)") + "x")), "text after the dictionary"));
}

TEST_CASE("the longest header") {
  // The dictionary has 2^20 bytes, a length that only the four bytes of version 2 hold.
  std::string longest = std::string("\x93NUMPY\x02\x00\x00\x00\x10\x00", 12) + dictionary("<f8", "(3,)");
  longest.resize(12 + (std::size_t{1} << 20), ' ');
  CHECK(parse(longest).count == 3);
  ++longest[8];
  CHECK(contains(refusal(longest + ' '), "a length of 1048577 bytes is not plausible"));
}

TEST_CASE("a key that occurs twice") {
  for (const std::string again : {"'descr': '<f8'", "'shape': (3,)", "'fortran_order': False"}) {
    CAPTURE(again);
    const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), " + again + "}";
    CHECK(contains(refusal(file_with(text)), "unexpected key"));
  }
  CHECK(parse(file_with("{\t'descr': '<f8',\n'fortran_order':\tFalse, 'shape': (3,)}\t\n")).count == 3);
}

TEST_CASE("what is written is read back, and is aligned") {
  for (const element_type type : all_element_types) {
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
      const std::string header = write_npy_header(type, count);
      CHECK(header.size() % 64 == 0);
      const npy_header read = parse(header);
      const std::vector<element_type> meant = types_to_say(read);
      CHECK((read.type == type || std::ranges::find(meant, type) != meant.end()));
      CHECK(read.count == count);
      CHECK(read.header_bytes == header.size());
    }
  }
  CHECK(contains(write_npy_header(element_type::i8, 1), "'|i1'"));  // as numpy writes it: one byte has no order
  CHECK(contains(write_npy_header(element_type::u32, 1), "'<u4'"));
  CHECK(contains(write_npy_header(element_type::u32, 7), "'shape': (7,)"));
}

TEST_CASE("shape and order") {
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{}, {3}, {2, 0, 4}}) {
    const npy_header read = parse(write_npy_header(element_type::f32, shape));
    CHECK(read.shape == shape);
    CHECK_FALSE(read.fortran_order);
  }
  CHECK(parse(file_with("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}")).fortran_order);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
