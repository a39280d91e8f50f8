// SPDX-License-Identifier: Apache-2.0
// The output of the process: stdout in one write, files that are complete or absent, and a progress line on stderr.
#pragma once

#include <sys/types.h>

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

/// An output under a path. A new file appears under its name, complete, when commit() returns, and a regular file is
/// replaced then, with the same permissions; where `path` is a symbolic link, its target is created or replaced. What
/// is no regular file (a device, a pipe) and what standard output has open is written as it is. Only one output_file
/// may exist at a time.
class output_file {
 public:
  /// "-" is standard output. @throws bad_data, also if `path` is a regular file and `may_replace` is false
  output_file(const std::string& path, bool may_replace);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();
  /// Whether the bytes go to standard output.
  bool is_stdout() const noexcept { return is_stdout_; }

 private:
  void open_temporary();
  [[noreturn]] void fail() const;

  std::string path_;
  std::string target_;     ///< `path_` after symbolic links
  std::string temporary_;  ///< the file that becomes `target_`; empty: `path_` is written as it is
  mode_t mode_ = 0;        ///< the permissions of the new file
  int fd_ = -1;
  bool is_stdout_ = false;
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
