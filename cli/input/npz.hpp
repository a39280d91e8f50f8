// SPDX-License-Identifier: Apache-2.0
// The members of zip archives, which are .npz files of NumPy, or other files that were packed alone.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "cli/input/byte_reader.hpp"

namespace fanin::cli {

/// Whether input that begins with these bytes claims to be a zip archive with members.
bool is_zip(std::span<const std::byte> start) noexcept;

struct zip_member {
  std::string name;  ///< in the archive
  std::unique_ptr<byte_stream> bytes;
};

/// The member that is called `member` or `member`.npy, or the only member if `member` is empty. Folders are no
/// members, and files that macOS adds in a folder of its own are no members. Members are unpacked while they are
/// read, without a temporary file. `fd` is a regular file, which may be closed when the function returns; `name`
/// is for messages. Memory: the archive's list of members.
/// @throws bad_data if the archive or the member is damaged, encrypted or packed in an unknown way; usage_error if
/// there is no such member, or no choice among several. The stream throws bad_data. At its end it does so if the
/// member's checksum is wrong.
zip_member open_zip_member(int fd, const std::string& member, const std::string& name);

}  // namespace fanin::cli
