// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/process.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fanin::cli {

void check_failure(const finished& run, int status, std::string_view message) {
  INFO("stderr: ", run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK(run.err.starts_with("fanin: "));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  CHECK(run.err.find(message) != std::string::npos);
}

json parsed(const finished& run) {
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  return json::parse(run.out);
}

scratch_folder::scratch_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fanin_test_XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

finished scratch_folder::shell(const std::string& command) const {
  // The output files are outside the directory, so that a test can list the files that the command left there.
  const std::string out = path_ + ".out", err = path_ + ".err";
  const std::string line = "cd '" + path_ + "' && unset FANIN_BACKEND && fanin='" FANIN_TOOL "' && { " + command +
                           "\n} </dev/null >'" + out + "' 2>'" + err + "'";
  const int state = std::system(line.c_str());
  const auto take = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    return text;
  };
  finished result;
  result.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.out = take(out);
  result.err = take(err);
  return result;
}

void scratch_folder::write(const std::string& name, std::string_view content) const {
  std::ofstream file(path_ + "/" + name, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  REQUIRE(file.good());
}

std::string scratch_folder::read(const std::string& name) const {
  std::ifstream file(path_ + "/" + name, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fanin::cli
