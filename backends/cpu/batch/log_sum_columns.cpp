// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/log_sum_columns.hpp"

#include <algorithm>
#include <bit>
#include <concepts>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/integer_log_sums.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {
namespace {

constexpr std::size_t width = log_sum_states::width;

/// merge_log_sums() takes whole blocks of columns.
constexpr std::size_t block = 32;
constexpr std::size_t whole_blocks(std::size_t columns) { return (columns + block - 1) / block * block; }

/// The number of elements that are added to a state of each column between loading and storing these states.
constexpr std::size_t at_once = 8;

/// Calls add(j, row, rows) for up to `at_once` elements that are added to state j of each column. `row` is the index
/// of the first.
template <class Add>
void for_each_part(std::size_t row_width, std::size_t count, const Add& add) {
  for (std::size_t first = 0; first < count; first += at_once * row_width) {
    for (std::size_t i = first; i < std::min(first + row_width, count); ++i) {
      add(i - first, static_cast<std::ptrdiff_t>(i), std::min((count - i + row_width - 1) / row_width, at_once));
    }
  }
}

/// Writes elements that lie next to each other as floats or doubles, without a rounding.
template <class T>
void convert(element_type type, const std::byte* x, std::size_t count, T* out) {
  if (is_widened(type)) {
    float wide[width];
    widen(x, count, type, wide);
    std::copy_n(wide, count, out);
    return;
  }
  with_element(type, [&]<class From>() {
    if constexpr (computable<From>) std::copy_n(reinterpret_cast<const From*>(x), count, out);
  });
}

/// Columns of a leaf.
struct column_leaf {
  element_type type;
  const std::byte* x;
  std::ptrdiff_t along;
  std::size_t columns, count;

