// SPDX-License-Identifier: Apache-2.0
// The first extremal element of several participants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <fanin/accumulator/ordered.hpp>
#include <fanin/compiler.hpp>

namespace fanin::cuda {

/// A number's integer, by which participants find the smallest or the largest one: NaN is beyond all numbers.
template <class T>
FANIN_HOST_DEVICE std::int64_t key_of(T x, bool smallest) {
  using keys = std::numeric_limits<std::int64_t>;
  return accumulator::ordered(x, smallest ? keys::min() : keys::max());
}

/// The first extremal element of a participant's elements, and how many it has.
struct candidate {
  std::int64_t key;
  std::uint64_t index;  ///< without_elements if it has none
  std::uint64_t count;
  static constexpr std::uint64_t without_elements = ~std::uint64_t{0};
};

/// The first extremal element of all participants, whose elements follow each other.
FANIN_HOST_DEVICE inline candidate first_of(const candidate* all, std::size_t number, bool smallest) {
  candidate best = all[0];
  std::uint64_t before = all[0].count;
  for (std::size_t i = 1; i < number; ++i) {
    const candidate& next = all[i];
    const bool is_better = smallest ? next.key < best.key : next.key > best.key;
    if (next.index != candidate::without_elements && (is_better || best.index == candidate::without_elements)) {
      best = {next.key, before + next.index, 0};
    }
    before += next.count;
  }
  return {best.key, best.index, before};
}

}  // namespace fanin::cuda
