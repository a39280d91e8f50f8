// SPDX-License-Identifier: Apache-2.0
// Tells which operations have the state of an exact sum of the elements or of their squares.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/catalog.hpp>

namespace fanin {

/// The power of the elements that is added up, 1 or 2; 0 for operations without such a state.
constexpr int power_of_state(operation what) {
  switch (what) {
    case operation::sum:
    case operation::mean:
    case operation::sum_of_magnitudes:
      return 1;
    case operation::sum_of_squares:
    case operation::norm2:
      return 2;
    default:
      return 0;
  }
}

/// Calls f.template operator()<T, Power>() for the basic_exact_accumulator<T, Power> that is the state of `what` for
/// elements of `type`. Returns false, and calls nothing, if there is none.
template <class F>
bool with_exact_state(operation what, element_type type, F f) {
  const int power = power_of_state(what);
  if (power == 0 || !is_floating(type)) return false;
  const bool wide = type == element_type::f64;
  if (power == 1) {
    wide ? f.template operator()<double, 1>() : f.template operator()<float, 1>();
  } else {
    wide ? f.template operator()<double, 2>() : f.template operator()<float, 2>();
  }
  return true;
}

}  // namespace fanin
