// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/column_loops.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <type_traits>

#include <fanin/accumulator/extremum.hpp>

#include "backends/cpu/batch/column_loops.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/moments-inl.h"
#include "backends/cpu/ordered-inl.h"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

struct magnitude_sum_kernel : sum_kernel {
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    sum_kernel::add(d, s, hn::Abs(x));
  }
};

struct square_sum_kernel : sum_kernel {
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    sum_kernel::add(d, s, hn::Mul(x, x));
  }
};

/// NaN and -0 < +0 as in accumulator::extremum. Equal numbers differ in their bits only if they are zeros.
template <bool Largest, class V>
HWY_INLINE V extremum_of(V best, V x) {
  const auto is_nan = hn::Not(hn::Eq(x, x));  // hn::Ne(x, x) is false on AVX2
  const auto wins = hn::Or(Largest ? hn::Lt(best, x) : hn::Lt(x, best), is_nan);
  const V of_equals = Largest ? hn::And(best, x) : hn::Or(best, x);
  return hn::IfThenElse(hn::Eq(best, x), of_equals, hn::IfThenElse(wins, x, best));
}

/// Each plane holds the smallest or the largest elements.
template <bool... Largest>
struct extrema_kernel {
  static constexpr int planes = sizeof...(Largest);
  static constexpr bool order_free = true;
  template <class T>
  static constexpr T neutral() {
    return T{1};  // any number but a zero: it stands for elements beside the columns
  }
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    int p = 0;
    ((s.plane[p++] = hn::Set(d, accumulator::extremum<hn::TFromD<D>, Largest>::identity())), ...);
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    int p = 0;
    ((s.plane[p] = extremum_of<Largest>(s.plane[p], other.plane[p]), ++p), ...);
  }
  /// Vector instructions may drop NaN, and may take a zero of either sign. So rows with NaN, or with a zero as
  /// extremum, are added again in another way.
  template <class D, class S, class T, class F>
  static HWY_INLINE void add_rows(D d, S& s, const T* x, std::ptrdiff_t step, std::size_t rows, const F& load_row) {
    const auto first = load_row(x);
    S found;
    for (auto& plane : found.plane) plane = first;
    auto is_settled = hn::Eq(first, first);
    const T* row = x + step;
    for (std::size_t r = 1; r < rows; ++r, row += step) {
      const auto v = load_row(row);
      is_settled = hn::And(is_settled, hn::Eq(v, v));
      int p = 0;
      ((found.plane[p] = Largest ? hn::Max(found.plane[p], v) : hn::Min(found.plane[p], v), ++p), ...);
    }
    for (const auto& plane : found.plane) is_settled = hn::AndNot(hn::Eq(plane, hn::Zero(d)), is_settled);
    if (hn::AllTrue(d, is_settled)) return merge(d, s, found);
    for (; rows > 0; --rows, x += step) {
      for (auto& plane : found.plane) plane = load_row(x);
      merge(d, s, found);
    }
  }
};

/// Fast variances of floats (plain_states), or of doubles. The states of doubles have other numbers while elements
/// are added to a leaf (shifted_states) than when they are merged (compensated_states).
template <class T>
struct moments_kernel {
  static constexpr bool is_shifted = sizeof(T) == sizeof(double);
  using added = std::conditional_t<is_shifted, shifted_states, plain_states>;
  using merged = std::conditional_t<is_shifted, compensated_states, plain_states>;
  static constexpr int planes = added::planes;
  template <class Number>
  static constexpr Number neutral() {
    return Number{0};
  }
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    for (auto& plane : s.plane) plane = hn::Zero(d);
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D, S& s, V x) {
    update<added>(s, [x](added& to) HWY_ATTR {
      if constexpr (is_shifted) to.look_for_origins(x);
      to.add(x);
    });
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    merged from;
    std::copy_n(other.plane, planes, from.plane);
    update<merged>(s, [&](merged& to) HWY_ATTR { to.merge(from); });
  }
  /// Follows the last element of a leaf.
  template <class S>
  static HWY_INLINE void end_leaf(S& s) {
    update<added>(s, [&](added& of) HWY_ATTR {
      const compensated_states ended = of.end();
      std::copy_n(ended.plane, planes, of.plane);
    });
  }

 private:
  template <class States, class S, class F>
  static HWY_INLINE void update(S& s, const F& f) {
    States states;
    std::copy_n(s.plane, planes, states.plane);
    f(states);
    std::copy_n(states.plane, planes, s.plane);
  }
};

template <class Kernel>
constexpr bool order_free = requires {
  Kernel::order_free;
};
/// fold() takes whole leaves of the elements of these kernels.
template <class Kernel>
constexpr bool ends_leaves = false;
template <>
inline constexpr bool ends_leaves<moments_kernel<double>> = true;
/// Short columns have loops of their own for the operations that are frequent.
template <class Kernel>
constexpr bool folds_short = std::is_same_v<Kernel, sum_kernel> || std::is_same_v<Kernel, compensated_sum_kernel>;

