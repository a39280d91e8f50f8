// A file mapped read-only.
#pragma once

#include <cstddef>
#include <string>

namespace fanin::cli {

/// The whole of a regular file in memory. If somebody cuts the file short while it is read, the process ends with one
/// line on stderr and status 1: there is no way to go on. At most one object at a time.
class mapped_file {
 public:
  /// Maps the first `bytes` bytes of `fd`, which must stay open. @throws bad_data
  mapped_file(int fd, std::size_t bytes, const std::string& name);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  const std::byte* data() const noexcept { return data_; }
  /// To be called when reading is over: a cut inside the last page reads as zeros and raises no signal.
  /// @throws bad_data if the file's size is no longer what it was
  void check_size() const;

 private:
  int fd_;
  std::size_t bytes_;
  std::string name_;
  const std::byte* data_ = nullptr;
};

}  // namespace fanin::cli
