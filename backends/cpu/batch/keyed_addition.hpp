// SPDX-License-Identifier: Apache-2.0
// The keyed_addition of an accumulator.
#pragma once

#include <algorithm>

#include "backends/cpu/batch/keyed_states.hpp"
#include "backends/cpu/loops.hpp"

namespace fanin::cpu {

/// Whether elements are added to the states of their groups. Elements of other accumulators are sorted by key
/// instead.
template <class A>
constexpr bool is_added_by_key = false;
template <std::floating_point T>
constexpr bool is_added_by_key<acc::plain_sum<T>> = true;
template <std::floating_point T>
constexpr bool is_added_by_key<acc::compensated_sum<T>> = true;
template <std::integral T>
constexpr bool is_added_by_key<acc::integer_sum<T>> = sizeof(T) >= 4;
template <computable T, bool Largest>
constexpr bool is_added_by_key<acc::extremum<T, Largest>> = sizeof(T) >= 4;

/// Adds x to lane `lane` of a state as the loops of A have it.
template <class A>
void add_to_lane(std::byte* state, std::uint64_t lane, typename A::element x) {
  if constexpr (A::order_free) {
    A::add(*reinterpret_cast<typename A::state*>(state), x);
  } else {
    auto& row = *reinterpret_cast<plane_row<A>*>(state);
    auto one = row.state_of(lane);
    A::add(one, x);
    row.set(lane, one);
  }
}

template <class A, class Key>
std::size_t add_by_key(keyed_states& to, const Key* keys, const void* data, std::size_t count,
                       std::uint64_t& outside) {
  constexpr std::size_t state_bytes = loop<A>::functions.state_bytes;
  const auto* const x = static_cast<const typename A::element*>(data);
  const std::uint64_t first = to.first(), groups = to.groups();
  std::byte* const states = to.states();
  std::uint64_t* const counts = to.counts();
  std::size_t first_outside = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t g = std::uint64_t{keys[i]} - first;
    if (g >= groups) {
      first_outside = std::min(first_outside, i);
      ++outside;
      continue;
    }
    const std::uint64_t n = counts[g]++;
    add_to_lane<A>(states + g * state_bytes, n % detail::row_width_of<A>, x[i]);
    if constexpr (!A::order_free) {
      if (n % detail::leaf_of<A> == detail::leaf_of<A> - 1) to.close_leaf(g);
    }
  }
  return first_outside;
}

}  // namespace fanin::cpu
