// SPDX-License-Identifier: Apache-2.0
// Accumulators of words for tests of kernels that run on the CPU.
#pragma once

#include <cstring>

#include "backends/cuda/recipes.hpp"

namespace fanin::accumulator {
inline bool operator==(const scaled_sum& a, const scaled_sum& b) { return a.largest == b.largest && a.sum == b.sum; }
inline bool operator==(const integer_moments& a, const integer_moments& b) {
  return a.sum == b.sum && a.squares == b.squares && a.squares_high == b.squares_high;
}
}  // namespace fanin::accumulator

namespace fanin::test {
namespace {

/// K, an accumulator of words that kernels fold for `What` of elements T, as one of the including file's own
/// (block_on_cpu.hpp).
template <class T, operation What, class K>
struct local : K {
  using tested = T;
  static const cuda::element_rule& rule_of_words() {
    static const cuda::element_rule rule = cuda::rule_of(What, type_of<T>);
    return rule;
  }
};

/// The word of a number.
template <class A>
typename A::element word_of(typename A::tested x) {
  typename A::element word;
  std::memcpy(&word, &x, sizeof x);
  return word;
}
/// The number that A adds for a word.
template <class A>
auto number_of(typename A::element word) {
  if constexpr (requires { A::read(word, A::rule_of_words()); }) {
    return A::read(word, A::rule_of_words());
  } else {
    return word;
  }
}

}  // namespace
}  // namespace fanin::test
