// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
    for (const std::size_t end = std::min(i + vector, count); i < end; ++i) A::add(into, x[i]);
  }
  for (; i < count && into.magnitude != 0; i += std::min(block, count - i)) {
    if (zeros_leaf(x + i, std::min(block, count - i), is_long<T>(count)) > 0) A::add(into, T{0});
  }
}

#define FANIN_FOLDS(SUFFIX, T)                                                                \
  template void add_integers<T, false>(const T*, std::size_t, accumulator::int128&);          \
  template void add_integers<T, true>(const T*, std::size_t, accumulator::int128&);           \
  template void add_integer_squares<T>(const T*, std::size_t, accumulator::uint128&);         \
  template void add_integer_moments<T>(const T*, std::size_t, accumulator::integer_moments&); \
  template void multiply_integers<T>(const T*, std::size_t, accumulator::integer_product_state&);
FANIN_FOR_EACH_INTEGER(FANIN_FOLDS)
#undef FANIN_FOLDS

}  // namespace fanin::cpu
