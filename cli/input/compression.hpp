// SPDX-License-Identifier: Apache-2.0
// Compressed input: gzip (RFC 1952) and Zstandard (RFC 8878).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "cli/input/byte_reader.hpp"

namespace fanin::cli {

/// The largest window of Zstandard that is decompressed, as a power of two in bytes: 128 MiB of memory.
inline constexpr int largest_window_log = 27;

/// Whether input that begins with these bytes claims to be compressed. Four bytes decide.
bool is_compressed(std::span<const std::byte> start) noexcept;

/// The bytes that the compressed input holds, from all its gzip members or all its Zstandard frames, one after the
/// other. The input ends with a member or a frame. Zeros may follow the last member of gzip. Memory: 64 KiB of
/// input, and the window, which is 32 KiB for gzip. The stream throws bad_data if the data are truncated, corrupt
/// (checksums are compared) or followed by other bytes, and if a window is too large.
std::unique_ptr<byte_stream> decompressed(byte_reader compressed);

/// The bytes of an input, decompressed if it is compressed, which the first read finds out.
std::unique_ptr<byte_stream> decompressed_when_read(byte_reader input);

/// The path without the ending .gz or .zst, in upper or lower case.
std::string_view name_inside(std::string_view path) noexcept;

}  // namespace fanin::cli
