// SPDX-License-Identifier: Apache-2.0
// The loops of the accumulators that have faster ones than the general loop.
#pragma once

#include <algorithm>
#include <concepts>

#include "backends/cpu/complex_loops.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/fold.hpp"
#include "backends/cpu/integers.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/loops.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/products.hpp"
#include "backends/cpu/proven.hpp"

namespace fanin::cpu {

template <class T>
struct loop<acc::integer_sum<T>> : unordered_loop<acc::integer_sum<T>, add_integers<T, false>> {};
template <class T>
struct loop<acc::integer_sum<T, acc::magnitude_term>>
    : unordered_loop<acc::integer_sum<T, acc::magnitude_term>, add_integers<T, true>> {};
template <class T>
struct loop<acc::integer_square_sum<T>> : unordered_loop<acc::integer_square_sum<T>, add_integer_squares<T>> {};
template <class T>
struct loop<acc::integer_dispersion<T>> : unordered_loop<acc::integer_dispersion<T>, add_integer_moments<T>> {};
template <class T>
struct loop<acc::integer_product<T>> : unordered_loop<acc::integer_product<T>, multiply_integers<T>> {};

template <class T, bool Largest>
void take_extremum(const T* x, std::size_t count, T& best) {
  if (count == 0) return;
  const bool long_input = is_long<T>(count);
  acc::extremum<T, Largest>::merge(
      best, Largest ? largest_leaf(x, count, long_input) : smallest_leaf(x, count, long_input));
}
template <class T, bool Largest>
struct loop<acc::extremum<T, Largest>> : unordered_loop<acc::extremum<T, Largest>, take_extremum<T, Largest>> {};

/// Adds each tile by at_once(), or if that returns false, by otherwise(). Where at_once() fails again and again, most
/// tiles are added by otherwise() at once.
template <class T, class AtOnce, class Otherwise>
void add_tiles(const T* x, std::size_t count, const AtOnce& at_once, const Otherwise& otherwise) {
  constexpr std::size_t shortest = 512;
  attempt_order attempts;
  while (count > 0) {
    const std::size_t n = std::min(count, proven_tile<T>);
    if (n < shortest || !attempts.add(1, [&](int) { return at_once(x, n); })) otherwise(x, n);
    x += n;
    count -= n;
  }
}

/// Adds magnitudes as they are read, or writes them to a block on the stack, which stays in the L1 cache, and adds
/// the block.
template <class T>
void add_exact_magnitudes(const T* x, std::size_t count, exact_accumulator<T>& into) {
  const auto by_blocks = [&](const T* tile, std::size_t length) {
    alignas(64) T magnitudes[twice_read<T>()];
    for (std::size_t begin = 0; begin < length; begin += std::size(magnitudes)) {
      const std::size_t n = std::min(std::size(magnitudes), length - begin);
      write_magnitudes(tile + begin, n, magnitudes);
      add_exact(magnitudes, n, into);
    }
  };
  add_tiles(
      x, count, [&](const T* tile, std::size_t n) { return add_magnitude_tile(tile, n, into); }, by_blocks);
}

/// Adds elements of 16 bits as floats, a tile at once or by fold_widened().
template <class T>
void add_exact_narrow(const operands& data, std::size_t count, bool magnitudes, const arithmetic& floats,
                      exact_accumulator<float>& into) {
  add_tiles(
      static_cast<const T*>(data.x), count,
      [&](const T* tile, std::size_t n) { return add_narrow_tile(tile, n, magnitudes, into); },
      [&](const T* tile, std::size_t n) { fold_widened(floats, type_of<T>, nullptr, {tile}, n, &into); });
}

template <class T>
void take_extrema(const T* x, std::size_t count, extremes<T>& into) {
  for (std::size_t begin = 0; begin < count; begin += twice_read<T>()) {
    const std::size_t n = std::min(twice_read<T>(), count - begin);
    const T least = smallest_leaf(x + begin, n, is_long<T>(count));
    acc::both_extrema<T>::merge(into, {least, largest_leaf(x + begin, n, false)});
  }
}
template <class T>
struct loop<acc::both_extrema<T>> : unordered_loop<acc::both_extrema<T>, take_extrema<T>> {};

/// Looks for the place of an extremum only in blocks that have a better one than all before.
template <class A>
void take_first_extremum(const operands& data, std::size_t count, typename A::state& into) {
  using T = typename A::element;
  const auto* const x = static_cast<const T*>(data.x);
  const bool long_input = is_long<T>(count);
  for (std::size_t begin = 0; begin < count; begin += twice_read<T>()) {
    const std::size_t n = std::min(twice_read<T>(), count - begin);
    const T best = A::largest ? largest_leaf(x + begin, n, long_input) : smallest_leaf(x + begin, n, long_input);
    const std::uint64_t first = data.first + begin;
    if (A::replaces({best, first}, into)) A::merge(into, {best, first + find_leaf(x + begin, n, best)});
  }
}
template <class T, bool Largest>
struct loop<acc::first_extremum<T, Largest>> {
  using A = acc::first_extremum<T, Largest>;
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      take_first_extremum<A>(data, count, *static_cast<typename A::state*>(state));
    };
    return f;
  }();
  static typename A::state total(const void* state) { return detail::general_total<A>(state); }
};

