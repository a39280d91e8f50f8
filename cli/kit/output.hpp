// The output of the process: stdout in one write, files that are complete or absent, and a progress line on stderr.
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

/// Writes `text` to stdout and closes stdout, which reports a full disk. Call write_stdout() once, at the end.
/// @throws bad_data
void write_stdout(std::string_view text);

/// Writes one line to stderr, which begins with "fanin: ". Control characters become '?'.
void write_stderr(std::string_view line);

/// A file that appears under its name, complete, when commit() returns. Only one output_file may exist at a time.
class output_file {
 public:
  /// @throws bad_data, also if `path` exists and is not a regular file
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

/// A progress line on stderr, shown after one second if stderr is a terminal. Call end(), which erases the line,
/// before other output; the destructor calls end().
class progress {
 public:
  explicit progress(std::string task);
  ~progress() { end(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void end();
  void set_task(std::string task);
  void add_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }

 private:
  void show();

  std::atomic<std::uint64_t> bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string task_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace fanin::cli
