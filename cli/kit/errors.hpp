// The two ways in which the command itself fails; the library's own errors are in fanin/error.hpp.
#pragma once

#include <stdexcept>
#include <string>

#include <fanin/error.hpp>

namespace fanin::cli {

/// Unreadable or malformed input, or output that cannot be written: exit status 1.
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

/// Cases could not be decided, and that was to be an error: exit status 4.
struct undecided_cases : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs f; where the library objects to the elements (an integer total that does not fit, min of nothing), the
/// message names the input. For calls whose options have been checked. @throws bad_data
template <class F>
auto naming(const std::string& input, F f) {
  const auto named = [&](const error& problem) { return bad_data(input + ": " + problem.what()); };
  try {
    return f();
  } catch (const overflow& problem) {
    throw named(problem);
  } catch (const invalid_argument& problem) {
    throw named(problem);
  }
}

}  // namespace fanin::cli
