// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/kit/unfinished.hpp"

namespace fanin::cli {

namespace {

bool write_all(int fd, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

// The path after the symbolic links at its end, whose last target may be missing. stat() has accepted the chain.
std::string after_links(const std::string& path) {
  std::filesystem::path target = path;
  while (std::filesystem::is_symlink(target)) target = target.parent_path() / std::filesystem::read_symlink(target);
  return target.string();
}

mode_t permissions_of_new_file() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

void remove_and_raise(int signal) {
  remove_unfinished_file();
  ::raise(signal);  // The default action, which SA_RESETHAND has restored, takes effect when the handler returns.
}

// Handles every signal whose default action ends the process, unless the signal is ignored or has a handler already.
// sigaction() refuses signals that cannot be caught.
void guard_unfinished(const std::string& path) {
  constexpr std::array not_fatal = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU};
  unfinished_file = path.c_str();
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (std::ranges::find(not_fatal, signal) != not_fatal.end()) continue;
    struct sigaction before = {}, action = {};
    action.sa_handler = remove_and_raise;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

}  // namespace

void write_stdout(std::string_view text) {
  if (write_all(STDOUT_FILENO, text.data(), text.size()) && ::close(STDOUT_FILENO) == 0) return;
  if (errno == EPIPE) ::_exit(128 + SIGPIPE);  // The reader has closed the pipe and needs no message.
  throw bad_data(fmt::format("standard output: {}", errno == EBADF ? "is closed" : std::strerror(errno)));
}

void write_stderr(std::string_view line) {
  const std::string whole = "fanin: " + one_line(line) + "\n";
  write_all(STDERR_FILENO, whole.data(), whole.size());
}

output_file::output_file(const std::string& path, bool may_replace)
    : path_(path == "-" ? "standard output" : path), is_stdout_(path == "-") {
  struct stat about = {}, out = {};
  const bool exists = ::stat(path.c_str(), &about) == 0;
  if (!is_stdout_ && !exists && errno != ENOENT) fail();
  if (!is_stdout_ && exists && ::fstat(STDOUT_FILENO, &out) == 0) {
    is_stdout_ = out.st_dev == about.st_dev && out.st_ino == about.st_ino;
  }
  if (is_stdout_) {
    fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(about.st_mode)) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (exists && !may_replace) throw bad_data(fmt::format("{}: exists; --force replaces it", path));
    mode_ = exists ? about.st_mode & 07777 : permissions_of_new_file();
    open_temporary();
  }
  if (fd_ < 0) fail();
}

void output_file::open_temporary() {
  target_ = after_links(path_);
  temporary_ = target_ + ".XXXXXX";
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // No signal comes between the file and the handlers that remove it.
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ >= 0) guard_unfinished(temporary_);
  const int failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = failure;
}

output_file::~output_file() {
  unfinished_file = nullptr;
  if (fd_ < 0) return;
  ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::write(std::span<const std::byte> bytes) {
  if (!write_all(fd_, bytes.data(), bytes.size())) fail();
}

void output_file::commit() {
  if (!temporary_.empty()) {
    if (::fchmod(fd_, mode_) != 0 || ::fsync(fd_) != 0) fail();
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
    unfinished_file = nullptr;
  }
  if (::close(std::exchange(fd_, -1)) != 0) fail();
}

void output_file::fail() const { throw bad_data(fmt::format("{}: {}", path_, std::strerror(errno))); }

progress::progress(std::string task) : task_(std::move(task)) {
  if (::isatty(STDERR_FILENO) == 0) return;
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {  // Without another thread there is no line of progress.
  }
}

void progress::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void progress::set_task(std::string task) {
  const std::lock_guard lock(mutex_);
  task_ = std::move(task);
}

void progress::show() {
  const auto start = std::chrono::steady_clock::now();
  std::size_t width = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(width == 0 ? 1000 : 250), [this] { return done_; })) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::string line = fmt::format("\rfanin: {}, {:.0f} s", task_, elapsed.count());
    if (bytes_ > 0) line += fmt::format(", {:.2f} GB", static_cast<double>(bytes_) / 1e9);
    const std::size_t shown = line.size();
    if (shown < width) line.append(width - shown, ' ');
    width = std::max(width, shown);
    write_all(STDERR_FILENO, line.data(), line.size());
  }
  const std::string blank = "\r" + std::string(width, ' ') + "\r";
  if (width > 0) write_all(STDERR_FILENO, blank.data(), blank.size());
}

}  // namespace fanin::cli
