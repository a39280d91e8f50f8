// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

bad_data system_failure(std::string_view what) { return bad_data(fmt::format("{}: {}", what, std::strerror(errno))); }

/// A pipe that a child process writes to. The text that has arrived is kept.
class capture {
 public:
  capture() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw system_failure("pipe");
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~capture() {
    ::close(ends_[0]);
    close_writer();
  }
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;

  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  /// What poll() waits for; nothing after the end of the text.
  pollfd waiting() const { return {ended_ ? -1 : ends_[0], POLLIN, 0}; }
  /// Takes what has arrived, until the text is longer than `most` bytes.
  void take(std::size_t most) {
    char block[65536];
    while (!ended_ && text_.size() <= most) {
      const ssize_t got = ::read(ends_[0], block, sizeof block);
      if (got < 0) return;
      ended_ = got == 0;
      text_.append(block, static_cast<std::size_t>(got));
    }
  }
  const std::string& text() const { return text_; }

 private:
  int ends_[2];
  bool ended_ = false;
  std::string text_;
};

/// A child process, which the destructor kills if it still runs.
class running_child {
 public:
  explicit running_child(pid_t id) : id_(id) {}
  ~running_child() {
    if (done_) return;
    ::kill(id_, SIGKILL);
    while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  running_child(const running_child&) = delete;
  running_child& operator=(const running_child&) = delete;

  bool has_ended() { return done_ = done_ || ::waitpid(id_, &state_, WNOHANG) == id_; }
  /// The status of waitpid(), once has_ended().
  int state() const { return state_; }

 private:
  pid_t id_;
  bool done_ = false;
  int state_ = 0;
};

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

pid_t start(const std::string& program, const std::vector<std::string>& arguments, int out, int err) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  pid_t child = 0;
  const int problem = ::posix_spawn(&child, program.c_str(), &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (problem != 0) throw bad_data(fmt::format("{}: {}", program, std::strerror(problem)));
  return child;
}

}  // namespace

std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const child_limits& limits) {
  // The end of the child process does not wake poll() while a process that it left behind has the pipe.
  constexpr int look_milliseconds = 20;
  capture out, err;
  const double end = measure::now_seconds() + limits.seconds;
  running_child child(start(program, arguments, out.writer(), err.writer()));
  out.close_writer();
  err.close_writer();
  for (bool ended = false; !ended;) {
    pollfd both[] = {out.waiting(), err.waiting()};
    ::poll(both, std::size(both), look_milliseconds);
    ended = child.has_ended();
    for (capture* one : {&out, &err}) {
      one->take(limits.output_bytes);
      if (one->text().size() <= limits.output_bytes) continue;
      throw bad_data(fmt::format("{}: stopped, because it wrote more than {} bytes", program, limits.output_bytes));
    }
    if (!ended && measure::now_seconds() > end) {
      throw bad_data(fmt::format("{}: stopped, because it took longer than {} s", program, limits.seconds));
    }
  }
  const int state = child.state();
  if (WIFSIGNALED(state)) throw bad_data(fmt::format("{}: {}", program, ::strsignal(WTERMSIG(state))));
  if (WEXITSTATUS(state) != 0) {
    throw bad_data(fmt::format("{}: exit status {}: {}", program, WEXITSTATUS(state), last_line(err.text())));
  }
  return out.text();
}

}  // namespace fanin::cli
