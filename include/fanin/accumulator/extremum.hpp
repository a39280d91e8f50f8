// SPDX-License-Identifier: Apache-2.0
// Smallest and largest elements, alone, together, or with their positions. Any NaN gives NaN, and -0 is smaller than
// +0, so that the result does not depend on the order.
#pragma once

#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/form.hpp>

namespace fanin {
namespace accumulator {

/// The smallest or largest element; the state is that element, or NaN. The extremum of no elements does not exist, so
/// callers reject a count of 0.
template <class T, bool Largest>
struct extremum {
  using element = T;
  using state = T;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() {
    if constexpr (std::is_floating_point_v<T>) {
      return Largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    } else {
      return Largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    }
  }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {  // one instruction, with -0 < +0 and NaN for any NaN
      if constexpr (Largest) {
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(s) : "f"(x));
      } else {
        asm("min.NaN.f32 %0, %0, %1;" : "+f"(s) : "f"(x));
      }
      return;
    }
#endif
    s = replaces(x, s) ? x : s;
  }
  /// Whether x takes the place of s. Any NaN does. As the largest element +0 takes the place of -0, and as the
  /// smallest element -0 takes the place of +0.
  FANIN_HOST_DEVICE static bool replaces(element x, element s) {
    bool wins = Largest ? s < x : x < s;  // false for an s that is NaN
    if constexpr (std::is_floating_point_v<T>) wins |= (x != x) | ((s == x) & (std::signbit(x) != Largest));
    return wins;
  }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { add(s, other); }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t) {
    if constexpr (std::is_floating_point_v<T>) return canonical(s);
    return s;
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return {};
  }
};

template <class T>
using smallest = extremum<T, false>;
template <class T>
using largest = extremum<T, true>;

/// The smallest and the largest element.
template <class T>
struct both_extrema {
  using element = T;
  using state = extremes<T>;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {smallest<T>::identity(), largest<T>::identity()}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { merge(s, {x, x}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    smallest<T>::merge(s.min, other.min);
    largest<T>::merge(s.max, other.max);
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count) {
    return {smallest<T>::template finish<T>(s.min, count), largest<T>::template finish<T>(s.max, count)};
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return {};
  }
};

/// The largest magnitude, which the smallest or the largest element has. No elements give +0.
template <class T>
struct largest_magnitude : both_extrema<T> {
  using folds_as = both_extrema<T>;
  template <class R>
  FANIN_HOST_DEVICE static R finish(const extremes<T>& s, std::uint64_t count) {
    if (count == 0) return 0;
    const auto low = magnitude_term::of(s.min), high = magnitude_term::of(s.max);
    return largest<R>::template finish<R>(low < high ? high : low, count);
  }
};

/// The smallest or largest element with the position of the first element that is equal to it. -0 and +0 are not
/// equal here, and any two NaNs are.
template <class T, bool Largest>
struct first_extremum {
  using element = T;
  using state = indexed<T>;
  using value = extremum<T, Largest>;
  static constexpr bool largest = Largest;
  static constexpr bool order_free = true;
  static constexpr bool wants_position = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {value::identity(), ~std::uint64_t{0}}; }
  FANIN_HOST_DEVICE static void add(state& s, element x, std::uint64_t position) { merge(s, {x, position}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    if (replaces(other, s)) s = other;
  }
  FANIN_HOST_DEVICE static bool replaces(const state& other, const state& s) {
    const bool beyond = value::replaces(other.value, s.value);
    const bool behind = value::replaces(s.value, other.value);
    return beyond != behind ? beyond : other.index < s.index;
  }
  /// Adds N elements that lie one after another from `position` on. The state may then have the index `position`,
  /// even if its element is a later one of the N. Its place is the first from this index on for which is_at()
  /// holds. So a loop over many elements needs one index for N elements.
  template <int N>
  FANIN_HOST_DEVICE static void add_run(state& s, const element (&x)[N], std::uint64_t position) {
    element best = x[0];
    for (int i = 1; i < N; ++i) value::add(best, x[i]);
    merge(s, {best, position});
  }
  FANIN_HOST_DEVICE static bool is_at(const state& s, element x) {
    return value::replaces(x, s.value) == value::replaces(s.value, x);
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count) {
    return {value::template finish<T>(s.value, count), s.index};
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return {};
  }
};

}  // namespace accumulator

template <computable T>
struct recipe_for<operation::min, method::fast, T> : accumulator::uses<accumulator::smallest<T>> {};
template <computable T>
struct recipe_for<operation::max, method::fast, T> : accumulator::uses<accumulator::largest<T>> {};
template <computable T>
struct recipe_for<operation::minmax, method::fast, T> : accumulator::uses<accumulator::both_extrema<T>> {};
template <computable T>
struct recipe_for<operation::max_magnitude, method::fast, T> : accumulator::uses<accumulator::largest_magnitude<T>> {
};
template <computable T>
struct recipe_for<operation::argmin, method::fast, T> : accumulator::uses<accumulator::first_extremum<T, false>> {};
template <computable T>
struct recipe_for<operation::argmax, method::fast, T> : accumulator::uses<accumulator::first_extremum<T, true>> {};

}  // namespace fanin
