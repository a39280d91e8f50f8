// SPDX-License-Identifier: Apache-2.0
// Smallest and largest element. Any NaN gives NaN, and -0 is smaller than +0, so that the result does not depend on
// the order.
#pragma once

#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>

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
    if constexpr (std::is_same_v<T, float>) {  // one instruction, to which -0 < +0 and any NaN wins
      if constexpr (Largest) {
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(s) : "f"(x));
      } else {
        asm("min.NaN.f32 %0, %0, %1;" : "+f"(s) : "f"(x));
      }
      return;
    }
#endif
    bool wins = Largest ? s < x : x < s;  // false for a state that is NaN
    if constexpr (std::is_floating_point_v<T>) wins |= (x != x) | ((s == x) & (std::signbit(x) != Largest));
    s = wins ? x : s;
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
