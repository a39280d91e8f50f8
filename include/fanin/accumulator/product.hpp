// SPDX-License-Identifier: Apache-2.0
// Products of floating-point numbers.
#pragma once

#include <fanin/accumulator/accumulator.hpp>

namespace fanin {
namespace accumulator {

/// Product of T in T. Error <= g(n - 1) |P| unless an intermediate product over- or underflows [Higham 2002, 3.1].
template <class T>
struct plain_product {
  using element = T;
  using state = T;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return T{1}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s *= x; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s *= other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t) {
    return canonical(s);
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t count) {
    return product_bound<T>(count);
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::product, method::fast, T> : accumulator::uses<accumulator::plain_product<T>> {};

}  // namespace fanin
