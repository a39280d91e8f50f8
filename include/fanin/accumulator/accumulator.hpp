// SPDX-License-Identifier: Apache-2.0
// An accumulator is the arithmetic of a reduction, without any hardware.
//
// An accumulator A names its type `element` and its trivially copyable type `state`. It has these static functions:
//   identity()                        the state of no elements
//   add(state&, element)              adds one element; on host and device
//   merge(state&, const state&)       adds the elements of another state; on host and device
//   finish<R>(state, count)           the value, canonical; on host and device. A finish() that throws overflow is on
//                                     the host only.
//   order_free                        a constant: whether any order of additions and merges gives the same value
// These members are optional:
//   bound<R>(rounding_chain, count)   the proven error bound; on the host
//   inputs                            2 if add() takes an element of each of two arrays (default: 1)
//   wants_position                    whether add() also takes the element's 64-bit position (default: false)
//   folds_as                          an accumulator of the same state, identity, add and merge, whose loops and
//                                     kernels serve A too (default: A)
//   merges_as                         an accumulator of the same state, identity and merge (default: A)
//   of_strided(x, count, first, stride)
//                                     the state of x[first], x[first + stride], ... below x[count]. The general loop
//                                     of CPUs calls it for each state of a leaf's row, in place of add().
//   add_run, is_at                    add elements that lie one after another at once, on devices: extremum.hpp
//   rounds_once                       whether finish<R> rounds the exact value to any floating R (default: false)
//   of_floats                         for narrow and complex elements: the accumulator with the same states that adds
//                                     floats: widening.hpp, complex.hpp
// add and merge are different functions even if their types agree, because a state may be wider than an element.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/bounds.hpp>
#include <fanin/accumulator/int128.hpp>
#include <fanin/catalog.hpp>
#include <fanin/compiler.hpp>

namespace fanin {

/// The member `type` is the accumulator for an operation, a method and an element type. Each header of
/// accumulator/ specialises recipe_for for its accumulators. If all methods of an operation are the same, only
/// method::fast has a specialisation.
template <operation What, method How, class T>
struct recipe_for {};

namespace accumulator {

using fanin::detail::int128;
using fanin::detail::uint128;

/// The base of the specialisations of recipe_for. Its member `type` is A.
template <class A>
struct uses {
  using type = A;
};

template <class A>
consteval std::size_t inputs_of() {
  if constexpr (requires { A::inputs; }) {
    return A::inputs;
  } else {
    return 1;
  }
}

template <class A>
consteval bool wants_position() {
  if constexpr (requires { A::wants_position; }) {
    return A::wants_position;
  } else {
    return false;
  }
}

/// Adds one element of each input. If A wants positions, the element's position in the whole input is passed to A.
template <class A, class... T>
FANIN_HOST_DEVICE inline void add_at(typename A::state& s, std::uint64_t position, const T&... x) {
  if constexpr (wants_position<A>()) {
    A::add(s, x..., position);
  } else {
    A::add(s, x...);
  }
}

template <class A>
struct folds_as {
  using type = A;
};
template <class A>
requires requires { typename A::folds_as; }
struct folds_as<A> {
  using type = typename A::folds_as;
};
/// The accumulator whose loops and kernels serve A.
template <class A>
using folds_as_t = typename folds_as<A>::type;

template <class A>
struct merges_as {
  using type = A;
};
template <class A>
requires requires { typename A::merges_as; }
struct merges_as<A> {
  using type = typename A::merges_as;
};
/// All accumulators that merge the same states in the same way have the same merges_as_t.
template <class A>
using merges_as_t = typename merges_as<A>::type;

template <class A>
struct of_floats {
  using type = A;
};
template <class A>
requires requires { typename A::of_floats; }
struct of_floats<A> {
  using type = typename A::of_floats;
};
/// The accumulator that adds A's elements as floats in which machines compute. By default it is A.
template <class A>
using of_floats_t = typename of_floats<A>::type;

/// Replaces any NaN by the one NaN that the library returns: quiet, positive, no payload.
template <class T>
FANIN_HOST_DEVICE T canonical(T value) {
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

/// The identity of IEEE addition: x + -0 is x for every x. +0 is not an identity, because -0 + +0 is +0.
template <class T>
FANIN_HOST_DEVICE constexpr T additive_identity() {
  return -T{0};
}

/// The term of a plain sum: the element itself.
struct plain_term {
  template <class T>
  FANIN_HOST_DEVICE static T of(T x) {
    return x;
  }
};

/// The term of a sum of magnitudes: |x|, exactly. A float has its sign bit cleared; an integer becomes unsigned.
struct magnitude_term {
  template <class T>
  FANIN_HOST_DEVICE static auto of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else {
      const auto bits = static_cast<std::uint64_t>(x);
      return static_cast<std::make_unsigned_t<T>>(x < 0 ? 0 - bits : bits);
    }
  }
};

}  // namespace accumulator
}  // namespace fanin
