// What an accumulator is: the arithmetic of a reduction, without any hardware.
//
// An accumulator A names its `element` and its trivially copyable `state` and offers, as static functions,
//   identity()              the state of nothing
//   add(state&, element)    one more element          -- on host and device
//   merge(state&, state)    the elements of another   -- on host and device
//   finish<R>(state, count) the value, canonical      -- on host and device; for integers on the host: throws
//   overflow
// add and merge are different functions even where their types agree: a state may be wider than an element.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/accumulator/int128.hpp>
#include <fanin/export.hpp>

namespace fanin::accumulator {

using fanin::detail::int128;
using fanin::detail::uint128;

/// Every NaN leaves the library as this one: quiet, positive, no payload.
template <class T>
FANIN_HOST_DEVICE T canonical(T value) {
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

/// The identity of IEEE addition: x + -0 is x for every x, -0 included, which +0 is not.
template <class T>
FANIN_HOST_DEVICE constexpr T additive_identity() {
  return -T{0};
}

}  // namespace fanin::accumulator
