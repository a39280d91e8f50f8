// SPDX-License-Identifier: Apache-2.0
// The members of NumPy's .npz files, which are zip archives of .npy files.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "cli/input/byte_reader.hpp"

namespace fanin::cli {

/// Whether input that begins with these bytes claims to be a zip archive with members.
bool is_npz(std::span<const std::byte> start) noexcept;

/// The bytes of the member that is called `member` or `member`.npy, or of the only member if `member` is empty.
/// Members are unpacked while they are read, without a temporary file. `fd` is a regular file, which may be closed
/// when the function returns; `name` is for messages. Memory: the archive's list of members.
/// @throws bad_data if the archive or the member is damaged, encrypted or packed in an unknown way; usage_error if
/// there is no such member, or no choice among several. The stream throws bad_data, at its end also where the
/// member's checksum is wrong.
std::unique_ptr<byte_stream> open_npz_member(int fd, const std::string& member, const std::string& name);

}  // namespace fanin::cli
