// SPDX-License-Identifier: Apache-2.0
// Leaves of integers. Elements are multiplied and added in vectors of 32 and 64 bits, which do not overflow, and
// the sums in the vectors are put together in 128 bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/integers.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "backends/cpu/integers.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// Adds all elements to `sum` in vectors. The last vector may be filled up with zeros. Returns the number of
/// elements and zeros.
template <class T, class Sum>
HWY_INLINE std::size_t add_vectors(const T* x, std::size_t count, bool prefetches, Sum& sum) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t width = hn::MaxLanes(d), step = 4 * width;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    if (prefetches) {
      for (std::size_t b = 0; b < step * sizeof(T); b += 64) {
        prefetch_line(reinterpret_cast<const char*>(x + i) + b);
      }
    }
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < 4; ++v) sum.add(hn::LoadU(d, x + i + v * width));
  }
  for (; i + width <= count; i += width) sum.add(hn::LoadU(d, x + i));
  if (i == count) return count;
  sum.add(load_part(d, x + i, 0, count - i, T{0}));
  return i + width;
}

using words = hn::ScalableTag<std::uint64_t>;
using word_vector = hn::Vec<words>;

HWY_INLINE std::uint64_t sum_of_words(word_vector v) { return hn::GetLane(hn::SumOfLanes(words(), v)); }
template <class V>
HWY_INLINE word_vector as_words(V v) {
  return hn::BitCast(words(), v);
}

/// The sums of the low and of the high 32 bits of fewer than 2^32 words. The sum of whole words is taken modulo
/// 2^64. Without the high halves it is the sum of the low halves, which is less than 2^64.
struct half_sums {
  word_vector whole, high;
  HWY_INLINE half_sums() : whole(hn::Zero(words())), high(hn::Zero(words())) {}
  HWY_INLINE void add(word_vector v) {
    whole = hn::Add(whole, v);
    high = hn::Add(high, hn::ShiftRight<32>(v));
  }
  HWY_INLINE accumulator::uint128 sum_of_high() const { return sum_of_words(high); }
  HWY_INLINE accumulator::uint128 sum_of_low() const {
    return static_cast<std::uint64_t>(sum_of_words(whole) - (sum_of_words(high) << 32));
  }
  /// The sum of the words.
  HWY_INLINE accumulator::uint128 of_64() const { return (sum_of_high() << 32) + sum_of_low(); }
  /// The sum of the numbers of 32 bits that are the halves of the words.
  HWY_INLINE accumulator::uint128 of_32() const { return sum_of_high() + sum_of_low(); }
};

/// Sums of products of numbers of 16 bits, of 32 bits each.
struct pair_sums {
  using D = hn::ScalableTag<std::int32_t>;
  using numbers = hn::Vec<hn::ScalableTag<std::int16_t>>;
  hn::Vec<D> sums, other;
  HWY_INLINE pair_sums() : sums(hn::Zero(D())), other(hn::Zero(D())) {}
  HWY_INLINE void add(numbers a, numbers b) { sums = hn::ReorderWidenMulAccumulate(D(), a, b, sums, other); }
  HWY_INLINE hn::Vec<D> both() const { return hn::Add(sums, other); }
  HWY_INLINE std::int64_t total() const {
    const hn::ScalableTag<std::int64_t> wide;
    const hn::Half<D> half;
    const auto all =
        hn::Add(hn::PromoteTo(wide, hn::LowerHalf(half, both())), hn::PromoteTo(wide, hn::UpperHalf(half, both())));
    return hn::GetLane(hn::SumOfLanes(wide, all));
  }
};
/// A vector of 64 bytes adds up to four squares of bytes, 2^18, to a sum of 32 bits.
constexpr std::size_t most_vectors_of_pairs = 4096;

/// The sum of elements. Elements of 8, 32 or 64 bits are added as unsigned numbers, and elements of 16 bits as
/// signed numbers. Elements of the other kind have their sign bit flipped, which adds `offset` to each element.
template <class T, bool Magnitudes>
struct element_sum {
  using D = hn::ScalableTag<T>;
  static constexpr bool is_signed = std::is_signed_v<T> && !Magnitudes, pairs = sizeof(T) == 2;
  static constexpr accumulator::int128 half_range = accumulator::int128{1} << (8 * sizeof(T) - 1);
  static constexpr accumulator::int128 offset = is_signed == pairs ? 0 : (is_signed ? half_range : -half_range);
  half_sums halves;
  pair_sums pairs_of_16;

