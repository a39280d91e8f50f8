// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/log_sum_columns.hpp"

#include <algorithm>
#include <bit>
#include <concepts>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/integer_log_sums.hpp"

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

/// Writes elements that lie next to each other as floats. Prefetches the elements that are `ahead` bytes behind them.
void load_floats(element_type type, const std::byte* x, std::size_t count, std::ptrdiff_t ahead, float* out) {
  for (std::size_t b = 0; b < count * byte_size(type); b += 64) __builtin_prefetch(x + b + ahead, 0, 2);
  widen(x, count, type, out);
}

/// Adds elements by exponentials of floats. Returns whether all of them are near.
bool fold_near(element_type type, const std::byte* x, std::ptrdiff_t along, std::size_t columns, std::size_t count,
               log_sum_states& s) {
  constexpr std::size_t row_width = log_sum_columns<float>::row_width;
  const std::ptrdiff_t distance = along * static_cast<std::ptrdiff_t>(byte_size(type)), step = row_width * along;
  std::fill_n(s.most, whole_blocks(columns), 0);
  for_each_part(row_width, count, [&](std::size_t j, std::ptrdiff_t first, std::size_t rows) {
    const std::byte* row = x + first * distance;
    if (type == element_type::f32) {
      add_near_rows(reinterpret_cast<const float*>(row), rows, step, columns, s.sum[j], s.most, false, along);
    } else {
      float wide[at_once * width];
      for (std::size_t r = 0; r < rows; ++r, row += row_width * distance) {
        load_floats(type, row, columns, distance, wide + r * width);
      }
      add_near_rows(wide, rows, width, columns, s.sum[j], s.most, false, 0);
    }
  });
  return count > 1 && std::all_of(s.most, s.most + columns, is_near);
}

/// Folds the columns that are not near, each as a row.
[[gnu::cold]] void fold_others(element_type type, const std::byte* x, std::ptrdiff_t along, std::size_t columns,
                               std::size_t count, std::size_t used, log_sum_states& s) {
  const std::size_t bytes = byte_size(type);
  float copy[detail::leaf_of<accumulator::log_sum<float>>];
  for (std::size_t j = 0; j < used; ++j) std::fill_n(s.largest[j], whole_blocks(columns), 0);
  for (std::size_t c = 0; c < columns; ++c) {
    if (count > 1 && is_near(s.most[c])) continue;
    const std::byte* element = x + c * bytes;
    for (std::size_t i = 0; i < count; ++i, element += along * static_cast<std::ptrdiff_t>(bytes)) {
      if (type == element_type::f32) {
        copy[i] = *reinterpret_cast<const float*>(element);
      } else {
        widen(element, 1, type, copy + i);
      }
    }
    log_sum_row<float> row;
    fold_log_sums(copy, count, row);
    for (std::size_t j = 0; j < used; ++j) {
      s.largest[j][c] = row.largest[j];
      s.sum[j][c] = row.sum[j];
    }
  }
}

void fold_doubles(const double* x, std::ptrdiff_t along, std::size_t columns, std::size_t count, std::size_t used,
                  log_sum_states& s) {
  constexpr std::size_t row_width = log_sum_columns<double>::row_width;
  for (std::size_t j = 0; j < used; ++j) {
    std::fill_n(s.largest[j], whole_blocks(columns), accumulator::log_sum<double>::identity().largest);
  }
  const std::size_t whole = columns / block * block;
  const std::ptrdiff_t step = row_width * along;
  for_each_part(row_width, count, [&](std::size_t j, std::ptrdiff_t first, std::size_t rows) {
    const double* row = x + first * along;
    merge_log_sums(row, nullptr, rows, step, whole, s.largest[j], s.sum[j]);
    if (whole == columns) return;
    double copy[at_once * block] = {};
    row += whole;
    for (std::size_t r = 0; r < rows; ++r, row += step) std::copy_n(row, columns - whole, copy + r * block);
    merge_log_sums(copy, nullptr, rows, block, block, s.largest[j] + whole, s.sum[j] + whole);
  });
}

/// Folds integers as doubles, or whole blocks of bytes as they are.
template <std::integral T>
void fold_integers(const T* x, std::ptrdiff_t along, std::size_t columns, std::size_t count, std::size_t used,
                   log_sum_states& s) {
  constexpr std::size_t row_width = log_sum_columns<double>::row_width;
  for (std::size_t j = 0; j < used; ++j) {
    std::fill_n(s.largest[j], whole_blocks(columns), accumulator::log_sum<double>::identity().largest);
  }
  std::size_t whole = 0;
  if constexpr (sizeof(T) == 1) whole = columns / block * block;
  const std::size_t left = whole_blocks(columns - whole);
  const std::ptrdiff_t step = row_width * along;
  for_each_part(row_width, count, [&](std::size_t j, std::ptrdiff_t first, std::size_t rows) {
    const T* row = x + first * along;
    if constexpr (sizeof(T) == 1) add_rows_of_bytes(row, rows, step, whole, s.largest[j], s.sum[j]);
    if (left == 0) return;
    double copy[at_once * width] = {};
    row += whole;
    for (std::size_t r = 0; r < rows; ++r, row += step) std::copy_n(row, columns - whole, copy + r * left);
    merge_log_sums(copy, nullptr, rows, static_cast<std::ptrdiff_t>(left), left, s.largest[j] + whole,
                   s.sum[j] + whole);
  });
}

}  // namespace

void fold_log_sum_columns(element_type type, const void* x, std::ptrdiff_t along, std::size_t columns,
                          std::size_t count, std::size_t used, log_sum_states& to) {
  for (std::size_t j = 0; j < used; ++j) std::fill_n(to.sum[j], whole_blocks(columns), 0);
  to.plain = false;
  if (type == element_type::f64) {
    return fold_doubles(static_cast<const double*>(x), along, columns, count, used, to);
  }
  if (is_integer(type)) {
    return with_element(type, [&]<class T>() {
      if constexpr (std::integral<T>) fold_integers(static_cast<const T*>(x), along, columns, count, used, to);
    });
  }
  const auto* const first = static_cast<const std::byte*>(x);
  to.plain = fold_near(type, first, along, columns, count, to);
  if (!to.plain) fold_others(type, first, along, columns, count, used, to);
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
