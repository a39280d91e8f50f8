// What leaves the process: stdout all at once, files whole or not at all, and a progress line.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace fanin::cli {

/// Writes everything to stdout and closes it, so that a full disk is noticed. Call once, last. @throws bad_data
void write_stdout(std::string_view text);

/// One line on stderr that begins with "fanin: "; control characters in it become '?'.
void say(std::string_view line);

/// A file that appears under its name when commit() returns, whole, and never before; one at a time.
class output_file {
 public:
  /// @throws bad_data, also if the name belongs to something other than a regular file
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_, temporary_;
  int fd_ = -1;
};

/// A line on stderr that says what is being done, from the first second on, if stderr is a terminal.
/// end() erases it, before anything else is written; so does the destructor.
class progress {
 public:
  explicit progress(std::string doing);
  ~progress() { end(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void end();
  void now(std::string doing);
  void add_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }

 private:
  void show();

  std::atomic<std::uint64_t> bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string doing_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace fanin::cli
