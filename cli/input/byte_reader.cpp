// SPDX-License-Identifier: Apache-2.0
#include "cli/input/byte_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

class descriptor_stream final : public byte_stream {
 public:
  descriptor_stream(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  std::size_t read(std::span<std::byte> to) override {
    ssize_t got = -1;
    do got = ::read(fd_, to.data(), to.size());
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EBADF && fd_ == STDIN_FILENO) throw bad_data("standard input is closed");
    if (got < 0) throw bad_data(fmt::format("{}: {}", name_, std::strerror(errno)));
    return static_cast<std::size_t>(got);
  }

 private:
  int fd_;
  std::string name_;
};

}  // namespace

descriptor::descriptor(const std::string& path) {
  const bool standard_input = path == "-";
  fd_ = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    const bool may_be_column = errno == ENOENT && path.find_first_of("./") == std::string::npos;
    throw bad_data(fmt::format("{}: {}{}", path, std::strerror(errno),
                               may_be_column ? fmt::format("; if it is a column, say --column {}", path) : ""));
  }
  struct stat about = {};
  const bool known = ::fstat(fd_, &about) == 0;
  if (known && S_ISDIR(about.st_mode)) {
    if (!standard_input) ::close(fd_);
    throw bad_data(fmt::format("{}: is a directory", input_name(path)));
  }
  if (known && S_ISREG(about.st_mode) && !standard_input) size_ = about.st_size;
}

descriptor::~descriptor() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

bool descriptor::is_file(const std::string& path) const noexcept {
  struct stat open = {}, other = {};
  return ::fstat(fd_, &open) == 0 && S_ISREG(open.st_mode) && ::stat(path.c_str(), &other) == 0 &&
         open.st_dev == other.st_dev && open.st_ino == other.st_ino;
}

bool standard_input_is_data() {
  struct stat about = {};
  return ::fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : one_line(path); }

byte_reader::byte_reader(int fd, std::string name)
    : from_(std::make_unique<descriptor_stream>(fd, name)), name_(std::move(name)) {}

byte_reader::byte_reader(std::unique_ptr<byte_stream> from, std::string name)
    : from_(std::move(from)), name_(std::move(name)) {}

byte_reader::byte_reader(std::span<const std::byte> all, std::string name) : name_(std::move(name)) {
  reserve(all.size());
  if (!all.empty()) std::memcpy(buffer_.get(), all.data(), all.size());
  end_ = all.size();
}

void byte_reader::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  const std::size_t larger = std::max({bytes, 2 * capacity_, std::size_t{4096}});
  std::unique_ptr<std::byte[]> moved(new std::byte[larger]);
  if (buffered() > 0) std::memcpy(moved.get(), buffer_.get() + begin_, buffered());
  buffer_ = std::move(moved);
  capacity_ = larger;
  end_ = buffered();
  begin_ = 0;
}

std::span<const std::byte> byte_reader::peek(std::size_t count) {
  reserve(count);
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, buffered());
    end_ = buffered();
    begin_ = 0;
  }
  while (end_ < count && from_) {
    const std::size_t got = from_->read({buffer_.get() + end_, count - end_});
    if (got == 0) break;
    end_ += got;
  }
  return {buffer_.get(), std::min(count, end_)};
}

std::uint64_t byte_reader::skip(std::uint64_t count) {
  constexpr std::size_t step = std::size_t{1} << 16;
  std::uint64_t skipped = 0;
  while (skipped < count) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(count - skipped, std::max(step, buffered())));
    const std::size_t available = buffered() >= wanted ? wanted : peek(wanted).size();
    if (available == 0) break;
    begin_ += available;
    skipped += available;
  }
  return skipped;
}

}  // namespace fanin::cli
