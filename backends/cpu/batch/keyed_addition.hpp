// SPDX-License-Identifier: Apache-2.0
// States of accumulators, each with the number of its elements.
#pragma once

#include <new>

#include <fanin/recipe.hpp>

#include "backends/cpu/batch/group_states.hpp"
#include "backends/cpu/batch/keyed_terms.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

/// The functions on states of an accumulator that are followed by a count.
struct keyed_addition {
  std::size_t state_bytes, count_offset;
  void (*reset)(void* state);
  void (*add)(void* states, const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first);
  void (*merge)(void* into, const void* from);
};

/// The accumulator `type` adds the terms of A's elements to the states of their groups. Elements of accumulators
/// without a `type` are sorted by key instead.
template <class A>
struct added_by_key {};
template <class A, term_kind Terms = term_kind::elements>
struct adds_by {
  using type = A;
  static constexpr term_rule terms{Terms};
};
template <std::floating_point T, class Term>
struct added_by_key<accumulator::plain_sum<T, Term>> : adds_by<accumulator::plain_sum<T, Term>> {};
template <std::floating_point T, class Term>
struct added_by_key<accumulator::compensated_sum<T, Term>> : adds_by<accumulator::compensated_sum<T, Term>> {};
template <std::floating_point T>
struct added_by_key<accumulator::plain_square_sum<T>> : adds_by<accumulator::plain_square_sum<T>> {};
template <std::floating_point T>
struct added_by_key<accumulator::compensated_square_sum<T>> : adds_by<accumulator::compensated_square_sum<T>> {};
template <std::floating_point T>
struct added_by_key<accumulator::plain_product<T>> : adds_by<accumulator::plain_product<T>> {};
template <std::floating_point T>
struct added_by_key<accumulator::plain_moments<T>> : adds_by<accumulator::plain_moments<T>> {};
template <std::floating_point T>
struct added_by_key<accumulator::compensated_moments<T>> : adds_by<accumulator::compensated_moments<T>> {};

/// Adds elements as compensated_moments<T> does, by the best instruction set of this machine. A state is the four
/// numbers of compensated_double_moments and a count.
template <class T>
void add_compensated_moments(void* states, const std::uint32_t* group, const T* x, std::size_t count);

/// Sums of 64 bits: of Term::of(x), or of x and its square.
template <class Term>
struct short_sum {
  using element = std::int64_t;
  using state = std::int64_t;
  static constexpr state identity() { return 0; }
  static void add(state& s, element x) { s += Term::of(x); }
  static void merge(state& s, state other) { s += other; }
};
struct itself {
  static std::int64_t of(std::int64_t x) { return x; }
};
struct square {
  static std::int64_t of(std::int64_t x) { return x * x; }
};
struct one_if_nonzero {
  static std::int64_t of(std::int64_t x) { return x != 0 ? 1 : 0; }
};
struct short_moments {
  using element = std::int64_t;
  struct state {
    std::int64_t sum, squares;
  };
  static constexpr state identity() { return {0, 0}; }
  static void add(state& s, element x) { merge(s, {x, x * x}); }
  static void merge(state& s, const state& other) {
    s.sum += other.sum;
    s.squares += other.squares;
  }
};
/// Squares of integers of 32 bits fit in 64 bits, and the sums of these in 128.
struct square_of_word {
  static std::uint64_t of(std::int64_t x) { return static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x); }
};
struct square_sum_of_words {
  using element = std::int64_t;
  using state = accumulator::uint128;
  static constexpr state identity() { return 0; }
  static void add(state& s, element x) { s += square_of_word::of(x); }
  static void merge(state& s, state other) { s += other; }
};
struct moments_of_words {
  using element = std::int64_t;
  struct state {
    std::int64_t sum;
    std::uint64_t low, high;  ///< of the sum of the squares
  };
  static constexpr state identity() { return {0, 0, 0}; }
  static void add(state& s, element x) { merge(s, {x, square_of_word::of(x), 0}); }
  static void merge(state& s, const state& other) {
    s.sum += other.sum;
    s.low += other.low;
    s.high += other.high + (s.low < other.low ? 1 : 0);
  }
};
template <class A, int Sums = 1, term_kind Terms = term_kind::integers, int Words = 0>
struct adds_short {
  using type = A;
  static constexpr term_rule terms{Terms, 0, Sums, false, Words};
};

/// Other integers are added as integers of 64 bits, whose accumulators have the same states.
template <class A>
using adds_integers = adds_by<A, term_kind::integers>;
template <class T>
using wide_integer = std::conditional_t<std::same_as<T, std::uint64_t>, std::uint64_t, std::int64_t>;
template <std::integral T>
struct added_by_key<accumulator::integer_sum<T>>
    : std::conditional_t<sizeof(T) <= 4, adds_short<short_sum<itself>>,
                         adds_integers<accumulator::integer_sum<wide_integer<T>>>> {};
