// SPDX-License-Identifier: Apache-2.0
// One input of the differential fuzzer: the operation and its elements, and the checks that tell them when they fail.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/differential_truth.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace fanin::fuzz {

/// The input at hand as text.
inline std::function<std::string()> tell_input;

/// Checks like expect(), with the input in the line.
inline void require(bool holds, std::string_view invariant, const std::string& more = {},
                    const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
  if (!holds) expect(false, std::string(invariant) + ": " + more + "; " + tell_input(), file, line);
}

/// The number of values that were judged; the end of the process prints it.
struct case_counter {
  std::uint64_t cases = 0;
  case_counter& operator++() {
    ++cases;
    return *this;
  }
  ~case_counter() { std::fprintf(stderr, "stat::cases_compared: %" PRIu64 "\n", cases); }
};
inline case_counter cases_compared;

/// The number in hexadecimal.
template <class T>
std::string in_hex(T x) {
  if constexpr (complex_number<T>) {
    return "(" + in_hex(x.real()) + ", " + in_hex(x.imag()) + ")";
  } else {
    char text[40];
    if constexpr (std::is_integral_v<T>) {
      std::snprintf(text, sizeof text, "%s%#llx", x < 0 ? "-" : "",
                    x < 0 ? 0 - static_cast<unsigned long long>(x) : static_cast<unsigned long long>(x));
    } else {
      std::snprintf(text, sizeof text, "%a", static_cast<double>(x));
    }
    return text;
  }
}

template <class T>
std::string in_hex(std::span<const T> x) {
  constexpr std::size_t most = 200;
  std::string text;
  for (const T& one : x.first(std::min(most, x.size()))) text += (text.empty() ? "" : ", ") + in_hex(one);
  return "{" + text + (x.size() > most ? ", ...}" : "}");
}

/// The elements of one input in memory, which repeat a pattern, and y, one element behind x.
template <class T>
struct fuzzed {
  operation what;
  std::vector<T> pattern, behind;
  std::vector<T> memory;
  /// A number that the bytes of the input give. It decides where elements are cut, and to which results they
  /// belong.
  std::uint64_t seed;

  fuzzed(operation what_, std::vector<T> pattern_, std::size_t count, std::uint64_t seed_)
      : what(what_), pattern(std::move(pattern_)), seed(seed_) {
    pattern.resize(std::min(pattern.size(), count));
    if (pattern.empty()) return;
    behind = pattern;
    std::rotate(behind.begin(), behind.begin() + 1, behind.end());
    memory.resize(count + 1);
    for (std::size_t i = 0; i <= count; ++i) memory[i] = pattern[i % pattern.size()];
  }

  std::size_t count() const { return memory.empty() ? 0 : memory.size() - 1; }
  std::mt19937_64 random() const { return std::mt19937_64(seed); }
  repeated<T> x() const { return {pattern, behind, count()}; }
  input_views views() const {
    const std::span<const T> all(memory);
    const array_view first(all.first(count())), second(all.last(count()));
    return row_of(what).inputs == 2 ? input_views(first, second) : input_views(first);
  }

  std::string told() const {
    return std::string(to_string(what)) + " of " + std::to_string(count()) + " " +
           std::string(to_string(type_of<T>)) + " that repeat " + in_hex<T>(pattern) +
           (row_of(what).inputs == 2 ? ", with those one further" : "");
  }
};

}  // namespace fanin::fuzz
