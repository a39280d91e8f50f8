// SPDX-License-Identifier: Apache-2.0
// Offers the same bytes as a regular file, which the command maps, and as a pipe, which it reads.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace fanin::fuzz {

/// The outcome of reading an input: its elements as bytes with the types of its columns, or the message of
/// bad_data or usage_error.
struct read_input {
  std::vector<std::byte> elements;
  std::vector<element_type> types;
  std::string error;
  bool operator==(const read_input&) const = default;
};

/// Calls read(found), which appends to the elements and the types. Any other exception is a finding.
template <class Read>
read_input outcome_of(Read read) {
  read_input found;
  try {
    read(found);
  } catch (const cli::bad_data& problem) {
    found = {{}, {}, problem.what()};
  } catch (const cli::usage_error& problem) {
    found = {{}, {}, problem.what()};
  }
  return found;
}

inline void append(read_input& all, const array_view& column) {
  const auto* const bytes = static_cast<const std::byte*>(column.data);
  all.elements.insert(all.elements.end(), bytes, bytes + column.bytes());
  all.types.push_back(column.type);
}

/// A descriptor that has the same number for files and pipes, so that messages name both inputs alike.
class numbered_descriptor {
 public:
  enum class kind : std::uint8_t { file, pipe };
  /// A pipe holds up to `most_bytes`.
  static constexpr std::size_t most_bytes = 60'000;
  static constexpr int number = 200;

  numbered_descriptor(kind made, std::span<const std::uint8_t> bytes) {
    int ends[2] = {-1, -1};
    if (made == kind::file) ends[1] = ::memfd_create("fuzz", 0);
    if (made == kind::pipe && ::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const auto written = ::write(ends[1], bytes.data(), bytes.size());
    const bool complete = written == static_cast<ssize_t>(bytes.size());
    const int moved = ::dup2(ends[made == kind::pipe ? 0 : 1], number);
    for (const int end : ends) ::close(end);
    if (!complete || moved != number) throw std::runtime_error("no descriptor for the input");
  }
  ~numbered_descriptor() { ::close(number); }
  numbered_descriptor(const numbered_descriptor&) = delete;
  numbered_descriptor& operator=(const numbered_descriptor&) = delete;

  static std::string path() { return "/proc/self/fd/" + std::to_string(number); }
};

/// The input that the options describe, whatever their path is, as a file or as a pipe.
inline read_input read_as(numbered_descriptor::kind made, std::span<const std::uint8_t> bytes,
                          cli::input_options arguments) {
  const numbered_descriptor open(made, bytes);
  arguments.path = numbered_descriptor::path();
  return outcome_of([&](read_input& found) {
    cli::source input(arguments);
    for (std::size_t i = 0; i < std::max<std::size_t>(input.columns().size(), 1); ++i) append(found, input.load(i));
    input.finish();
  });
}

}  // namespace fanin::fuzz