template <std::integral T>
struct added_by_key<accumulator::integer_sum<T, accumulator::magnitude_term>>
    : adds_integers<accumulator::integer_sum<wide_integer<T>, accumulator::magnitude_term>> {};
template <std::integral T>
struct added_by_key<accumulator::integer_square_sum<T>>
    : std::conditional_t<sizeof(T) <= 2, adds_short<short_sum<square>>,
                         std::conditional_t<sizeof(T) == 4, adds_integers<square_sum_of_words>,
                                            adds_integers<accumulator::integer_square_sum<wide_integer<T>>>>> {};
template <std::integral T>
struct added_by_key<accumulator::integer_dispersion<T>>
    : std::conditional_t<sizeof(T) <= 2, adds_short<short_moments, 2>,
                         std::conditional_t<sizeof(T) == 4, adds_short<moments_of_words, 1, term_kind::integers, 2>,
                                            adds_integers<accumulator::integer_dispersion<wide_integer<T>>>>> {};
template <std::integral T>
struct added_by_key<accumulator::integer_product<T>> : adds_integers<accumulator::integer_product<wide_integer<T>>> {
};
template <computable T>
struct added_by_key<accumulator::nonzero_count<T>> : adds_short<short_sum<one_if_nonzero>, 1, term_kind::nonzero> {};
template <computable T, bool All>
struct added_by_key<accumulator::nonzero_test<T, All>> : added_by_key<accumulator::nonzero_count<T>> {};

template <computable T, bool Largest>
struct added_by_key<accumulator::extremum<T, Largest>> : adds_by<accumulator::largest<std::int64_t>> {
  static constexpr term_rule terms{Largest ? term_kind::keys : term_kind::inverted_keys, 1};
};
template <computable T>
struct added_by_key<accumulator::both_extrema<T>> : adds_by<accumulator::both_extrema<std::int64_t>> {
  static constexpr term_rule terms{term_kind::keys, 2};
};
template <computable T, bool Largest>
struct added_by_key<accumulator::first_extremum<T, Largest>>
    : adds_by<accumulator::first_extremum<std::int64_t, true>> {
  static constexpr term_rule terms{Largest ? term_kind::keys : term_kind::inverted_keys, 1, 0, true};
  static_assert(offsetof(indexed<T>, index) == sizeof(std::int64_t));
};

/// Whether x leaves a state of A as it is for certain. One comparison is then enough for most elements: of keys up to
/// the largest key, and of products that are 0. Elements are added in the order of their positions.
template <class A>
constexpr auto is_idle = [](const auto&, auto) { return false; };
template <>
inline constexpr auto is_idle<accumulator::first_extremum<std::int64_t, true>> =
    [](const indexed<std::int64_t>& first, std::int64_t x) { return x <= first.value && ~first.index != 0; };
template <std::integral T>
constexpr auto is_idle<accumulator::integer_product<T>> = [](const auto& s, T) { return s.magnitude == 0; };

template <class A>
struct counted_state {
  typename A::state state;
  std::uint64_t count;

  static void reset(void* state) { ::new (state) counted_state{A::identity(), 0}; }
  static void add(void* states, const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first) {
    using element = typename A::element;
    if constexpr (std::same_as<A, accumulator::compensated_moments<element>>) {
      static_assert(sizeof(counted_state) == 5 * sizeof(double));
      return add_compensated_moments(states, group, static_cast<const element*>(x), count);
    }
    auto* const all = static_cast<counted_state*>(states);
    for (std::size_t i = 0; i < count; ++i) {
      counted_state& one = all[group[i]];
      const element one_x = static_cast<const element*>(x)[i];
      if (!is_idle<A>(one.state, one_x)) accumulator::add_at<A>(one.state, first + i, one_x);
      ++one.count;
    }
  }
  static void merge(void* into, const void* from) {
    auto& sum = *static_cast<counted_state*>(into);
    const auto& more = *static_cast<const counted_state*>(from);
    A::merge(sum.state, more.state);
    sum.count += more.count;
  }
};

/// The addition that adds terms by A.
template <class A>
inline constexpr keyed_addition keyed_addition_by{sizeof(counted_state<A>), offsetof(counted_state<A>, count),
                                                  counted_state<A>::reset, counted_state<A>::add,
                                                  counted_state<A>::merge};

/// The states of groups by a keyed_addition of terms of elements of `type`.
group_states_factory keyed_states(const keyed_addition& addition, term_rule terms, element_type type);

}  // namespace fanin::cpu
