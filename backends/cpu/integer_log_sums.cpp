// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/integer_log_sums.hpp"

#include <algorithm>
#include <array>

#include "backends/cpu/log_sum_tree.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {
namespace {

constexpr std::size_t row_width = log_sum_row<double>::row_width;
constexpr std::size_t leaf = detail::leaf_of<accumulator::log_sum<double>>;

/// Adds a leaf of small integers to a row of sums.
template <std::integral T>
void add_small_leaf(const T* x, std::size_t count, double* sum) {
  const std::size_t rows = count / row_width;
  add_small_rows(x, rows, row_width, row_width, sum);
  add_small_rows(x + rows * row_width, 1, 0, count % row_width, sum);
}

template <std::integral T>
void fold_leaf(const T* x, std::size_t count, log_sum_row<double>& out) {
  if (count > 1 && are_small(x, count)) {
    out.make_plain();
    return add_small_leaf(x, count, out.sum);
  }
  double elements[leaf];
  std::copy_n(x, count, elements);
  fold_log_sums(elements, count, out);
}

}  // namespace

const double* exponentials_of_small() {
  static const auto all = [] {
    std::array<double, most_small - least_small + 1> of;
    for (int i = least_small; i <= most_small; ++i)
      of[static_cast<std::size_t>(i - least_small)] = accumulator::exponential_of_near(double(i));
    return of;
  }();
  return all.data();
}

template <std::integral T>
[[gnu::noinline]] void add_small_rows(const T* x, std::size_t rows, std::ptrdiff_t step, std::size_t columns,
                                      double* sum) {
  const double* const exponential = exponentials_of_small() - least_small;
  constexpr std::size_t at_once = 8;  // As many sums stay in registers.
  const std::size_t whole = columns / at_once * at_once;
  for (std::size_t j = 0; j < whole; j += at_once) {
    double s[at_once];
    std::copy_n(sum + j, at_once, s);
    const T* row = x + j;
    for (std::size_t r = 0; r < rows; ++r, row += step) {
      HWY_UNROLL(8)
      for (std::size_t k = 0; k < at_once; ++k) s[k] += exponential[static_cast<std::ptrdiff_t>(row[k])];
    }
    std::copy_n(s, at_once, sum + j);
  }
  for (std::size_t j = whole; j < columns; ++j) {
    const T* element = x + j;
    for (std::size_t r = 0; r < rows; ++r, element += step)
      sum[j] += exponential[static_cast<std::ptrdiff_t>(*element)];
  }
}

template <std::integral T>
void fold_integer_log_sums(const T* x, std::size_t count, log_sum_row<double>& out) {
  fold_log_sum_tree(x, count, out, fold_leaf<T>);
}

template <std::integral T>
void fold_integer_log_sums_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                                accumulator::scaled_sum* totals) {
  for (std::size_t i = 0; i < number; ++i) {
    const auto* const x = static_cast<const T*>(runs[i].x);
    prefetch_row(x + prefetch_distance / sizeof(T), std::min(counts[i], leaf) * sizeof(T));
    if (counts[i] > 1 && counts[i] <= leaf && are_small(x, counts[i])) {
      double sum[row_width] = {};
      add_small_leaf(x, counts[i], sum);
      totals[i] = {0, total_of_plain_row(sum)};
    } else {
      log_sum_row<double> row;
      fold_integer_log_sums(x, counts[i], row);
      totals[i] = row.total();
    }
  }
}

#define FANIN_FOLD(SUFFIX, T)                                                                           \
  template void add_small_rows(const T*, std::size_t, std::ptrdiff_t, std::size_t, double*);            \
  template void fold_integer_log_sums(const T*, std::size_t, log_sum_row<double>&);                     \
  template void fold_integer_log_sums_each<T>(const detail::operands*, const std::size_t*, std::size_t, \
                                              accumulator::scaled_sum*);
FANIN_FOR_EACH_INTEGER(FANIN_FOLD)
#undef FANIN_FOLD

}  // namespace fanin::cpu
