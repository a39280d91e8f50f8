// SPDX-License-Identifier: Apache-2.0
// The errors of the command. The errors of the library are in fanin/error.hpp.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fanin/error.hpp>

namespace fanin::cli {

/// The input is unreadable or malformed, or the output cannot be written: exit status 1.
struct bad_data : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line asks for something that does not exist or makes no sense: exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A case became slower: exit status 3.
struct regression : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `fanin regress` without --lenient left cases undecided: exit status 4.
struct undecided_cases : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns f(), which calls the library with options that have been checked.
/// @throws bad_data if the library rejects the elements (an integer total overflows, min of no elements); the message
/// names the input, and advises if a total overflows
template <class F>
auto with_input_name(const std::string& input, F f, std::string_view advice = {}) {
  try {
    return f();
  } catch (const overflow& problem) {
    throw bad_data(input + ": " + problem.what() + std::string(advice));
  } catch (const invalid_argument& problem) {
    throw bad_data(input + ": " + problem.what());
  }
}

}  // namespace fanin::cli
