// SPDX-License-Identifier: Apache-2.0
#include "cli/input/compression.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view gzip_magic = "\x1f\x8b\x08"sv, zstd_magic = "\x28\xb5\x2f\xfd"sv;
// The last three bytes of the magic number of frames that a decompressor skips, as pzstd writes them: the first byte
// is 0x50 to 0x5f.
constexpr std::string_view skippable_zstd_magic = "\x2a\x4d\x18"sv;

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

bool begins_with(std::span<const std::byte> start, std::string_view magic) {
  return text_of(start).starts_with(magic);
}

[[noreturn]] void refuse(const byte_reader& in, const std::string& problem) {
  throw bad_data(fmt::format("{}: {}", in.name(), problem));
}

class gzip_stream final : public byte_stream {
 public:
  explicit gzip_stream(byte_reader in) : in_(std::move(in)) {
    constexpr int window_bits = 15, with_gzip_header = 16;
    if (::inflateInit2(&state_, window_bits + with_gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_stream() override { ::inflateEnd(&state_); }

  std::size_t read(std::span<std::byte> to) override {
    const auto most = static_cast<uInt>(std::min<std::size_t>(to.size(), std::numeric_limits<uInt>::max()));
    state_.next_out = reinterpret_cast<Bytef*>(to.data());
    state_.avail_out = most;
    while (state_.avail_out == most) {
      if (!in_member_ && has_member_) skip_padding();
      const auto piece = in_.peek(piece_bytes);
      if (piece.empty() && in_member_) refuse(in_, "truncated gzip data");
      if (piece.empty()) break;
      if (!in_member_) ::inflateReset(&state_);
      has_member_ = true;
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      state_.avail_in = static_cast<uInt>(piece.size());
      const int code = ::inflate(&state_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END) {
        refuse(in_, fmt::format("corrupt gzip data: {}", state_.msg != nullptr ? state_.msg : ::zError(code)));
      }
      in_member_ = code != Z_STREAM_END;
      in_.skip(piece.size() - state_.avail_in);
    }
    return most - state_.avail_out;
  }

 private:
  /// Passes over the zeros that fill the last block of a tape or a disk behind the last member.
  void skip_padding() {
    for (;;) {
      const auto piece = in_.peek(piece_bytes);
      const auto end = std::ranges::find_if(piece, [](std::byte one) { return one != std::byte{0}; });
      if (end != piece.begin() && end != piece.end())
        refuse(in_, "corrupt gzip data: there are bytes after the zeros at the end");
      if (piece.empty() || end == piece.begin()) return;
      in_.skip(piece.size());
    }
  }

  byte_reader in_;
  z_stream state_ = {};
  bool in_member_ = false, has_member_ = false;
};

class zstd_stream final : public byte_stream {
 public:
  explicit zstd_stream(byte_reader in) : in_(std::move(in)), state_(::ZSTD_createDCtx(), &::ZSTD_freeDCtx) {
    if (!state_) throw std::bad_alloc();
    ::ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, largest_window_log);
  }

  std::size_t read(std::span<std::byte> to) override {
    ZSTD_outBuffer out = {to.data(), to.size(), 0};
    while (out.pos == 0) {
      const auto piece = in_.peek(piece_bytes);
      if (piece.empty() && !in_frame_) break;
      ZSTD_inBuffer in = {piece.data(), piece.size(), 0};
      const std::size_t code = ::ZSTD_decompressStream(state_.get(), &out, &in);
      if (::ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
        refuse(in_,
               "unpacking this zstd data takes more than 128 MiB of memory; 'zstd -dc --long=31' unpacks it into a "
               "pipe");
      }
      if (::ZSTD_isError(code)) refuse(in_, fmt::format("corrupt zstd data: {}", ::ZSTD_getErrorName(code)));
      if (piece.empty() && out.pos == 0) refuse(in_, "truncated zstd data");
      in_frame_ = code != 0;
      in_.skip(in.pos);
    }
    return out.pos;
  }

 private:
  byte_reader in_;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> state_;
  bool in_frame_ = false;
};

class undecided_stream final : public byte_stream {
 public:
  explicit undecided_stream(byte_reader in) : in_(std::move(in)) {}

  std::size_t read(std::span<std::byte> to) override {
    if (!decided_ && is_compressed(in_.peek(4))) unpacked_ = decompressed(std::move(in_));
    decided_ = true;
    if (unpacked_) return unpacked_->read(to);
    const auto bytes = in_.peek(to.size());
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
    return in_.skip(bytes.size());
  }

 private:
  byte_reader in_;
  std::unique_ptr<byte_stream> unpacked_;  ///< null: the input is not compressed
  bool decided_ = false;
};

}  // namespace

bool is_compressed(std::span<const std::byte> start) noexcept {
  return begins_with(start, gzip_magic) || begins_with(start, zstd_magic) ||
         (start.size() >= 4 && (start[0] & std::byte{0xf0}) == std::byte{0x50} &&
          begins_with(start.subspan(1), skippable_zstd_magic));
}

std::unique_ptr<byte_stream> decompressed(byte_reader compressed) {
  if (begins_with(compressed.peek(gzip_magic.size()), gzip_magic))
    return std::make_unique<gzip_stream>(std::move(compressed));
  return std::make_unique<zstd_stream>(std::move(compressed));
}

std::unique_ptr<byte_stream> decompressed_when_read(byte_reader input) {
  return std::make_unique<undecided_stream>(std::move(input));
}

std::string_view name_inside(std::string_view path) noexcept {
  for (const std::string_view ending : {".gz"sv, ".zst"sv}) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const std::string_view end = path.substr(path.size() - std::min(path.size(), ending.size()));
    if (std::ranges::equal(end, ending, {}, lower)) return path.substr(0, path.size() - ending.size());
  }
  return path;
}

}  // namespace fanin::cli
