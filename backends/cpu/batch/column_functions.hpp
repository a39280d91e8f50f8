// SPDX-License-Identifier: Apache-2.0
// The column_functions of a recipe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <type_traits>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

#include "backends/cpu/batch/columns.hpp"
#include "backends/cpu/batch/log_sum_columns.hpp"
#include "backends/finish_state.hpp"

namespace fanin::cpu {

namespace acc = accumulator;

/// The kernel that folds A, if one does.
template <class A>
constexpr std::optional<column_kernel> column_kernel_of;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::plain_sum<T>> = column_kernel::sum;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::compensated_sum<T>> = column_kernel::compensated_sum;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::plain_sum<T, acc::magnitude_term>> =
    column_kernel::magnitude_sum;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::plain_square_sum<T>> = column_kernel::square_sum;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::plain_product<T>> = column_kernel::product;
template <>
inline constexpr std::optional<column_kernel> column_kernel_of<acc::plain_moments<float>> = column_kernel::moments;
template <>
inline constexpr std::optional<column_kernel> column_kernel_of<acc::shifted_moments<double>> = column_kernel::moments;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::both_extrema<T>> = column_kernel::extrema;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::smallest<T>> = column_kernel::smallest;
template <std::floating_point T>
constexpr std::optional<column_kernel> column_kernel_of<acc::largest<T>> = column_kernel::largest;

/// The loops of any accumulator with small states.
template <class A>
struct general_loops {
  using state = typename A::state;
  static constexpr std::size_t row_width = detail::row_width_of<A>;
  static constexpr std::size_t width = columns_in_tile(row_width, sizeof(state));
  struct states {
    state of[row_width][width];  ///< of[j][c] is state j of column c
  };

  static void fold(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t first, std::size_t count,
                   std::size_t used, void* to) {
    auto& all = first == 0 ? *::new (to) states : *static_cast<states*>(to);
    const auto* const rows = static_cast<const typename A::element*>(x);
    for (std::size_t j = 0; j < used; ++j) {
      state* const into = all.of[j];
      if (first == 0) std::fill_n(into, columns, A::identity());
      for (std::size_t i = j; i < count; i += row_width) {
        add_row(into, rows + static_cast<std::ptrdiff_t>(i) * along, columns);
      }
    }
  }
  static void merge(void* into, const void* from, std::size_t columns, std::size_t used) {
    for (std::size_t j = 0; j < used; ++j) {
      merge_columns(static_cast<states*>(into)->of[j], static_cast<const states*>(from)->of[j], columns);
    }
  }
  static void collapse(void* to, std::size_t columns, std::size_t used) {
    auto& all = *static_cast<states*>(to);
    state none[width];
    std::fill_n(none, columns, A::identity());
    for (std::size_t half = row_width / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < std::min(half, used); ++j) {
        merge_columns(all.of[j], j + half < used ? all.of[j + half] : none, columns);
      }
    }
  }
  static state state_of(const void* all, std::size_t column) {
    return static_cast<const states*>(all)->of[0][column];
  }

 private:
  // States and elements do not overlap: without that, the compiler writes each loop twice.
  [[gnu::noinline]] static void add_row(state* __restrict into, const typename A::element* __restrict row,
                                        std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) A::add(into[c], row[c]);
  }
  [[gnu::noinline]] static void merge_columns(state* __restrict into, const state* __restrict from,
                                              std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) A::merge(into[c], from[c]);
  }
};

template <std::floating_point T>
struct general_loops<acc::log_sum<T>> : log_sum_columns<T> {};
template <class T>
struct general_loops<acc::widening<T, acc::log_sum<float>>> : log_sum_columns<T> {};

/// Whether the loops of A read whole leaves of elements as they are, also of narrow floats.
template <class A>
constexpr bool reads_leaves = requires {
  general_loops<A>::reads_leaves;
};

/// The accumulator whose loops fold columns: that of floats, unless its own loops read narrow floats.
template <class A>
using folds_columns_as = typename std::conditional_t<reads_leaves<A>, std::type_identity<A>,
                                                     std::type_identity<acc::of_floats_t<A>>>::type;

/// Columns of floats are folded side by side by accumulators with small states whose order matters: adding an element
/// takes no longer than moving it. Extrema are folded so by their kernels. Other columns are copied.
template <class A, class OfFloats = acc::of_floats_t<A>>
constexpr bool folds_columns = (sizeof(typename A::state) <= 16 || column_kernel_of<OfFloats>.has_value()) &&
                               acc::inputs_of<A>() == 1 && std::floating_point<typename OfFloats::element> &&
                               !complex_number<typename A::element> &&
                               (!A::order_free || column_kernel_of<OfFloats>.has_value());

/// The state of a column after collapse().
template <class A>
typename A::state state_of(const void* states, std::size_t columns, std::size_t column) {
  if constexpr (column_kernel_of<A>.has_value()) {
    using T = std::conditional_t<*column_kernel_of<A> == column_kernel::moments, double, typename A::element>;
    std::array<T, sizeof(typename A::state) / sizeof(T)> numbers;
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      numbers[p] = static_cast<const T*>(states)[p * plane_distance(columns, sizeof(T)) + column];
    }
    return std::bit_cast<typename A::state>(numbers);
  } else {
    return general_loops<A>::state_of(states, column);
  }
}

template <class Recipe>
void finish_columns(const void* states, std::size_t columns, std::size_t first, std::size_t last, std::uint64_t count,
                    element_type result, void* out, std::size_t distance) {
  using loops = folds_columns_as<acc::folds_as_t<typename Recipe::accumulator>>;
  with_end<Recipe>(result, [&]<class A, class R>() {
    for (std::size_t c = first; c < last; ++c) {
      static_cast<R*>(out)[c * distance] = A::template finish<R>(state_of<loops>(states, columns, c), count);
    }
  });
}

template <class A>
inline constexpr column_loops general_loops_of{general_loops<A>::width,
                                               general_loops<A>::row_width,
                                               sizeof(typename general_loops<A>::states),
                                               general_loops<A>::fold,
                                               general_loops<A>::merge,
                                               general_loops<A>::collapse,
                                               nullptr,
                                               reads_leaves<A>};

template <class Recipe>
constexpr column_functions column_functions_of() {
  using A = folds_columns_as<acc::folds_as_t<typename Recipe::accumulator>>;
  column_functions f{column_kernel_of<A>, nullptr, detail::leaf_of<A>, finish_columns<finished_by_t<Recipe>>};
  if constexpr (!column_kernel_of<A>.has_value()) f.general = &general_loops_of<A>;
  return f;
}

}  // namespace fanin::cpu
