// SPDX-License-Identifier: Apache-2.0
// Tests that mapped and streamed files give the same elements, and that a truncated file gives one line and status 1.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cli/input/npy.hpp"
#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

/// A temporary file, which the destructor removes.
class scratch_file {
 public:
  explicit scratch_file(std::string_view content, const std::string& extension = "") {
    path_ += extension;
    fd_ = ::mkstemps(path_.data(), static_cast<int>(extension.size()));
    REQUIRE(fd_ >= 0);
    REQUIRE(::write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  }
  ~scratch_file() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/fanin_source_XXXXXX";
  int fd_ = -1;
};

std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::vector<double> load(const input_options& options) {
  source input(options);
  REQUIRE(input.type() == element_type::f64);
  const array_view all = input.load();
  std::vector<double> values(all.count);
  if (all.count > 0) std::memcpy(values.data(), all.data, all.bytes());
  input.finish();
  return values;
}

TEST_SUITE_BEGIN("source");

TEST_CASE("aligned binary data is mapped, other data is streamed") {
  const std::vector<double> values = counted(300'000);  // More than two blocks.
  for (const std::uint64_t skip : {0, 8, 1, 7, 13}) {
    CAPTURE(skip);
    const scratch_file file(std::string(skip, 'x') + bytes_of(values));
    const input_options options{.path = file.path(), .format = "raw", .type = "f64", .skip = skip};
    CHECK(source(options).whole().has_value() == (skip % 8 == 0));
    CHECK(load(options) == values);
  }
}

TEST_CASE("raw: a count takes the front") {
  const scratch_file file(bytes_of(counted(10)) + "tail");
  CHECK(load({.path = file.path(), .type = "f64", .skip = 16, .count = 3}) == std::vector<double>{3, 4, 5});
  CHECK_THROWS_AS(source({.path = file.path(), .format = "raw", .type = "f64"}), bad_data);
  CHECK(load({.path = file.path(), .type = "f64", .count = 10}) == counted(10));
  CHECK_THROWS_AS(source({.path = file.path(), .type = "f64", .count = 11}), bad_data);
  CHECK(load({.path = file.path(), .type = "f64", .skip = 84}).empty());
  CHECK_THROWS_WITH_AS(source({.path = file.path(), .type = "f64", .skip = 85}),
                       doctest::Contains("--skip 85 goes beyond its 84 bytes"), bad_data);
}

TEST_CASE("a name's last four characters, in any case, are its format") {
  struct entry {
    std::string extension, format;
  };
  for (const entry& one : {entry{".csv", "csv"},
                           {".CSV", "csv"},
                           {".tsv", "csv"},
                           {".txt", "text"},
                           {".bin", "raw"},
                           {".raw", "raw"},
                           {"", "text"},
                           {".dat", "text"}}) {
    CAPTURE(one.extension);
    const scratch_file file("1234567 ", one.extension);
    const source input({.path = file.path(), .type = "f64"});
    CHECK(input.format() == one.format);
  }
  const scratch_file table("a\tb\n1\t2\n", ".tsv");
  CHECK(load({.path = table.path(), .type = "f64", .column = "b"}) == std::vector<double>{2});
}

TEST_CASE("options of another format are refused") {
  const scratch_file text("1 2\n", ".txt"), binary(bytes_of(counted(2)), ".bin");
  CHECK_THROWS_AS(source({.path = text.path(), .skip = 1}), usage_error);
  CHECK_THROWS_AS(source({.path = text.path(), .count = 1}), usage_error);
  CHECK_THROWS_AS(source({.path = text.path(), .format = "text", .column = "1"}), usage_error);
  CHECK_THROWS_AS(source({.path = text.path(), .format = "text", .header = true}), usage_error);
  CHECK_THROWS_AS(source({.path = binary.path(), .type = "f64", .delimiter = ","}), usage_error);
}

TEST_CASE("bytes that no number has are not text") {
  for (const char odd : {'\0', '\x1f', '\x7f', '\x80', '\xff'}) {
    CAPTURE(odd);
    CHECK_THROWS_AS(source({.path = scratch_file(std::string("1 ") + odd).path()}), bad_data);
  }
  CHECK(source({.path = scratch_file("~").path()}).format() == "text");
}

TEST_CASE("npy: size and header agree, whatever the header's length") {
  const std::vector<double> values = counted(5);
  const std::string header = write_npy_header(element_type::f64, values.size());
  const scratch_file good(header + bytes_of(values)), longer(header + bytes_of(values) + "x"),
      shorter(header + bytes_of(values).substr(1));
  CHECK(load({.path = good.path()}) == values);
  CHECK_THROWS_AS(source({.path = longer.path()}), bad_data);
  CHECK_THROWS_AS(source({.path = shorter.path()}), bad_data);

  std::string odd = header;
  odd.replace(odd.size() - 2, 1, "");
  --odd[8];
  const scratch_file unaligned(odd + bytes_of(values));
  CHECK_FALSE(source({.path = unaligned.path()}).whole().has_value());
  CHECK(load({.path = unaligned.path()}) == values);
}

TEST_CASE("without --format, a type alone does not make input raw") {
  const scratch_file text("1 2\n"),
      marked(
          "\xEF\xBB\xBF"
          "1"),
      binary(bytes_of(counted(2)));
  CHECK(source({.path = text.path(), .type = "i32"}).format() == "text");
  CHECK(source({.path = marked.path()}).format() == "text");
  CHECK(source({.path = binary.path(), .type = "f64", .count = 1}).format() == "raw");
  CHECK(source({.path = binary.path(), .type = "f64", .skip = 8}).format() == "raw");
  CHECK_THROWS_AS(source({.path = binary.path(), .type = "f64"}), bad_data);
  CHECK_NOTHROW(source({.path = binary.path(), .format = "text"}));
}

TEST_CASE("what is skipped is as long as asked") {
  std::string bytes(200'000, 'a');
  bytes[100'000] = 'b';
  const scratch_file file(bytes);
  REQUIRE(::lseek(file.fd(), 0, SEEK_SET) == 0);
  byte_reader in(file.fd(), "x");
  CHECK(in.skip(100'000) == 100'000);
  CHECK(in.peek(1)[0] == std::byte{'b'});
  CHECK(in.skip(100'001) == 100'000);
}

TEST_CASE("a signal does not end the input") {
  struct sigaction noted = {}, before = {};
  noted.sa_handler = [](int) {};  // Without SA_RESTART a read that waits returns EINTR.
  REQUIRE(::sigaction(SIGUSR1, &noted, &before) == 0);
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pthread_t reader = ::pthread_self();
  std::jthread writer([&] {
    for (const char c : {'1', '2'}) {
      for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ::pthread_kill(reader, SIGUSR1);
      }
      CHECK(::write(channel[1], &c, 1) == 1);
    }
    ::close(channel[1]);
  });
  byte_reader in(channel[0], "pipe");
  CHECK(in.peek(5).size() == 2);
  writer.join();
  ::close(channel[0]);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("csv: a field as long as a block") {
  const std::string field(std::size_t{1} << 20, 'x');
  const scratch_file file("1," + field + "\n2," + field + "\n"), longer("1," + field + "x\n");
  CHECK(load({.path = file.path(), .type = "f64", .column = "1"}) == std::vector<double>{1, 2});
  CHECK_THROWS_AS(load({.path = longer.path(), .column = "1"}), bad_data);
}

TEST_CASE("a file that shrinks inside its last page is noticed at the end") {
  const scratch_file file(bytes_of(counted(4)));
  source input({.path = file.path(), .format = "raw", .type = "f64"});
  input.finish();
  REQUIRE(::ftruncate(file.fd(), 8) == 0);
  CHECK_THROWS_AS(input.finish(), bad_data);
}

TEST_CASE("a file of the same size that is written while it is read is noticed at the end") {
  const scratch_file file(bytes_of(counted(4)));
  const timespec before[] = {{1'000'000'000, 0}, {1'000'000'000, 0}},
                 after[] = {{1'000'000'000, 1}, {1'000'000'000, 1}};
  REQUIRE(::futimens(file.fd(), before) == 0);
  source input({.path = file.path(), .format = "raw", .type = "f64"});
  input.finish();
  REQUIRE(::pwrite(file.fd(), "x", 1, 0) == 1);
  CHECK_THROWS_AS(input.finish(), bad_data);
  REQUIRE(::futimens(file.fd(), after) == 0);  // The smallest difference.
  CHECK_THROWS_AS(input.finish(), bad_data);
  REQUIRE(::futimens(file.fd(), before) == 0);
  input.finish();
}

TEST_CASE("a file that shrinks while it is read ends the process with one line and status 1") {
  const scratch_file file(bytes_of(counted(100'000)));
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(channel[1], STDERR_FILENO);
    const source input({.path = file.path(), .format = "raw", .type = "f64"});
    if (::ftruncate(file.fd(), 0) != 0) ::_exit(90);
    const auto* last = static_cast<const volatile double*>(input.whole()->data) + input.whole()->count - 1;
    ::_exit(*last == 0 ? 91 : 92);
  }
  ::close(channel[1]);
  char line[300] = {};
  const ssize_t length = ::read(channel[0], line, sizeof line - 1);
  ::close(channel[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  REQUIRE(length > 0);
  CHECK(std::string(line) == "fanin: " + file.path() + ": the file was cut short while it was read\n");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