/// The type of the numbers of a state, for elements E.
template <class Kernel, class E>
struct number_for {
  using type = E;
};
template <class T, class E>
struct number_for<moments_kernel<T>, E> {
  using type = double;
};

template <class Kernel, class E>
struct loops_of {
  using T = typename number_for<Kernel, E>::type;
  using D = hn::ScalableTag<T>;
  using state = vector_states<D, Kernel::planes>;
  static constexpr std::size_t vector = hn::MaxLanes(D());
  static constexpr std::size_t planes = Kernel::planes;
  static constexpr std::size_t row_width = order_free<Kernel> ? 1 : row_bytes / sizeof(E);
  /// The number of elements that are added to a state of each column between loading and storing these states, at
  /// least. An L1 cache may have no more than eight places for rows that are a power of two apart.
  static constexpr std::size_t at_once = 8;
  /// This number for elements that are `step` apart.
  static std::size_t added_at_once(std::ptrdiff_t step) {
    constexpr std::ptrdiff_t far = 4096 / sizeof(E);
    return order_free<Kernel> && std::abs(step) < far ? 32 : at_once;
  }

  /// State j of each column.
  static HWY_INLINE T* states_at(void* states, std::size_t j, std::size_t columns) {
    return static_cast<T*>(states) + j * planes * plane_distance(columns, sizeof(T));
  }
  static HWY_INLINE state load(const T* from, std::size_t distance) {
    state s;
    for (std::size_t p = 0; p < planes; ++p) s.plane[p] = hn::LoadU(D(), from + p * distance);
    return s;
  }
  static HWY_INLINE void store(const state& s, T* to, std::size_t distance) {
    for (std::size_t p = 0; p < planes; ++p) hn::StoreU(s.plane[p], D(), to + p * distance);
  }

  static HWY_INLINE hn::Vec<D> elements(const E* x) {
    if constexpr (std::is_same_v<E, T>) {
      return hn::LoadU(D(), x);
    } else {
      return HWY_NAMESPACE::load(D(), x);
    }
  }
  static HWY_INLINE hn::Vec<D> part_of_elements(const E* x, std::size_t count) {
    constexpr E neutral = Kernel::template neutral<E>();
    if constexpr (std::is_same_v<E, T>) {
      return load_part(D(), x, 0, count, neutral);
    } else {
      E part[vector];
      std::fill(std::copy_n(x, count, part), part + vector, neutral);
      return elements(part);
    }
  }
  /// Calls f(c, load) for each vector of columns c, c + 1, ...; load(x) is the vector at x, or what there is of it.
  template <class F>
  static HWY_INLINE void for_each_vector(std::size_t columns, const F& f) {
    std::size_t c = 0;
    for (; c + vector <= columns; c += vector) f(c, [](const E* x) HWY_ATTR { return elements(x); });
    if (c == columns) return;
    f(c, [left = columns - c](const E* x) HWY_ATTR { return part_of_elements(x, left); });
  }

  /// Adds `rows` elements of each column, `step` apart, to the column's state at `to`, which is empty if it `begins`.
  static HWY_NOINLINE void add_rows(const E* x, std::ptrdiff_t step, std::size_t rows, std::size_t columns,
                                    bool begins, T* to) {
    const std::size_t distance = plane_distance(columns, sizeof(T));
    for_each_vector(columns, [=](std::size_t c, const auto& load_row) HWY_ATTR {
      state s;
      if (begins) {
        Kernel::reset(D(), s);
      } else {
        s = load(to + c, distance);
      }
      const E* row = x + c;
      if constexpr (order_free<Kernel>) {
        Kernel::add_rows(D(), s, row, step, rows, load_row);
      } else {
        for (std::size_t r = 0; r < rows; ++r, row += step) Kernel::add(D(), s, load_row(row));
      }
      store(s, to + c, distance);
    });
  }

  static void fold(const void* data, std::ptrdiff_t along, std::size_t columns, std::size_t first, std::size_t count,
                   std::size_t used, void* states) {
    const auto* const x = static_cast<const E*>(data);
    const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(row_width) * along;
    const std::size_t most = added_at_once(step);
    for (std::size_t begin = 0; begin < count; begin += most * row_width) {
      for (std::size_t j = 0; j < row_width && begin + j < count; ++j) {
        const std::size_t i = begin + j, rows = (count - i + row_width - 1) / row_width;
        const E* const row = x + static_cast<std::ptrdiff_t>(i) * along;
        add_rows(row, step, std::min(rows, most), columns, first + begin == 0, states_at(states, j, columns));
      }
    }
    if constexpr (row_width == 1) return;  // the one state has elements
    for (std::size_t j = count; first == 0 && j < used; ++j) {
      add_rows(x, step, 0, columns, true, states_at(states, j, columns));
    }
    if constexpr (ends_leaves<Kernel>) {
      for (std::size_t j = 0; j < std::min(count, row_width); ++j) end_leaf(states_at(states, j, columns), columns);
    }
  }
  static HWY_NOINLINE void end_leaf(T* states, std::size_t columns) {
    const std::size_t distance = plane_distance(columns, sizeof(T));
    for (std::size_t c = 0; c < columns; c += vector) {
      state s = load(states + c, distance);
      Kernel::end_leaf(s);
      store(s, states + c, distance);
    }
  }

