// SPDX-License-Identifier: Apache-2.0
// The temporary file that has to go away when a signal ends the process.
#pragma once

#include <unistd.h>

#include <atomic>

namespace fanin::cli {

/// The path of the temporary file, or null. The string belongs to the only output_file.
inline std::atomic<const char*> unfinished_file = nullptr;

/// Removes the temporary file. Signal handlers may call it.
inline void remove_unfinished_file() noexcept {
  if (const char* path = unfinished_file) ::unlink(path);
}

}  // namespace fanin::cli