template <class T>
void count_nonzeros(const T* x, std::size_t count, std::uint64_t& into) {
  into += count - zeros_leaf(x, count, is_long<T>(count));
}
template <class T>
struct loop<acc::nonzero_count<T>> : unordered_loop<acc::nonzero_count<T>, count_nonzeros<T>> {};

/// Adds the number of elements that are not zero, up to the end of the block that settles the answer.
template <class T, bool All>
void test_nonzeros(const T* x, std::size_t count, std::uint64_t& into) {
  constexpr std::size_t block = 65536 / sizeof(T);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const std::size_t nonzeros = n - zeros_leaf(x + begin, n, is_long<T>(count));
    into += nonzeros;
    if (acc::nonzero_test<T, All>::settled_by(nonzeros, n)) return;
  }
}
template <class T, bool All>
struct loop<acc::nonzero_test<T, All>> : unordered_loop<acc::nonzero_test<T, All>, test_nonzeros<T, All>> {};

template <class T>
struct loop<acc::exact_sum<T>> : unordered_loop<acc::exact_sum<T>, add_exact> {};
template <class T>
struct loop<acc::exact_sum<T, acc::magnitude_term>>
    : unordered_loop<acc::exact_sum<T, acc::magnitude_term>, add_exact_magnitudes<T>> {};

template <class T>
struct loop<acc::exact_square_sum<T>> : unordered_loop<acc::exact_square_sum<T>, add_squares<T>> {};

template <class T>
struct loop<acc::exact_dispersion<T>> : unordered_loop<acc::exact_dispersion<T>, add_moments<T>> {};

template <class T>
struct loop<acc::exact_dot<T>> {
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<acc::exact_dot<T>>();
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      add_products(static_cast<const T*>(data.x), static_cast<const T*>(data.y), count,
                   *static_cast<exact_dot_accumulator<T>*>(state));
    };
    return f;
  }();
  static exact_dot_accumulator<T> total(const void* state) { return detail::general_total<acc::exact_dot<T>>(state); }
};

/// The arithmetic for leaves in the fixed order. Fold folds a leaf into a Row, which has reset(), merge(),
/// `row_width` and state_of().
template <class A, class Row, void (*Fold)(const typename A::element* x, std::size_t count, Row& out)>
struct row_loop {
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.state_bytes = sizeof(Row);
    f.reset = [](void* state) { static_cast<Row*>(state)->reset(); };
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      Fold(static_cast<const typename A::element*>(data.x), count, *static_cast<Row*>(state));
    };
    f.merge = [](void* into, const void* from) { static_cast<Row*>(into)->merge(*static_cast<const Row*>(from)); };
    return f;
  }();
  static typename A::state total(const void* state) {
    typename detail::ordered_loop<A>::row row;
    for (std::size_t i = 0; i < Row::row_width; ++i) row.states[i] = static_cast<const Row*>(state)->state_of(i);
    return detail::ordered_loop<A>::total(row);
  }
};
template <class T>
struct loop<acc::log_sum<T>> : row_loop<acc::log_sum<T>, log_sum_row<T>, fold_log_sums<T>> {
  static acc::scaled_sum total(const void* state) { return static_cast<const log_sum_row<T>*>(state)->total(); }
  static void whole_each(const operands* runs, const std::size_t* counts, std::size_t number,
                         acc::scaled_sum* totals) {
    fold_log_sums_each<T>(runs, counts, number, totals);
  }
};
template <class A>
struct moments_loop : row_loop<A, moment_row<A>, fold_moments<A>> {
  static typename A::state total(const void* state) { return static_cast<const moment_row<A>*>(state)->total(); }
};
template <class T>
struct loop<acc::plain_moments<T>> : moments_loop<acc::plain_moments<T>> {
  static void whole_each(const operands* runs, const std::size_t* counts, std::size_t number,
                         acc::double_moments* totals) {
    fold_moments_each(runs, counts, number, totals);
  }
};
template <class T>
struct loop<acc::compensated_moments<T>> : moments_loop<acc::compensated_moments<T>> {};
template <class T>
struct loop<acc::shifted_moments<T>> : moments_loop<acc::shifted_moments<T>> {};

/// Floats of 8 and 16 bits are folded as floats of 32 by the loop of A.
template <class T, class A>
struct loop<acc::widening<T, A>> {
  static constexpr arithmetic functions = [] {
    arithmetic f = loop<A>::functions;
    f.element_bytes = sizeof(T);
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      bool (*settled_by)(std::uint64_t, std::uint64_t) = nullptr;
      if constexpr (requires { A::settled_by(0, 0); }) settled_by = A::settled_by;
      fold_widened(loop<A>::functions, type_of<T>, settled_by, data, count, state);
    };
    return f;
  }();
  static typename A::state total(const void* state) { return loop<A>::total(state); }
};
template <class T, class Term>
requires(sizeof(T) == 2) struct loop<acc::widening<T, acc::exact_sum<float, Term>>> {
  using A = acc::exact_sum<float, Term>;
  static constexpr arithmetic functions = [] {
    arithmetic f = loop<A>::functions;
    f.element_bytes = sizeof(T);
    f.accumulate = [](const operands& data, std::size_t count, void* state) {
      add_exact_narrow<T>(data, count, std::same_as<Term, acc::magnitude_term>, loop<A>::functions,
                          *static_cast<typename A::state*>(state));
    };
    return f;
  }();
  static typename A::state total(const void* state) { return loop<A>::total(state); }
};

}  // namespace fanin::cpu
