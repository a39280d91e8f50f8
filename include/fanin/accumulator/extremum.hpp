// SPDX-License-Identifier: Apache-2.0
// Smallest and largest element. Any NaN gives NaN, and -0 is smaller than +0, so that the result does not depend on
// the order.
#pragma once

#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>

namespace fanin {
namespace accumulator {

namespace detail {

/// Whether a < b, with -0 < +0. Neither is NaN.
template <class T>
FANIN_HOST_DEVICE inline bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  } else {
    return a < b;
  }
}

}  // namespace detail

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
    if (x != x || (s == s && (Largest ? detail::before(s, x) : detail::before(x, s)))) s = x;
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

}  // namespace accumulator

template <class T>
struct recipe_for<operation::min, method::fast, T> : accumulator::uses<accumulator::smallest<T>> {};
template <class T>
struct recipe_for<operation::max, method::fast, T> : accumulator::uses<accumulator::largest<T>> {};

}  // namespace fanin