  static HWY_NOINLINE void merge_columns(T* into, const T* from, std::size_t columns) {
    const std::size_t distance = plane_distance(columns, sizeof(T));
    for (std::size_t c = 0; c < columns; c += vector) {
      state s = load(into + c, distance);
      Kernel::merge(D(), s, load(from + c, distance));
      store(s, into + c, distance);
    }
  }
  static void merge(void* into, const void* from, std::size_t columns, std::size_t used) {
    const std::size_t distance = planes * plane_distance(columns, sizeof(T));
    for (std::size_t j = 0; j < used; ++j) {
      merge_columns(static_cast<T*>(into) + j * distance, static_cast<const T*>(from) + j * distance, columns);
    }
  }
  /// States without elements are neutral, and are left out.
  static void collapse(void* states, std::size_t columns, std::size_t used) {
    for (std::size_t half = std::bit_ceil(used) / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half && j + half < used; ++j) {
        merge_columns(states_at(states, j, columns), states_at(states, j + half, columns), columns);
      }
    }
  }

  /// Merges `at_once` states of one element each in registers, and what comes of them in memory.
  static void fold_short(const void* data, std::ptrdiff_t along, std::size_t columns, std::size_t count,
                         void* states) {
    const auto* const x = static_cast<const E*>(data);
    const std::size_t distance = plane_distance(columns, sizeof(T));
    const std::size_t step = std::max(std::bit_ceil(count), at_once) / at_once;
    E none[columns_in_tile(row_width, planes * sizeof(T))];
    if (count < step * at_once) std::fill_n(none, columns, Kernel::template neutral<E>());
    for (std::size_t j = 0; j < step; ++j) {
      const E* row[at_once];
      for (std::size_t k = 0; k < at_once; ++k) {
        const std::size_t i = j + k * step;
        row[k] = i < count ? x + static_cast<std::ptrdiff_t>(i) * along : none;
      }
      T* const to = states_at(states, j, columns);
      for_each_vector(columns, [=](std::size_t c, const auto& load_row) HWY_ATTR {
        state s[at_once];
        HWY_UNROLL(8)
        for (std::size_t k = 0; k < at_once; ++k) {
          Kernel::reset(D(), s[k]);
          Kernel::add(D(), s[k], load_row(row[k] + c));
        }
        HWY_UNROLL(3)
        for (std::size_t half = at_once / 2; half > 0; half /= 2) {
          HWY_UNROLL(4)
          for (std::size_t k = 0; k < half; ++k) Kernel::merge(D(), s[k], s[k + half]);
        }
        store(s[0], to + c, distance);
      });
    }
    collapse(states, columns, step);
  }

  static constexpr std::size_t width = columns_in_tile(row_width, planes * sizeof(T));
  static constexpr column_loops functions = [] {
    column_loops f{width, row_width, row_width * planes * width * sizeof(T), fold, merge, collapse, nullptr};
    if constexpr (folds_short<Kernel>) f.fold_short = fold_short;
    return f;
  }();
};

template <class T>
const column_loops* loops_for(column_kernel kernel) {
  switch (kernel) {
    case column_kernel::sum:
      return &loops_of<sum_kernel, T>::functions;
    case column_kernel::compensated_sum:
      return &loops_of<compensated_sum_kernel, T>::functions;
    case column_kernel::magnitude_sum:
      return &loops_of<magnitude_sum_kernel, T>::functions;
    case column_kernel::square_sum:
      return &loops_of<square_sum_kernel, T>::functions;
    case column_kernel::product:
      return &loops_of<product_kernel, T>::functions;
    case column_kernel::moments:
      return &loops_of<moments_kernel<T>, T>::functions;
    case column_kernel::smallest:
      return &loops_of<extrema_kernel<false>, T>::functions;
    case column_kernel::largest:
      return &loops_of<extrema_kernel<true>, T>::functions;
    default:
      return &loops_of<extrema_kernel<false, true>, T>::functions;
  }
}

const column_loops* find_loops(column_kernel kernel, bool of_doubles) {
  return of_doubles ? loops_for<double>(kernel) : loops_for<float>(kernel);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(find_loops);
const column_loops& find_column_loops(column_kernel kernel, bool of_doubles) {
  return *HWY_DYNAMIC_DISPATCH(find_loops)(kernel, of_doubles);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