  std::size_t bytes() const { return byte_size(type); }
  /// The distance of two rows, in bytes.
  std::ptrdiff_t distance() const { return along * static_cast<std::ptrdiff_t>(bytes()); }
  /// Row i, from column c on.
  const std::byte* row(std::ptrdiff_t i, std::size_t c = 0) const { return x + i * distance() + c * bytes(); }
};

/// Adds rows of integers, row_width rows apart, if all of them are small.
template <std::integral T>
bool add_if_small(const column_leaf& leaf, const T* row, std::size_t rows, std::ptrdiff_t step, double* sum) {
  bool small = true;
  for (std::size_t r = 0; r < rows; ++r) {
    const T* const x = row + static_cast<std::ptrdiff_t>(r) * step;
    prefetch_row(x + leaf.along, leaf.columns * sizeof(T));
    small = small && are_small(x, leaf.columns);
  }
  if (small) add_small_rows(row, rows, step, leaf.columns, sum);
  return small;
}

/// Adds elements, which are added as T, by their exponentials.
template <class T>
void fold_near(const column_leaf& leaf, magnitude_bits<T>* most, log_sum_states& s) {
  constexpr std::size_t row_width = log_sum_columns<T>::row_width;
  const std::ptrdiff_t step = row_width * leaf.along;
  for_each_part(row_width, leaf.count, [&](std::size_t j, std::ptrdiff_t first, std::size_t rows) {
    const std::byte* row = leaf.row(first);
    if (leaf.type == type_of<T>) {
      return add_near_rows(reinterpret_cast<const T*>(row), rows, step, leaf.columns, s.sum[j], most, false,
                           leaf.along);
    }
    if constexpr (std::same_as<T, double>) {
      bool small = false;
      with_element(leaf.type, [&]<class From>() {
        if constexpr (std::integral<From>)
          small = add_if_small(leaf, reinterpret_cast<const From*>(row), rows, step, s.sum[j]);
      });
      if (small) return;
    }
    T wide[at_once * width];
    for (std::size_t r = 0; r < rows; ++r, row += row_width * leaf.distance()) {
      prefetch_row(row + leaf.distance(), leaf.columns * leaf.bytes());
      convert(leaf.type, row, leaf.columns, wide + r * width);
    }
    add_near_rows(wide, rows, width, leaf.columns, s.sum[j], most, false, 0);
  });
}

/// Folds a block of columns by exponentials relative to their largest elements, and keeps the sums of those that are
/// near.
template <class T>
[[gnu::cold]] void fold_far(const column_leaf& leaf, std::size_t first_column, std::size_t used,
                            const magnitude_bits<T>* most, log_sum_states& s) {
  constexpr std::size_t row_width = log_sum_columns<T>::row_width;
  const std::size_t columns = std::min(block, leaf.columns - first_column);
  const auto none = accumulator::log_sum<double>::identity();
  double near_sums[row_width][block];
  for (std::size_t j = 0; j < used; ++j) {
    std::copy_n(s.sum[j] + first_column, block, near_sums[j]);
    std::fill_n(s.largest[j] + first_column, block, none.largest);
    std::fill_n(s.sum[j] + first_column, block, none.sum);
  }
  for_each_part(row_width, leaf.count, [&](std::size_t j, std::ptrdiff_t first, std::size_t rows) {
    double copy[at_once * block] = {};
    for (std::size_t r = 0; r < rows; ++r) {
      const auto i = first + static_cast<std::ptrdiff_t>(r * row_width);
      convert(leaf.type, leaf.row(i, first_column), columns, copy + r * block);
    }
    merge_log_sums(copy, nullptr, rows, block, block, s.largest[j] + first_column, s.sum[j] + first_column);
  });
  for (std::size_t c = 0; c < columns && leaf.count > 1; ++c) {
    if (!is_near<T>(most[first_column + c])) continue;
    for (std::size_t j = 0; j < used; ++j) {
      s.largest[j][first_column + c] = 0;
      s.sum[j][first_column + c] = near_sums[j][c];
    }
  }
}

template <class T>
void fold_leaf(const column_leaf& leaf, std::size_t used, log_sum_states& s) {
  magnitude_bits<T> most[width] = {};
  fold_near<T>(leaf, most, s);
  const auto near = [&](std::size_t first, std::size_t last) {
    return leaf.count > 1 && std::all_of(most + first, most + last, is_near<T>);
  };
  s.plain = near(0, leaf.columns);
  if (s.plain) return;
  for (std::size_t j = 0; j < used; ++j) std::fill_n(s.largest[j], whole_blocks(leaf.columns), 0);
  for (std::size_t c = 0; c < leaf.columns; c += block) {
    if (!near(c, std::min(c + block, leaf.columns))) fold_far<T>(leaf, c, used, most, s);
  }
}

}  // namespace

void fold_log_sum_columns(element_type type, const void* x, std::ptrdiff_t along, std::size_t columns,
                          std::size_t count, std::size_t used, log_sum_states& to) {
  for (std::size_t j = 0; j < used; ++j) std::fill_n(to.sum[j], whole_blocks(columns), 0);
  const column_leaf leaf{type, static_cast<const std::byte*>(x), along, columns, count};
  if (type == element_type::f64 || is_integer(type)) {
    fold_leaf<double>(leaf, used, to);
  } else {
    fold_leaf<float>(leaf, used, to);
  }
}

void merge_log_sum_columns(void* into, const void* from, std::size_t columns, std::size_t used) {
  auto& s = *static_cast<log_sum_states*>(into);
  const auto& other = *static_cast<const log_sum_states*>(from);
  const double zeros[width] = {};
  const bool plain = s.plain && other.plain;
  for (std::size_t j = 0; j < used; ++j) {
    if (s.plain && !plain) std::fill_n(s.largest[j], whole_blocks(columns), 0);
    merge_states(plain, other.plain ? zeros : other.largest[j], other.sum[j], whole_blocks(columns), s.largest[j],
                 s.sum[j]);
  }
  s.plain = plain;
}

/// States without elements are neutral, and are left out.
void collapse_log_sum_columns(void* states, std::size_t columns, std::size_t used) {
  auto& s = *static_cast<log_sum_states*>(states);
  for (std::size_t half = std::bit_ceil(used) / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half && j + half < used; ++j) {
      merge_states(s.plain, s.largest[j + half], s.sum[j + half], whole_blocks(columns), s.largest[j], s.sum[j]);
    }
  }
}

}  // namespace fanin::cpu
