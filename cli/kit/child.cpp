#include "cli/kit/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

/// A temporary file for the output of a child process. Unlike a pipe, the file takes any amount without a reader.
class capture {
 public:
  capture() : file_(std::tmpfile()) {
    if (!file_) throw bad_data(fmt::format("temporary file: {}", std::strerror(errno)));
  }
  int descriptor() const { return ::fileno(file_.get()); }
  std::string text() const {
    std::string all;
    char block[4096];
    std::rewind(file_.get());
    while (const std::size_t got = std::fread(block, 1, sizeof block, file_.get())) all.append(block, got);
    return all;
  }

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, closer> file_;
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

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  const capture out, err;
  const pid_t child = start(program, arguments, out.descriptor(), err.descriptor());
  int state = 0;
  while (::waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) throw bad_data(fmt::format("{}: {}", program, std::strerror(errno)));
  }
  if (WIFSIGNALED(state)) throw bad_data(fmt::format("{}: {}", program, ::strsignal(WTERMSIG(state))));
  if (WEXITSTATUS(state) != 0) {
    throw bad_data(fmt::format("{}: exit status {}: {}", program, WEXITSTATUS(state), last_line(err.text())));
  }
  return out.text();
}

}  // namespace fanin::cli
