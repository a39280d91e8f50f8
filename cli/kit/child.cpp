// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
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
  /// The event that poll() waits for. There is none after the end of the text.
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

void append_pointers(std::vector<char*>& to, const std::vector<std::string>& texts) {
  for (const std::string& one : texts) to.push_back(const_cast<char*>(one.c_str()));
  to.push_back(nullptr);
}

/// Starts the program in a process group of its own. `err` is its stderr and `out` its stdout, which is /dev/null if
/// `out` is -1.
pid_t start(const child_request& wanted, int out, int err, const sigset_t& blocked) {
  std::vector<char*> words = {const_cast<char*>(wanted.program.c_str())}, variables;
  append_pointers(words, wanted.arguments);
  for (char** one = environ; *one != nullptr; ++one) variables.push_back(*one);
  append_pointers(variables, wanted.variables);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (out >= 0) ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (out < 0) ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  if (!wanted.folder.empty()) ::posix_spawn_file_actions_addchdir_np(&files, wanted.folder.c_str());
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigmask(&attributes, &blocked);
  pid_t child = 0;
  const int problem =
      ::posix_spawn(&child, wanted.program.c_str(), &files, &attributes, words.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (problem != 0) throw bad_data(fmt::format("{}: {}", wanted.program, std::strerror(problem)));
  return child;
}

/// The signals that end fanin from the terminal or from outside, and their actions from before there was a child
/// process.
constexpr std::array ending_signals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
struct sigaction actions_before[ending_signals.size()];
volatile pid_t running_group = 0;

/// Kills the group of the child process. The signal then has the action from before there was a child process.
void kill_group_and_raise(int signal) {
  const int interrupted_call = errno;
  ::kill(-running_group, SIGKILL);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    if (ending_signals[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
  }
  ::raise(signal);  // The signal is blocked until this handler returns.
  errno = interrupted_call;
}

/// Blocks every signal.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

/// A child process in a process group of its own, which a terminal's signals do not reach. A signal that ends fanin
/// kills the group, unless fanin ignores the signal; so does the destructor. Only one running_child may exist at a
/// time.
class running_child {
 public:
  running_child(const child_request& wanted, int out, int err) {
    const blocked_signals none_arrives;
    ::signal(SIGCHLD,
             SIG_DFL);  // While it is ignored, which exec keeps, no end of a child process can be waited for.
    id_ = start(wanted, out, err, none_arrives.before());
    running_group = id_;
    end_ = static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
    struct sigaction killing = {};
    killing.sa_handler = kill_group_and_raise;
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      ::sigaction(ending_signals[i], nullptr, &actions_before[i]);
      if (actions_before[i].sa_handler != SIG_IGN) ::sigaction(ending_signals[i], &killing, nullptr);
    }
  }
  ~running_child() {
    ::kill(-id_, SIGKILL);  // also processes that an ended child has left behind
    while (!done_ && ::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      struct sigaction now = {};
      ::sigaction(ending_signals[i], nullptr, &now);
      if (now.sa_handler == kill_group_and_raise) ::sigaction(ending_signals[i], &actions_before[i], nullptr);
    }
    if (end_ >= 0) ::close(end_);
  }
  running_child(const running_child&) = delete;
  running_child& operator=(const running_child&) = delete;

  /// The event that poll() waits for until the child process ends. There is none before Linux 5.3.
  pollfd waiting() const { return {end_, POLLIN, 0}; }
  bool has_ended() { return done_ = done_ || ::wait4(id_, &state_, WNOHANG, &used_) == id_; }
  /// The status of waitpid(), once has_ended().
  int state() const { return state_; }
  double cpu_seconds() const {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used_.ru_utime) + seconds(used_.ru_stime);
  }

 private:
  pid_t id_;
  int end_;
  bool done_ = false;
  int state_ = 0;
  rusage used_ = {};
};

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return bounded_quote(std::string_view(text).substr(text.rfind('\n') + 1));
}

bool is_program(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

finished_child run_child(const child_request& wanted) {
  const child_limits& limits = wanted.limits;
  // Before Linux 5.3 the end of the child process may not wake poll().
  constexpr int look_milliseconds = 20;
  capture out, err;
  const double begin = measure::now_seconds();
  running_child child(wanted, wanted.keep_output ? out.writer() : -1, err.writer());
  out.close_writer();
  err.close_writer();
  double seconds = 0;
  for (bool ended = false; !ended;) {
    pollfd awaited[] = {out.waiting(), err.waiting(), child.waiting()};
    ::poll(awaited, std::size(awaited), look_milliseconds);
    ended = child.has_ended();
    seconds = measure::now_seconds() - begin;
    for (capture* one : {&out, &err}) {
      one->take(limits.output_bytes);
      if (one->text().size() <= limits.output_bytes) continue;
      throw bad_data(
          fmt::format("{}: stopped, because it wrote more than {} bytes", wanted.program, limits.output_bytes));
    }
    if (!ended && seconds > limits.seconds) {
      throw bad_data(fmt::format("{}: stopped, because it took longer than {} s", wanted.program, limits.seconds));
    }
  }
  const int state = child.state();
  if (WIFSIGNALED(state)) throw bad_data(fmt::format("{}: {}", wanted.program, ::strsignal(WTERMSIG(state))));
  if (WEXITSTATUS(state) != 0 && !wanted.may_fail) {
    const std::string why = last_line(err.text());
    throw bad_data(
        fmt::format("{}: exit status {}{}{}", wanted.program, WEXITSTATUS(state), why.empty() ? "" : ": ", why));
  }
  return {out.text(), seconds, child.cpu_seconds()};
}

std::optional<std::string> find_program(const std::string& name) {
  if (is_program(name)) return name;
  if (name.empty() || name.find('/') != std::string::npos) return {};
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = fmt::format("{}/{}", rest.substr(0, end), name);
    if (end > 0 && is_program(candidate)) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string bounded_quote(std::string_view text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return std::string(text);
  return fmt::format("{}... ({} bytes)", text.substr(0, most), text.size());
}

}  // namespace fanin::cli
