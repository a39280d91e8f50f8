// SPDX-License-Identifier: Apache-2.0
// The loops of accumulators of complex numbers.
#pragma once

#include "backends/cpu/complexes.hpp"
#include "backends/cpu/loops.hpp"

namespace fanin::cpu {

/// The total of complex numbers in rows of states of real ones. The parts of element i are in the states 2 i and
/// 2 i + 1, which make(2 i, 2 i + 1) puts together.
template <class C, class Make>
typename C::state total_of_states(const Make& make) {
  typename detail::ordered_loop<C>::row row;
  for (std::size_t i = 0; i < detail::row_width_of<C>; ++i) row.states[i] = make(2 * i, 2 * i + 1);
  return detail::ordered_loop<C>::total(row);
}

/// Parts in a fixed order: the array is one of twice as many real numbers.
template <class A>
requires has_simd_leaf<A>
struct loop<acc::componentwise<A>> {
  using C = acc::componentwise<A>;
  using row = plane_row<A>;
  static_assert(row::row_width == 2 * detail::row_width_of<C>);
  static constexpr arithmetic functions = [] {
    arithmetic f = loop<A>::functions;
    f.element_bytes = sizeof(typename C::element);
    f.leaf_elements = detail::leaf_of<C>;
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      loop<A>::functions.accumulate(data, 2 * count, state);
    };
    return f;
  }();
  static typename C::state total(const void* state) {
    const row& parts = *static_cast<const row*>(state);
    return total_of_states<C>([&](std::size_t re, std::size_t im) -> typename C::state {
      return {parts.state_of(re), parts.state_of(im)};
    });
  }
};
/// Parts whose order does not matter.
template <class A>
requires(A::order_free) struct loop<acc::componentwise<A>> {
  using C = acc::componentwise<A>;
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<C>();
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      auto& parts = *static_cast<typename C::state*>(state);
      fold_parts(loop<A>::functions, data, count, &parts.re, &parts.im);
    };
    return f;
  }();
  static typename C::state total(const void* state) { return detail::general_total<C>(state); }
};

template <class A, bool Conjugated>
struct loop<acc::complex_dot<A, Conjugated>> {
  using C = acc::complex_dot<A, Conjugated>;
  static constexpr const arithmetic& reals = loop<A>::functions;

  static void* second(void* state) { return static_cast<std::byte*>(state) + reals.state_bytes; }
  static const void* second(const void* state) { return static_cast<const std::byte*>(state) + reals.state_bytes; }
  static void accumulate(const operands& data, std::size_t count, void* state) {
    fold_products(functions, reals, Conjugated, data, count, state);
  }

  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<C>();
    f.state_bytes = 2 * reals.state_bytes;
    f.reset = [](void* state) {
      reals.reset(state);
      reals.reset(loop::second(state));
    };
    f.accumulate = accumulate;
    f.merge = [](void* into, const void* from) {
      reals.merge(into, from);
      reals.merge(loop::second(into), loop::second(from));
    };
    return f;
  }();
  static typename C::state total(const void* state) {
    if constexpr (C::order_free) {
      return *static_cast<const typename C::state*>(state);
    } else {
      const auto* const rows = static_cast<const plane_row<A>*>(state);
      return total_of_states<C>([&](std::size_t of_re, std::size_t of_im) -> typename C::state {
        return {{rows[0].state_of(of_re), rows[0].state_of(of_im)},
                {rows[1].state_of(of_re), rows[1].state_of(of_im)}};
      });
    }
  }
};

template <class T>
struct loop<acc::complex_product<T>> {
  using A = acc::complex_product<T>;
  static_assert(sizeof(typename detail::ordered_loop<A>::row) == detail::row_bytes);
  static void accumulate(const operands& data, std::size_t count, void* state) {
    fold_factors(functions, data, count, state);
  }
  static void merge(void* into, const void* from) { merge_factors(functions, into, from); }
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.accumulate = accumulate;
    f.merge = merge;
    return f;
  }();
  static typename A::state total(const void* state) { return detail::general_total<A>(state); }
};

template <class T>
struct loop<acc::modulus_sum<T>> {
  static constexpr arithmetic functions = [] {
    arithmetic f = loop<acc::plain_sum<T>>::functions;
    f.element_bytes = sizeof(std::complex<T>);
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      fold_moduli(loop<acc::plain_sum<T>>::functions, data, count, state);
    };
    return f;
  }();
  static T total(const void* state) { return loop<acc::plain_sum<T>>::total(state); }
};

}  // namespace fanin::cpu
