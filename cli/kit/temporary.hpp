// SPDX-License-Identifier: Apache-2.0
// A folder for intermediate files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/kit/errors.hpp"

namespace fanin::cli {

/// A new folder, which the destructor removes with all that is in it.
class temporary_folder {
 public:
  temporary_folder() : path_((std::filesystem::temp_directory_path() / "fanin_XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw bad_data(path_ + ": cannot be made");
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace fanin::cli
