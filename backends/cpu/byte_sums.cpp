// SPDX-License-Identifier: Apache-2.0
// Sums of several short arrays of integers of 8 bits, and what follows from sums. All numbers on the way are integers
// below 2^53, which are exact in double, so that one division or one square root rounds the result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/byte_sums.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backends/cpu/across-inl.h"
#include "backends/cpu/fold.hpp"
#include "backends/cpu/integers.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Writes the sums of the elements, or of their magnitudes, and of their squares.
template <class T>
void sum_bytes(bool magnitudes, const operands* runs, const std::size_t* counts, std::size_t number,
               std::int32_t* sums, std::int32_t* squares) {
  const hn::CappedTag<std::int16_t, 16> d;
  const hn::Repartition<std::int32_t, decltype(d)> wide;
  const hn::Rebind<T, decltype(d)> bytes;
  constexpr std::size_t width = hn::MaxLanes(d), results = hn::MaxLanes(wide);
  const auto one = hn::Set(d, 1);
  HWY_ALIGN std::int32_t room[2][results * results];
  for (std::size_t first = 0; first < number; first += results) {
    const std::size_t n = std::min(results, number - first);
    for (std::size_t r = 0; r < results; ++r) {
      const std::size_t run = first + std::min(r, n - 1), count = counts[run];
      const auto* const x = static_cast<const T*>(runs[run].x);
      auto sum = hn::Zero(wide), other_sum = sum, square = sum, other_square = sum;
      const auto add = [&](auto v) HWY_ATTR {
        auto terms = hn::PromoteTo(d, v);
        square = hn::ReorderWidenMulAccumulate(wide, terms, terms, square, other_square);
        if (magnitudes) terms = hn::Abs(terms);
        sum = hn::ReorderWidenMulAccumulate(wide, terms, one, sum, other_sum);
      };
      std::size_t i = 0;
      for (; i + width <= count; i += width) {
        if (i % 64 == 0) prefetch_line(x + i);
        add(hn::LoadU(bytes, x + i));
      }
      if (i < count) {
        HWY_ALIGN T last[width] = {};
        std::copy(x + i, x + count, last);
        add(hn::Load(bytes, last));
      }
      hn::Store(hn::Add(sum, other_sum), wide, room[0] + r * results);
      hn::Store(hn::Add(square, other_square), wide, room[1] + r * results);
    }
    const auto total_of = [&](const std::int32_t* from, std::int32_t* to) HWY_ATTR {
      HWY_ALIGN std::int32_t totals[results];
      const auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
      hn::Store(across<results>(wide, from, 1, add), wide, totals);
      std::copy_n(totals, n, to + first);
    };
    total_of(room[0], sums);
    total_of(room[1], squares);
  }
}

#else

template <class T>
void sum_bytes(bool magnitudes, const operands* runs, const std::size_t* counts, std::size_t number,
               std::int32_t* sums, std::int32_t* squares) {
  for (std::size_t i = 0; i < number; ++i) {
    sums[i] = squares[i] = 0;
    for (std::size_t k = 0; k < counts[i]; ++k) {
      const int x = static_cast<const T*>(runs[i].x)[k];
      sums[i] += magnitudes ? std::abs(x) : x;
      squares[i] += x * x;
    }
  }
}

#endif

void sum_bytes_i8(bool magnitudes, const operands* runs, const std::size_t* counts, std::size_t number,
                  std::int32_t* sums, std::int32_t* squares) {
  sum_bytes<std::int8_t>(magnitudes, runs, counts, number, sums, squares);
}
void sum_bytes_u8(bool magnitudes, const operands* runs, const std::size_t* counts, std::size_t number,
                  std::int32_t* sums, std::int32_t* squares) {
  sum_bytes<std::uint8_t>(magnitudes, runs, counts, number, sums, squares);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(sum_bytes_i8);
HWY_EXPORT(sum_bytes_u8);

std::uint64_t reduce_bytes_each(operation what, bool is_signed, const detail::operands* runs,
                                const std::size_t* counts, std::size_t number, void* out) {
  constexpr std::size_t longest = 256, most_runs = detail::arithmetic::most_runs;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - number);
  if (std::any_of(counts, counts + number, [](std::size_t n) { return n == 0 || n > longest; })) return all;
  const operation_row& row = row_of(what);
  const bool deviations = row.adds == summand::deviations;
  std::int32_t sums[most_runs], squares[most_runs];
  if (is_signed) {
    HWY_DYNAMIC_DISPATCH(sum_bytes_i8)(row.adds == summand::magnitudes, runs, counts, number, sums, squares);
  } else {
    HWY_DYNAMIC_DISPATCH(sum_bytes_u8)(false, runs, counts, number, sums, squares);
  }
  const std::int32_t* const terms = row.adds == summand::squares ? squares : sums;
  if (row.value == sum_value::total) {
    std::copy_n(terms, number, static_cast<std::int64_t*>(out));
    return 0;
  }
  auto* const results = static_cast<double*>(out);
  if (!is_quotient(row.value)) {
    for (std::size_t i = 0; i < number; ++i) results[i] = std::sqrt(static_cast<double>(terms[i]));
    return 0;
  }
  const std::int64_t absent = row.empty == empty_value::none_of_one ? 1 : 0;
  std::int64_t numerators[most_runs], denominators[most_runs];
  for (std::size_t i = 0; i < number; ++i) {
    const auto n = static_cast<std::int64_t>(counts[i]), sum = std::int64_t{sums[i]};
    numerators[i] = deviations ? squares[i] * n - sum * sum : terms[i];
    denominators[i] = deviations ? n * (n - absent) : n;
  }
  if (!is_root(row.value)) {
    for (std::size_t i = 0; i < number; ++i) {
      results[i] = static_cast<double>(numerators[i]) / static_cast<double>(denominators[i]);
    }
    return 0;
  }
  fraction fractions[most_runs];
  for (std::size_t i = 0; i < number; ++i) fractions[i] = {numerators[i], static_cast<double>(denominators[i])};
  return round_fractions(true, fractions, number, results);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
