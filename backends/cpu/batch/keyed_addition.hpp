// SPDX-License-Identifier: Apache-2.0
// States of accumulators, each with the number of its elements.
#pragma once

#include <new>

#include <fanin/recipe.hpp>

#include "backends/cpu/batch/group_states.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

/// The functions on states of an accumulator that are followed by a count.
struct keyed_addition {
  std::size_t state_bytes, count_offset;
  void (*reset)(void* state);
  void (*add)(void* states, const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first);
  void (*merge)(void* into, const void* from);
};

/// Whether elements are added to the states of their groups. Elements of other accumulators are sorted by key
/// instead.
template <class A>
constexpr bool is_added_by_key = false;
template <std::floating_point T, class Term>
constexpr bool is_added_by_key<accumulator::plain_sum<T, Term>> = true;
template <std::floating_point T, class Term>
constexpr bool is_added_by_key<accumulator::compensated_sum<T, Term>> = true;
template <std::floating_point T>
constexpr bool is_added_by_key<accumulator::plain_square_sum<T>> = true;
template <std::floating_point T>
constexpr bool is_added_by_key<accumulator::compensated_square_sum<T>> = true;
template <std::floating_point T>
constexpr bool is_added_by_key<accumulator::plain_product<T>> = true;
template <std::integral T>
constexpr bool is_added_by_key<accumulator::integer_sum<T>> = sizeof(T) >= 4;
template <computable T, bool Largest>
constexpr bool is_added_by_key<accumulator::extremum<T, Largest>> = sizeof(T) >= 4;
template <computable T, bool Largest>
constexpr bool is_added_by_key<accumulator::first_extremum<T, Largest>> = true;

/// Whether x is behind the extremum in a state of A for certain. One comparison shows that for most floats, without
/// the rules for NaN and zeros.
template <class A>
constexpr auto is_behind = [](const auto&, auto) { return false; };
template <std::floating_point T, bool Largest>
constexpr auto is_behind<accumulator::extremum<T, Largest>> =
    [](T extremum, T x) { return Largest ? x < extremum : extremum < x; };
template <std::floating_point T, bool Largest>
constexpr auto is_behind<accumulator::first_extremum<T, Largest>> =
    [](const indexed<T>& first, T x) { return is_behind<accumulator::extremum<T, Largest>>(first.value, x); };

template <class A>
constexpr keyed_addition keyed_addition_of() {
  struct counted {
    typename A::state state;
    std::uint64_t count;
  };
  return {sizeof(counted), offsetof(counted, count),
          [](void* state) {
            ::new (state) counted{A::identity(), 0};
          },
          [](void* states, const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first) {
            auto* const all = static_cast<counted*>(states);
            for (std::size_t i = 0; i < count; ++i) {
              counted& one = all[group[i]];
              const auto element = static_cast<const typename A::element*>(x)[i];
              if (!is_behind<A>(one.state, element)) accumulator::add_at<A>(one.state, first + i, element);
              ++one.count;
            }
          },
          [](void* into, const void* from) {
            auto& sum = *static_cast<counted*>(into);
            const auto& more = *static_cast<const counted*>(from);
            A::merge(sum.state, more.state);
            sum.count += more.count;
          }};
}

/// The states of groups by a keyed_addition.
group_states_factory keyed_states(const keyed_addition& addition);

}  // namespace fanin::cpu
