// SPDX-License-Identifier: Apache-2.0
// The leaves and the rows of log_sum_exp in the fixed order.
#include <algorithm>
#include <bit>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/log_sum_tree.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {
namespace {

/// Folds a leaf by the exponentials of its elements. Returns false if it is not near.
template <class T>
bool fold_near_leaf(const T* x, std::size_t count, log_sum_row<T>& out) {
  if (count < 2) return false;
  constexpr std::size_t row_width = log_sum_row<T>::row_width, ahead = prefetch_distance / sizeof(T);
  magnitude_bits<T> most[16] = {};
  out.make_plain();
  const std::size_t rows = count / row_width, left = count % row_width;
  if (rows > 0) add_near_rows(x, rows, row_width, row_width, out.sum, most, true, ahead);
  if (left > 0) {
    double last[row_width] = {};
    add_near_rows(x + rows * row_width, 1, row_width, left, last, most, true, ahead);
    for (std::size_t j = 0; j < left; ++j) out.sum[j] += last[j];
  }
  return is_near<T>(*std::max_element(most, most + 16));
}

/// Folds a leaf by exponentials relative to the largest elements.
void fold_far_leaf(const double* x, std::size_t count, std::size_t row_width, double* largest, double* sum) {
  const std::size_t rows = count / row_width;
  merge_log_sums(x, nullptr, rows, static_cast<std::ptrdiff_t>(row_width), row_width, largest, sum);
  if (rows * row_width == count) return;
  double last[log_sum_row<float>::row_width];
  std::fill_n(last, row_width, accumulator::log_sum<double>::identity().largest);
  std::copy(x + rows * row_width, x + count, last);
  merge_log_sums(last, nullptr, 1, 0, row_width, largest, sum);
}

template <class T>
void fold_leaf(const T* x, std::size_t count, log_sum_row<T>& out) {
  if (fold_near_leaf(x, count, out)) return;
  out.reset();
  if constexpr (sizeof(T) == sizeof(double)) {
    fold_far_leaf(x, count, out.row_width, out.largest, out.sum);
  } else {
    double elements[detail::leaf_of<accumulator::log_sum<T>>];
    std::copy_n(x, count, elements);
    fold_far_leaf(elements, count, out.row_width, out.largest, out.sum);
  }
}

}  // namespace

accumulator::scaled_sum total_of_log_sums(bool plain, const double* largest, const double* sum,
                                          std::size_t row_width) {
  // Where fewer states are left than vectors hold, states behind them are merged as well.
  constexpr std::size_t most_states = 64, at_once = 32;
  double l[most_states + at_once], s[most_states + at_once];
  std::fill_n(std::copy_n(largest, row_width, l), at_once, 0);
  std::fill_n(std::copy_n(sum, row_width, s), at_once, 0);
  std::size_t half = row_width / 2;
  for (; half >= (plain ? at_once : 1); half /= 2) merge_states(plain, l + half, s + half, half, l, s);
  return plain ? accumulator::scaled_sum{0, total_of_plain_row(s)} : accumulator::scaled_sum{l[0], s[0]};
}

template <class T>
void fold_log_sums(const T* x, std::size_t count, log_sum_row<T>& out) {
  fold_log_sum_tree(x, count, out, fold_leaf<T>);
}
template void fold_log_sums(const float*, std::size_t, log_sum_row<float>&);
template void fold_log_sums(const double*, std::size_t, log_sum_row<double>&);

template <class T>
void fold_log_sums_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                        accumulator::scaled_sum* totals) {
  for (std::size_t i = 0; i < number; ++i) {
    const auto* const x = static_cast<const T*>(runs[i].x);
    const bool may_be_near = counts[i] > 1 && counts[i] <= detail::leaf_of<accumulator::log_sum<T>>;
    if (may_be_near) prefetch_row(x + prefetch_distance / sizeof(T), counts[i] * sizeof(T));
    if (may_be_near && total_of_near_leaf(x, counts[i], totals[i].sum)) {
      totals[i].largest = 0;
    } else {
      log_sum_row<T> row;
      fold_log_sums(x, counts[i], row);
      totals[i] = row.total();
    }
  }
}
template void fold_log_sums_each<float>(const detail::operands*, const std::size_t*, std::size_t,
                                        accumulator::scaled_sum*);
template void fold_log_sums_each<double>(const detail::operands*, const std::size_t*, std::size_t,
                                         accumulator::scaled_sum*);

}  // namespace fanin::cpu
