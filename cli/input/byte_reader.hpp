// SPDX-License-Identifier: Apache-2.0
// Bytes from a file descriptor, from another stream or from memory, with as much look-ahead as the caller needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fanin::cli {

/// An open file descriptor, which the destructor closes unless it is standard input.
class descriptor {
 public:
  /// Opens `path` for reading; "-" is standard input. @throws bad_data (missing, a directory, closed, ...)
  explicit descriptor(const std::string& path);
  ~descriptor();
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const noexcept { return fd_; }
  /// The file's size in bytes. It is -1 for standard input and for a file that is not a regular file.
  std::int64_t size() const noexcept { return size_; }
  /// Whether this is a regular file and `path` is the same file, perhaps by another name.
  bool is_file(const std::string& path) const noexcept;

 private:
  int fd_ = -1;
  std::int64_t size_ = -1;
};

/// Whether standard input is a pipe or a regular file: an input that a command line without FILE means.
bool standard_input_is_data();

/// The name of an input in messages: the path in one line, or "standard input" for "-".
std::string input_name(const std::string& path);

/// The bytes as text.
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Bytes that are read once, from the first to the last.
class byte_stream {
 public:
  virtual ~byte_stream() = default;
  /// Reads up to as many bytes as `to` has, which are more than 0. Returns their number, which is 0 only at the
  /// end.
  /// @throws bad_data
  virtual std::size_t read(std::span<std::byte> to) = 0;
};

class byte_reader {
 public:
  /// Reads from `fd`, which must stay open; `name` is for messages.
  byte_reader(int fd, std::string name);
  byte_reader(std::unique_ptr<byte_stream> from, std::string name);
  /// Reads from memory.
  byte_reader(std::span<const std::byte> all, std::string name);

  /// The next `count` bytes without consuming them; fewer only at the end of the input. The bytes lie at an address
  /// aligned for any element and stay valid until the next call. @throws bad_data if reading fails
  std::span<const std::byte> peek(std::size_t count);
  /// Consumes `count` bytes; `count` may go beyond what was peeked. Returns the number of bytes consumed,
  /// which is smaller only at the end of the input.
  std::uint64_t skip(std::uint64_t count);

  const std::string& name() const noexcept { return name_; }

 private:
  std::size_t buffered() const noexcept { return end_ - begin_; }
  void reserve(std::size_t bytes);

  std::unique_ptr<byte_stream> from_;  ///< null: all bytes are in the buffer
  std::string name_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace fanin::cli
