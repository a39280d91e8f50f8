// SPDX-License-Identifier: Apache-2.0
// What an accumulator is: the arithmetic of a reduction, without any hardware.
//
// An accumulator A names its `element` and its trivially copyable `state` and offers, as static functions,
//   identity()                        the state of no elements
//   add(state&, element)              one more element          -- on host and device
//   merge(state&, const state&)       the elements of another   -- on host and device
//   finish<R>(state, count)           the value, canonical      -- on host and device; of integers on the host only,
//                                                                  where it throws overflow
// and as constants and further functions
//   order_free                        whether any order of additions and merges gives the same value
//   bound<R>(rounding_chain, count)   the proven error bound    -- on the host
//   inputs                            2 where add() takes an element of each of two arrays; 1 where it is left out
//   wants_position                    whether add() takes the element's 64-bit position in the input as well; false
//                                     where it is left out
//   folds_as                          an accumulator of the same state, identity, add and merge, whose loops and
//                                     kernels serve this one too; itself where it is left out
//   merges_as                         an accumulator of the same state, identity and merge, whatever is added; itself
//                                     where it is left out
//   of_lane(x, count, lane, lanes)    the state of x[lane], x[lane + lanes], ... below x[count]: where the general
//   loop
//                                     of CPUs takes a lane of a leaf at once instead of calling add()
//   add_run, is_at                    adding elements that lie one after another at once, on devices: extremum.hpp
//   rounds_once                       whether finish<R> rounds the exact value to any floating type R; false where it
//                                     is left out
//   of_floats                         the accumulator that adds the elements as floats, where they are narrower, and
//                                     has the same states: widening.hpp
// add and merge are different functions even where their types agree: a state may be wider than an element.
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

/// Has as `type` the accumulator that serves an operation, method and element type. Each header of accumulator/
/// specialises recipe_for for its accumulators; where all methods are the same, only method::fast has a
/// specialisation.
template <operation What, method How, class T>
struct recipe_for {};

namespace accumulator {

using fanin::detail::int128;
using fanin::detail::uint128;

/// The base of the specialisations of recipe_for: names A as `type`.
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

/// Adds an element, or one of each input, and its position in the whole input if A has a parameter for it.
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
/// The accumulator that stands for all that merge A's states as A does.
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
/// The accumulator that adds A's elements as numbers in which machines compute.
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
