// SPDX-License-Identifier: Apache-2.0
#include "cli/input/mapped_file.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/unfinished.hpp"

namespace fanin::cli {

namespace {

constexpr char cut_short[] = "the file was cut short while it was read";

// The data of the signal handler, which are written before the handler is installed.
std::atomic<std::uintptr_t> mapped_begin, mapped_end;
char message[512];
std::size_t message_bytes;
std::atomic_flag message_written;  // Several threads may fault at once; only the first one writes the message.

void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (address < mapped_begin || address >= mapped_end) {
    struct sigaction fallback = {};
    fallback.sa_handler = SIG_DFL;
    ::sigaction(signal, &fallback, nullptr);
    remove_unfinished_file();
    return;
  }
  while (message_written.test_and_set()) ::pause();
  remove_unfinished_file();
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, message_bytes);
  ::_exit(1);
}

struct stat status_of(int fd, const std::string& name) {
  struct stat now = {};
  if (::fstat(fd, &now) != 0) throw bad_data(fmt::format("{}: {}", name, std::strerror(errno)));
  return now;
}

}  // namespace

mapped_file::mapped_file(int fd, std::size_t bytes, const std::string& name) : fd_(fd), bytes_(bytes), name_(name) {
  modified_ = status_of(fd, name).st_mtim;
  if (bytes == 0) return;
  void* where = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (where == MAP_FAILED) throw bad_data(fmt::format("{}: {}", name, std::strerror(errno)));
  data_ = static_cast<const std::byte*>(where);

  const std::string line = fmt::format("fanin: {:.400}: {}\n", name, cut_short);
  message_bytes = std::min(line.size(), sizeof message);
  std::memcpy(message, line.data(), message_bytes);
  mapped_begin = reinterpret_cast<std::uintptr_t>(data_);
  mapped_end = mapped_begin + bytes;

  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

mapped_file::~mapped_file() {
  if (data_ == nullptr) return;
  mapped_begin = mapped_end = 0;
  ::munmap(const_cast<std::byte*>(data_), bytes_);
}

void mapped_file::check_unchanged() const {
  const struct stat now = status_of(fd_, name_);
  const auto size = static_cast<std::size_t>(now.st_size);
  if (size < bytes_) throw bad_data(fmt::format("{}: {}", name_, cut_short));
  if (size > bytes_) throw bad_data(fmt::format("{}: the file grew while it was read", name_));
  if (now.st_mtim.tv_sec != modified_.tv_sec || now.st_mtim.tv_nsec != modified_.tv_nsec) {
    throw bad_data(fmt::format("{}: the file was written while it was read", name_));
  }
}

}  // namespace fanin::cli
