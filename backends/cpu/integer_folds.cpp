// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "backends/cpu/integers.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {

template <class T, bool Magnitudes>
void add_integers(const T* x, std::size_t count, accumulator::int128& into) {
  for (std::size_t begin = 0; begin < count; begin += most_integers) {
    into += sum_leaf(x + begin, std::min(most_integers, count - begin), Magnitudes, is_long<T>(count));
  }
}

template <class T>
void add_integer_squares(const T* x, std::size_t count, accumulator::uint128& into) {
  using A = accumulator::integer_square_sum<T>;
  for (std::size_t begin = 0; begin < count; begin += most_integers) {
    const square_total total = squares_leaf(x + begin, std::min(most_integers, count - begin), is_long<T>(count));
    A::merge(into, total.high != 0 ? A::limit : total.low);
  }
}

template <class T>
void add_integer_moments(const T* x, std::size_t count, accumulator::integer_moments& into) {
  for (std::size_t begin = 0; begin < count; begin += twice_read<T>()) {
    const std::size_t n = std::min(twice_read<T>(), count - begin);
    const square_total squares = squares_leaf(x + begin, n, is_long<T>(count));
    accumulator::integer_dispersion<T>::merge(into,
                                              {sum_leaf(x + begin, n, false, false), squares.low, squares.high});
  }
}

/// Other elements than 0, 1 and -1 at least double the magnitude of a product, so that 64 of them make it too large.
/// From then on only a zero matters, and after a zero nothing.
template <class T>
void multiply_integers(const T* x, std::size_t count, accumulator::integer_product_state& into) {
  using A = accumulator::integer_product<T>;
  constexpr std::size_t vector = 64 / sizeof(T), block = 65536 / sizeof(T);
  std::size_t i = 0;
  while (i < count && into.magnitude != 0 && !into.too_large) {
    const leading_units units = units_leaf(x + i, count - i);
    A::merge(into, {1, units.negative, false});
    i += units.count;
    for (const std::size_t end = std::min(i + vector, count); i < end && into.magnitude != 0; ++i) A::add(into, x[i]);
  }
  for (; i < count && into.magnitude != 0; i += std::min(block, count - i)) {
    if (zeros_leaf(x + i, std::min(block, count - i), is_long<T>(count)) > 0) A::add(into, T{0});
  }
}

std::uint64_t finish_integers_each(operation what, const integer_total* totals, const std::size_t* counts,
                                   std::size_t number, element_type result, void* out) {
  using accumulator::int128;
  const operation_row& row = row_of(what);
  const bool deviations = row.adds == summand::deviations, squares = deviations || row.adds == summand::squares;
  fraction fractions[detail::arithmetic::most_runs];
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < number; ++i) {
    const auto& [sum, of_squares] = totals[i];
    const auto n = static_cast<int128>(counts[i]);
    fractions[i] = {0, 1};
    const auto leave = [&] { left |= std::uint64_t{1} << i; };
    if (n == 0 || counts[i] > most_in_fraction || of_squares.high != 0 || of_squares.low >> 100 != 0) {
      leave();
    } else if (row.value == sum_value::total) {
      const int128 total = squares ? static_cast<int128>(of_squares.low) : sum;
      const auto word = static_cast<std::uint64_t>(total);
      static_cast<std::uint64_t*>(out)[i] = word;
      if (total != (result == element_type::u64 ? int128{word} : int128{static_cast<std::int64_t>(word)})) leave();
    } else if (deviations) {
      const int128 divisor = n - (row.empty == empty_value::none_of_one ? 1 : 0);
      fractions[i] = {static_cast<int128>(of_squares.low) * n - sum * sum, static_cast<double>(n * divisor)};
    } else {
      fractions[i] = {squares ? static_cast<int128>(of_squares.low) : sum,
                      is_quotient(row.value) ? static_cast<double>(n) : 1};
    }
  }
  if (row.value == sum_value::total) return left;
  return left | round_fractions(is_root(row.value), fractions, number, static_cast<double*>(out));
}

template <class T>
std::uint64_t reduce_integers_each(operation what, const detail::operands* runs, const std::size_t* counts,
                                   std::size_t number, element_type result, void* out) {
  if constexpr (sizeof(T) == 1) {
    const std::uint64_t rest = reduce_bytes_each(what, std::is_signed_v<T>, runs, counts, number, out);
    if (rest != ~std::uint64_t{0} >> (64 - number)) return rest;
  }
  const operation_row& row = row_of(what);
  const bool deviations = row.adds == summand::deviations, squares = deviations || row.adds == summand::squares;
  integer_total totals[detail::arithmetic::most_runs];
  for (std::size_t i = 0; i < number; ++i) {
    const auto* const x = static_cast<const T*>(runs[i].x);
    const std::size_t count = counts[i];
    totals[i] = {};
    if (count > most_in_fraction) continue;
    if (squares) totals[i].squares = squares_leaf(x, count, false);
    if (!squares || deviations) totals[i].sum = sum_leaf(x, count, row.adds == summand::magnitudes, false);
  }
  return finish_integers_each(what, totals, counts, number, result, out);
}

#define FANIN_FOLDS(SUFFIX, T)                                                                           \
  template void add_integers<T, false>(const T*, std::size_t, accumulator::int128&);                     \
  template void add_integers<T, true>(const T*, std::size_t, accumulator::int128&);                      \
  template void add_integer_squares<T>(const T*, std::size_t, accumulator::uint128&);                    \
  template void add_integer_moments<T>(const T*, std::size_t, accumulator::integer_moments&);            \
  template void multiply_integers<T>(const T*, std::size_t, accumulator::integer_product_state&);        \
  template std::uint64_t reduce_integers_each<T>(operation, const detail::operands*, const std::size_t*, \
                                                 std::size_t, element_type, void*);
FANIN_FOR_EACH_INTEGER(FANIN_FOLDS)
#undef FANIN_FOLDS

}  // namespace fanin::cpu