  HWY_INLINE element_sum() {}
  HWY_INLINE void add(hn::Vec<D> v) {
    if constexpr (Magnitudes) v = hn::Abs(v);
    if constexpr (offset != 0) v = hn::Xor(v, hn::Set(D(), static_cast<T>(half_range)));
    if constexpr (sizeof(T) == 1) {
      const hn::Repartition<std::uint8_t, words> bytes;
      halves.whole = hn::Add(halves.whole, hn::SumsOf8(hn::BitCast(bytes, v)));
    } else if constexpr (pairs) {
      const hn::ScalableTag<std::int16_t> numbers;
      pairs_of_16.add(hn::BitCast(numbers, v), hn::Set(numbers, 1));
    } else {
      halves.add(as_words(v));
    }
  }
  HWY_INLINE accumulator::int128 total(std::size_t count) const {
    accumulator::int128 sum = 0;
    if constexpr (sizeof(T) == 1) sum = sum_of_words(halves.whole);
    if constexpr (pairs) sum = pairs_of_16.total();
    if constexpr (sizeof(T) == 4) sum = static_cast<accumulator::int128>(halves.of_32());
    if constexpr (sizeof(T) == 8) sum = static_cast<accumulator::int128>(halves.of_64());
    return sum - offset * static_cast<accumulator::int128>(count);
  }
};

/// The sum of squares of elements. For u16 it is the sum of squares of the signed numbers x - 2^15.
template <class T>
struct square_sum {
  using D = hn::ScalableTag<T>;
  pair_sums pairs_of_16;
  half_sums halves, cross, high;

  HWY_INLINE square_sum() {}
  HWY_INLINE void add(hn::Vec<D> v) {
    if constexpr (sizeof(T) == 1) {
      const hn::ScalableTag<std::uint16_t> d;
      const hn::ScalableTag<std::int16_t> numbers;
      if constexpr (std::is_signed_v<T>) v = hn::Abs(v);
      const auto pairs = hn::BitCast(d, v);
      const auto even = hn::BitCast(numbers, hn::And(pairs, hn::Set(d, 0xff)));
      const auto odd = hn::BitCast(numbers, hn::ShiftRight<8>(pairs));
      pairs_of_16.add(even, even);
      pairs_of_16.add(odd, odd);
    } else if constexpr (sizeof(T) == 2) {
      const hn::ScalableTag<std::int16_t> numbers;
      if constexpr (!std::is_signed_v<T>) v = hn::Xor(v, hn::Set(D(), T{0x8000}));
      pair_sums squares;
      squares.add(hn::BitCast(numbers, v), hn::BitCast(numbers, v));
      halves.add(as_words(squares.both()));
    } else if constexpr (sizeof(T) == 4) {
      const auto odd = hn::BitCast(D(), hn::ShiftRight<32>(as_words(v)));
      const auto even_squares = as_words(hn::MulEven(v, v)), odd_squares = as_words(hn::MulEven(odd, odd));
      if constexpr (std::is_signed_v<T>) {
        halves.add(hn::Add(even_squares, odd_squares));  // at most 2^63
      } else {
        halves.add(even_squares);
        halves.add(odd_squares);
      }
    } else {
      const hn::ScalableTag<std::uint32_t> numbers;
      if constexpr (std::is_signed_v<T>) v = hn::Abs(v);
      const auto a = hn::BitCast(numbers, v), b = hn::BitCast(numbers, hn::ShiftRight<32>(as_words(v)));
      halves.add(hn::MulEven(a, a));
      cross.add(hn::MulEven(a, b));
      high.add(hn::MulEven(b, b));
    }
  }
  HWY_INLINE square_total total() const {
    if constexpr (sizeof(T) == 1) return {static_cast<std::uint64_t>(pairs_of_16.total()), 0};
    if constexpr (sizeof(T) == 2) return {halves.of_32(), 0};
    if constexpr (sizeof(T) == 4) return {halves.of_64(), 0};
    // Sums of 2^30 products are less than 2^94.
    const accumulator::uint128 low = halves.of_64() + (cross.of_64() << 33), upper = high.of_64();
    const accumulator::uint128 all = low + (upper << 64);
    return {all, static_cast<std::uint64_t>(upper >> 64) + (all < low ? 1 : 0)};
  }
};

/// Calls fold(begin, n) for parts of up to `most` elements.
template <class Fold>
HWY_INLINE void in_parts(std::size_t count, std::size_t most, Fold fold) {
  for (std::size_t begin = 0; begin < count; begin += most) fold(begin, std::min(most, count - begin));
}

