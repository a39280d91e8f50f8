// SPDX-License-Identifier: Apache-2.0
// The leaves and the rows of log_sum_exp in the fixed order.
#include <algorithm>
#include <bit>

#include "backends/cpu/integer_log_sums.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {
namespace {

/// Folds a leaf by exponentials of floats. Returns false if it is not near.
bool fold_near_leaf(const float* x, std::size_t count, log_sum_row<float>& out) {
  if (count < 2) return false;
  constexpr std::size_t row_width = log_sum_row<float>::row_width, ahead = prefetch_distance / sizeof(float);
  std::int32_t most[16] = {};
  std::fill_n(out.largest, row_width, 0);
  std::fill_n(out.sum, row_width, 0);
  const std::size_t rows = count / row_width, left = count % row_width;
  if (rows > 0) add_near_rows(x, rows, row_width, row_width, out.sum, most, true, ahead);
  if (left > 0) {
    double last[row_width] = {};
    add_near_rows(x + rows * row_width, 1, row_width, left, last, most, true, ahead);
    for (std::size_t j = 0; j < left; ++j) out.sum[j] += last[j];
  }
  out.plain = is_near(*std::max_element(most, most + 16));
  return out.plain;
}

/// Folds a leaf by exponentials of doubles into states that have no elements.
void fold_doubles(const double* x, std::size_t count, std::size_t row_width, double* largest, double* sum) {
  const std::size_t rows = count / row_width;
  merge_log_sums(x, nullptr, rows, static_cast<std::ptrdiff_t>(row_width), row_width, largest, sum);
  if (rows * row_width == count) return;
  double last[log_sum_row<float>::row_width];
  std::fill_n(last, row_width, accumulator::log_sum<double>::identity().largest);
  std::copy(x + rows * row_width, x + count, last);
  merge_log_sums(last, nullptr, 1, 0, row_width, largest, sum);
}

void fold_leaf(const double* x, std::size_t count, log_sum_row<double>& out) {
  out.reset();
  fold_doubles(x, count, out.row_width, out.largest, out.sum);
}
void fold_leaf(const float* x, std::size_t count, log_sum_row<float>& out) {
  if (fold_near_leaf(x, count, out)) return;
  double elements[detail::leaf_of<accumulator::log_sum<float>>];
  std::copy_n(x, count, elements);
  out.reset();
  fold_doubles(elements, count, out.row_width, out.largest, out.sum);
}

template <std::integral T>
void fold_leaf(const T* x, std::size_t count, log_sum_row<double>& out) {
  constexpr std::size_t row_width = log_sum_row<double>::row_width;
  double elements[detail::leaf_of<accumulator::log_sum<double>>];
  out.reset();
  std::size_t in_rows = 0;
  if constexpr (sizeof(T) == 1) {
    in_rows = count - count % row_width;
    add_rows_of_bytes(x, in_rows / row_width, row_width, row_width, out.largest, out.sum);
  }
  std::copy(x + in_rows, x + count, elements);
  fold_doubles(elements, count - in_rows, row_width, out.largest, out.sum);
}

template <class T, class Row>
void fold_in_order(const T* x, std::size_t count, Row& out) {
  constexpr std::size_t leaf = Row::row_width * detail::rows_in_leaf;
  if (count <= leaf) return fold_leaf(x, count, out);
  const std::size_t left = leaf * std::bit_floor((count - 1) / leaf);
  Row right;
  fold_in_order(x, left, out);
  fold_in_order(x + left, count - left, right);
  out.merge(right);
}

/// Merges state j with state j + row_width / 2 and so on, by merge(largest, sum, number, into_largest, into_sum).
template <class Merge>
accumulator::scaled_sum total_by(const double* largest, const double* sum, std::size_t row_width,
                                 const Merge& merge) {
  // Where fewer states are left than vectors hold, states behind them are merged as well.
  constexpr std::size_t most_states = 64, at_once = 32;
  double l[most_states + at_once], s[most_states + at_once];
  std::fill_n(std::copy_n(largest, row_width, l), at_once, 0);
  std::fill_n(std::copy_n(sum, row_width, s), at_once, 0);
  for (std::size_t half = row_width / 2; half > 0; half /= 2) merge(l + half, s + half, half, l, s);
  return {l[0], s[0]};
}

}  // namespace

accumulator::scaled_sum total_of_log_sums(bool plain, const double* largest, const double* sum,
                                          std::size_t row_width) {
  return total_by(largest, sum, row_width, [plain](auto... states) { merge_states(plain, states...); });
}
accumulator::scaled_sum total_of_bytes(const log_sum_row<double>& row) {
  return total_by(row.largest, row.sum, row.row_width, merge_log_sums_of_bytes);
}

template <class T>
void fold_log_sums(const T* x, std::size_t count, log_sum_row<T>& out) {
  fold_in_order(x, count, out);
}
template void fold_log_sums(const float*, std::size_t, log_sum_row<float>&);
template void fold_log_sums(const double*, std::size_t, log_sum_row<double>&);

void fold_log_sums_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                        accumulator::scaled_sum* totals) {
  for (std::size_t i = 0; i < number; ++i) {
    const auto* const x = static_cast<const float*>(runs[i].x);
    const bool may_be_near = counts[i] > 1 && counts[i] <= detail::leaf_of<accumulator::log_sum<float>>;
    if (may_be_near) prefetch_row(x + prefetch_distance / sizeof(float), counts[i] * sizeof(float));
    if (may_be_near && total_of_near_leaf(x, counts[i], totals[i].sum)) {
      totals[i].largest = 0;
    } else {
      log_sum_row<float> row;
      fold_log_sums(x, counts[i], row);
      totals[i] = row.total();
    }
  }
}

template <std::integral T>
void fold_integer_log_sums(const T* x, std::size_t count, log_sum_row<double>& out) {
  fold_in_order(x, count, out);
}
#define FANIN_FOLD(SUFFIX, T) template void fold_integer_log_sums(const T*, std::size_t, log_sum_row<double>&);
FANIN_FOR_EACH_INTEGER(FANIN_FOLD)
#undef FANIN_FOLD

}  // namespace fanin::cpu
