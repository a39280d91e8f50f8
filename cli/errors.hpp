// The two ways in which the command itself fails; the library's own errors are in fanin/error.hpp.
#pragma once

#include <stdexcept>

namespace fanin::cli {

/// Unreadable or malformed input, or output that cannot be written: exit status 1.
struct bad_data : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line asks for something that does not exist or makes no sense: exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace fanin::cli
