// SPDX-License-Identifier: Apache-2.0
// The largest key of a short line and its first place, in one word of 32 bits.
#pragma once

#include "backends/cuda/keys.hpp"

namespace fanin::cuda {

/// Finds what A does, for keys of 8 or 16 bits in lines of fewer than 65535 elements. The key is in the upper bits of
/// the state, and the complement of the place in the lower bits. So the largest state has the largest key, and the
/// first place of equal keys. The state of no elements is 0.
template <class A>
struct packed_place : A {
  using word = typename A::element;
  using state = std::uint32_t;
  static constexpr unsigned place_bits = 32 - 8 * sizeof(word);
  static constexpr state places = (state{1} << place_bits) - 1;

  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s = s < other ? other : s; }
  /// Adds the first `count` keys, or all if there are no more, from the place `place` on. `count` is not 0.
  template <int N>
  FANIN_HOST_DEVICE static void add_first(state& s, const word (&keys)[N], int count, unsigned place) {
    state best = 0;  // with the place in the vector, which is a constant
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int i = 0; i < N; ++i) {
      if (i < count) merge(best, state{keys[i]} << place_bits | static_cast<state>(N - 1 - i));
    }
    merge(s, best + (places - (N - 1) - place));
  }
  FANIN_HOST_DEVICE static typename A::state unpacked(state s) {
    return s == 0 ? A::identity() : typename A::state{static_cast<word>(s >> place_bits), places - (s & places)};
  }
};

template <class A>
inline constexpr bool is_packed_place = false;
template <class A>
inline constexpr bool is_packed_place<packed_place<A>> = true;

/// Whether the keys of A and their places in short lines fit into 32 bits.
template <class A>
inline constexpr bool packs_places = false;
template <class Word>
inline constexpr bool packs_places<keyed<accumulator::first_extremum<Word, true>>> = sizeof(Word) <= 2;

/// The accumulator that folds short lines for A.
template <class A>
using form_in_lines = typename std::conditional_t<packs_places<A>, packed_place<A>, A>;
/// The state of A of a short line.
template <class A>
FANIN_HOST_DEVICE typename A::state state_of_line(const typename form_in_lines<A>::state& s) {
  if constexpr (packs_places<A>) {
    return form_in_lines<A>::unpacked(s);
  } else {
    return s;
  }
}

}  // namespace fanin::cuda
