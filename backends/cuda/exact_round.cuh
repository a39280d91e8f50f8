// The final rounding of an exact sum, by one warp.
#pragma once

#include <cstring>
#include <type_traits>

#include "backends/cuda/chunk_sums.hpp"

namespace fanin::cuda {

/// The leading 128 bits of a positive number, and what is known of the others.
struct leading_bits {
  detail::uint128 bits;  ///< the first bit is set, if not all are 0
  int exponent;          ///< of the first bit
  int sticky;            ///< not 0 if a bit that follows is set
  int negative;          ///< not 0 if it is the magnitude of a negative number
};

/// What another lane has, as `move(word)` says for each word.
template <class Value, class Move>
__device__ Value moved(Value value, Move move) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 4 == 0);
  unsigned words[sizeof(Value) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = move(word);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The value of the lane below, 0 in lane 0.
template <class Value>
__device__ Value from_below(Value value) {
  value = moved(value, [](unsigned word) { return __shfl_up_sync(0xffffffffu, word, 1); });
  return threadIdx.x == 0 ? Value{} : value;
}

/// Called by the first warp of a block. Each lane carries five chunks, a digit of 80 bits.
template <class T>
__device__ leading_bits leading_bits_of(const chunk_sums<T>& sums) {
  using detail::int128;
  using detail::uint128;
  constexpr unsigned all = 0xffffffffu;
  constexpr int chunks = 5, digit_bits = 16 * chunks;
  constexpr int lanes = (chunk_sums<T>::count + chunks - 1) / chunks;
  static_assert(lanes < 32);
  constexpr int128 mask = (int128{1} << digit_bits) - 1;
  const int lane = static_cast<int>(threadIdx.x);

  int128 own = 0;
  for (int k = chunks - 1; k >= 0; --k) {
    const int i = lane * chunks + k;
    own = own * 65536 + (i < chunk_sums<T>::count ? sums.chunk[i] : 0);
  }
  const unsigned set = __ballot_sync(all, own != 0);
  if (set == 0) return {};
  // The highest digit's sign is most often the sum's. If it is not, the highest lane ends below 0, and all turn
  // round.
  bool negative = __shfl_sync(all, own < 0, 31 - __clz(set));
  for (;;) {
    int128 digit = negative ? -own : own;
    int128 carry = 1;
    while (__any_sync(all, carry != 0)) {
      carry = lane < 31 ? digit >> digit_bits : 0;  // the highest lane keeps the sign
      digit = digit - (carry << digit_bits) + from_below(carry);
    }
    if (__any_sync(all, digit < 0)) {
      negative = !negative;
      continue;
    }
    const unsigned digits = __ballot_sync(all, digit != 0);
    if (digits == 0) return {};
    const int top = 31 - __clz(digits);
    const auto below = static_cast<uint128>(from_below(digit));
    // What follows is right in lane `top`.
    const auto first = static_cast<uint128>(digit & mask);
    const auto upper = static_cast<std::uint64_t>(first >> 64);
    const int length = upper != 0 ? 128 - __clzll(upper) : 64 - __clzll(static_cast<std::uint64_t>(first));
    const int room = 128 - length;  // for the digit below
    leading_bits result{};
    result.bits = length == 0 ? first : first << room;
    if (room >= digit_bits) {
      result.bits |= below << (room - digit_bits);
    } else {
      result.bits |= below >> (digit_bits - room);
      result.sticky = (below & ((uint128{1} << (digit_bits - room)) - 1)) != 0 ? 1 : 0;
    }
    if (top > 1 && (digits & ((1u << (top - 1)) - 1)) != 0) result.sticky = 1;
    result.exponent = chunk_sums<T>::format::low + top * digit_bits + length - 1;
    result.negative = negative ? 1 : 0;
    return moved(result, [top](unsigned word) { return __shfl_sync(0xffffffffu, word, top); });
  }
}

/// The leading bits rounded to R: nearest, ties to even.
template <class R>
__device__ R rounded(const leading_bits& x) {
  using format = detail::float_format<R>;
  using bits = typename format::bits;
  const bits sign = x.negative != 0 ? format::sign : 0;
  if (x.bits == 0) return R{0};
  if (x.exponent >= format::high) return detail::from_bits<R>(sign | format::infinity);
  const int unit = ::max(x.exponent - (format::digits - 1), format::low);
  const int kept = x.exponent - unit + 1;  // negative where the value is far below the smallest R
  if (kept < 0) return detail::from_bits<R>(sign);
  auto mantissa = kept == 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(x.bits >> (128 - kept));
  const auto rest = x.bits << kept;
  constexpr auto half = detail::uint128{1} << 127;
  const bool above_half = rest > half || (rest == half && x.sticky != 0);
  if (above_half || (rest == half && mantissa % 2 != 0)) ++mantissa;
  return detail::from_bits<R>(
      sign | static_cast<bits>((static_cast<bits>(unit - format::low) << (format::digits - 1)) + mantissa));
}

}  // namespace fanin::cuda