template <bool Magnitudes, class T>
HWY_INLINE accumulator::int128 sum_of(const T* x, std::size_t count, bool prefetches) {
  constexpr std::size_t width = hn::MaxLanes(hn::ScalableTag<T>());
  accumulator::int128 total = 0;
  in_parts(count, sizeof(T) == 2 ? most_vectors_of_pairs * width : most_integers,
           [&](std::size_t begin, std::size_t n) {
             element_sum<T, Magnitudes> sum;
             const std::size_t added = add_vectors(x + begin, n, prefetches, sum);
             total += sum.total(added);
           });
  return total;
}

template <class T>
HWY_INLINE square_total squares_of(const T* x, std::size_t count, bool prefetches) {
  constexpr std::size_t width = hn::MaxLanes(hn::ScalableTag<T>());
  constexpr bool is_u16 = std::is_same_v<T, std::uint16_t>;
  if constexpr (sizeof(T) > 2) {
    square_sum<T> sum;
    add_vectors(x, count, prefetches, sum);
    return sum.total();
  }
  square_total total{};
  in_parts(count, is_u16 ? twice_read<T>() : most_vectors_of_pairs * width, [&](std::size_t begin, std::size_t n) {
    square_sum<T> sum;
    const std::size_t added = add_vectors(x + begin, n, prefetches, sum);
    total.low += sum.total().low;
    if constexpr (is_u16) {  // x^2 = (x - 2^15)^2 + 2^16 x - 2^30
      const auto plain = static_cast<accumulator::uint128>(sum_of<false>(x + begin, n, false));
      total.low += (plain << 16) - (static_cast<accumulator::uint128>(added) << 30);
    }
  });
  return total;
}

template <class T>
leading_units units_of(const T* x, std::size_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t width = hn::MaxLanes(d), unroll = 4;
  auto signs = hn::Zero(d);
  std::size_t i = 0;
  // Takes n vectors if all of their elements are units.
  const auto takes = [&](std::size_t n) {
    auto others = hn::Zero(d), taken = signs;
    for (std::size_t k = 0; k < n; ++k) {
      const auto v = hn::LoadU(d, x + i + k * width);
      taken = hn::Xor(taken, v);
      if constexpr (std::is_signed_v<T>) {
        others = hn::Or(others, hn::Xor(hn::Abs(v), hn::Set(d, 1)));
      } else {
        others = hn::Or(others, hn::Xor(v, hn::Set(d, 1)));
      }
    }
    if (!hn::AllTrue(d, hn::Eq(others, hn::Zero(d)))) return false;
    signs = taken;
    i += n * width;
    return true;
  };
  while (i + unroll * width <= count && takes(unroll)) {
  }
  while (i + width <= count && takes(1)) {
  }
  T sign_of[width];
  hn::StoreU(signs, d, sign_of);
  T sign = 0;
  for (const T one : sign_of) sign = static_cast<T>(sign ^ one);
  return {i, sign < 0};
}

#define FANIN_INTEGERS(SUFFIX, T)                                                                          \
  accumulator::int128 sum_##SUFFIX(const T* x, std::size_t n, bool magnitudes, bool ahead) {               \
    if constexpr (std::is_signed_v<T>) {                                                                   \
      if (magnitudes) return sum_of<true>(x, n, ahead);                                                    \
    }                                                                                                      \
    return sum_of<false>(x, n, ahead);                                                                     \
  }                                                                                                        \
  square_total squares_##SUFFIX(const T* x, std::size_t n, bool ahead) { return squares_of(x, n, ahead); } \
  leading_units units_##SUFFIX(const T* x, std::size_t n) { return units_of(x, n); }
FANIN_FOR_EACH_INTEGER(FANIN_INTEGERS)
#undef FANIN_INTEGERS

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH(SUFFIX, T)                                                                    \
  HWY_EXPORT(sum_##SUFFIX);                                                                          \
  HWY_EXPORT(squares_##SUFFIX);                                                                      \
  HWY_EXPORT(units_##SUFFIX);                                                                        \
  template <>                                                                                        \
  accumulator::int128 sum_leaf<T>(const T* x, std::size_t count, bool magnitudes, bool prefetches) { \
    return HWY_DYNAMIC_DISPATCH(sum_##SUFFIX)(x, count, magnitudes, prefetches);                     \
  }                                                                                                  \
  template <>                                                                                        \
  square_total squares_leaf<T>(const T* x, std::size_t count, bool prefetches) {                     \
    return HWY_DYNAMIC_DISPATCH(squares_##SUFFIX)(x, count, prefetches);                             \
  }                                                                                                  \
  template <>                                                                                        \
  leading_units units_leaf<T>(const T* x, std::size_t count) {                                       \
    return HWY_DYNAMIC_DISPATCH(units_##SUFFIX)(x, count);                                           \
  }
FANIN_FOR_EACH_INTEGER(FANIN_DISPATCH)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
