// SPDX-License-Identifier: Apache-2.0
// Chooses at run time which exact sum, of the elements or of their squares, is the state of an operation.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/catalog.hpp>

namespace fanin {

/// Calls f.template operator()<T, Power>() for the basic_exact_accumulator<T, Power> that is the state of `what` for
/// elements of `type`. Returns false, and calls nothing, if there is none.
template <class F>
bool with_exact_state(operation what, element_type type, F f) {
  const int power = power_of(row_of(what));
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
