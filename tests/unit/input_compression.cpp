// SPDX-License-Identifier: Apache-2.0
// Tests of gzip and Zstandard: the bytes inside do not depend on how they are read, and damage is an error.
#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "cli/input/compression.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

std::string gzip_of(const std::string& text) {
  z_stream state = {};
  REQUIRE(::deflateInit2(&state, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(::deflateBound(&state, text.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(::deflate(&state, Z_FINISH) == Z_STREAM_END);
  packed.resize(state.total_out);
  ::deflateEnd(&state);
  return packed;
}

std::string zstd_of(const std::string& text, int window_log = 0) {
  ZSTD_CCtx* const state = ::ZSTD_createCCtx();
  ::ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
  ::ZSTD_CCtx_setParameter(state, ZSTD_c_contentSizeFlag, 0);
  if (window_log > 0) ::ZSTD_CCtx_setParameter(state, ZSTD_c_windowLog, window_log);
  std::string packed(::ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_outBuffer out = {packed.data(), packed.size(), 0};
  ZSTD_inBuffer in = {text.data(), text.size(), 0};
  REQUIRE(::ZSTD_compressStream2(state, &out, &in, ZSTD_e_flush) == 0);
  REQUIRE(::ZSTD_compressStream2(state, &out, &in, ZSTD_e_end) == 0);
  ::ZSTD_freeCCtx(state);
  packed.resize(out.pos);
  return packed;
}

/// The text that the compressed bytes hold, read in pieces, or the message of an error.
std::string unpacked(const std::string& packed, std::size_t piece) {
  try {
    byte_reader in(decompressed(byte_reader(std::as_bytes(std::span(packed)), "x")), "x");
    std::string text;
    for (auto bytes = in.peek(piece); !bytes.empty(); bytes = in.peek(piece)) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      in.skip(bytes.size());
    }
    return text;
  } catch (const bad_data& error) {
    return error.what();
  }
}

/// Text of many pieces of packed input.
std::string long_text() {
  std::string text;
  for (unsigned i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text;
}

TEST_SUITE_BEGIN("source");

TEST_CASE("members and frames follow each other, in pieces of any size") {
  const std::string text = long_text();
  for (const auto& pack : {std::function(gzip_of), std::function([](const std::string& x) { return zstd_of(x); })}) {
    const std::string whole = pack(text);
    CHECK(is_compressed(std::as_bytes(std::span(whole)).first(4)));
    CHECK(is_compressed(std::as_bytes(std::span(whole)).first(2)) == false);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 16, 2 * text.size()}) {
      CAPTURE(piece);
      CHECK(unpacked(whole, piece) == text);
    }
    CHECK(unpacked(whole + pack("") + pack("more") + whole, 4096) == text + "more" + text);
    CHECK(unpacked(pack(""), 10).empty());
    CHECK(unpacked(pack(std::string(1 << 22, 'x')), 1 << 20) == std::string(1 << 22, 'x'));
  }
  const std::string skipped("\x50\x2a\x4d\x18\x02\0\0\0xy", 10);
  CHECK(is_compressed(std::as_bytes(std::span(skipped)).first(4)));
  CHECK(unpacked(skipped + zstd_of("1"), 10) == "1");
}

TEST_CASE("zeros may fill the last block behind the last member of gzip") {
  for (const std::size_t zeros : {1, 511, 100'000}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{10}, std::size_t{1} << 16}) {
      CHECK(unpacked(gzip_of("1 2 3\n") + gzip_of("4") + std::string(zeros, '\0'), piece) == "1 2 3\n4");
    }
  }
}

TEST_CASE("damaged data are refused at every place") {
  const std::string gzip = gzip_of("1 2 3\n"), zstd = zstd_of("1 2 3\n");
  for (std::size_t bytes = 4; bytes < gzip.size(); ++bytes)
    CHECK(unpacked(gzip.substr(0, bytes), 10) == "x: truncated gzip data");
  for (std::size_t bytes = 4; bytes < zstd.size(); ++bytes)
    CHECK(unpacked(zstd.substr(0, bytes), 10) == "x: truncated zstd data");
  for (std::string packed : {gzip, zstd}) {
    packed[packed.size() - 3] ^= 1;  // This byte is in the checksum, or for gzip in the length.
    CHECK(unpacked(packed, 10).starts_with("x: corrupt "));
  }
  CHECK(unpacked(gzip + "x", 100) == "x: truncated gzip data");
  const std::string zeros(100'000, '\0');
  CHECK(unpacked(gzip + zeros + "x", 100) == "x: corrupt gzip data: there are bytes after the zeros at the end");
  CHECK(unpacked(gzip + '\0' + gzip, 100) == "x: corrupt gzip data: there are bytes after the zeros at the end");
  CHECK(unpacked(gzip + zstd, 100) == "x: corrupt gzip data: incorrect header check");
  CHECK(unpacked(zstd + gzip, 100) == "x: corrupt zstd data: Unknown frame descriptor");
}

TEST_CASE("a window of Zstandard is at most 128 MiB") {
  CHECK(unpacked(zstd_of("1", largest_window_log), 10) == "1");
  CHECK(unpacked(zstd_of("1", largest_window_log + 1), 10) ==
        "x: unpacking this zstd data takes more than 128 MiB of memory; 'zstd -dc --long=31' unpacks it into a pipe");
}

TEST_CASE("the name inside a name") {
  CHECK(name_inside("x.csv.gz") == "x.csv");
  CHECK(name_inside("X.BIN.ZST") == "X.BIN");
  CHECK(name_inside("x.csv") == "x.csv");
  CHECK(name_inside(".gz").empty());
  CHECK(name_inside("gz") == "gz");
  CHECK(name_inside("").empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
