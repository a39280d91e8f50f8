// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only.
#pragma once

#include <time.h>

#include <cstddef>
#include <string>

namespace fanin::cli {

/// A regular file mapped into memory. If the file is truncated while it is read, a read raises SIGBUS, and the
/// process ends with one line on stderr and exit status 1. Only one mapped_file may exist at a time.
class mapped_file {
 public:
  /// Maps the first `bytes` bytes of `fd`, which must stay open. @throws bad_data
  mapped_file(int fd, std::size_t bytes, const std::string& name);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  const std::byte* data() const noexcept { return data_; }
  /// Call check_unchanged() after reading: a write to the file raises no signal, and bytes missing from the last page
  /// read as zeros. @throws bad_data if the file's size or its time of modification is no longer what it was
  void check_unchanged() const;

 private:
  int fd_;
  std::size_t bytes_;
  timespec modified_ = {};
  std::string name_;
  const std::byte* data_ = nullptr;
};

}  // namespace fanin::cli
