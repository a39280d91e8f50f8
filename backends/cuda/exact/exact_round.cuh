// SPDX-License-Identifier: Apache-2.0
// The final rounding of an exact sum by the lanes of one warp, which saves a few microseconds over fixed_point.hpp,
// where one thread goes through the limbs.
#pragma once

#include "backends/cuda/exact/chunk_sums.hpp"

namespace fanin::cuda {

/// The leading 64 bits of a number, and whether a later bit is set.
struct leading_bits {
  std::uint64_t bits;  ///< the first bit is set unless the number is 0
  int exponent;        ///< the value of the first bit is 2^exponent
  bool sticky;         ///< whether a bit after these is set
  bool negative;
};

/// A carry-lookahead adder for a number with one digit in each lane of a warp. The digit of a lane generates a carry
/// in any case, or propagates the carry that it receives. Bit i of the result is the carry into digit i; bit 32 is
/// the carry out of the last digit.
__device__ inline std::uint64_t carries_into(bool generates, bool propagates) {
  const std::uint64_t generate = __ballot_sync(0xffffffffu, generates);
  const std::uint64_t propagate = generate | __ballot_sync(0xffffffffu, propagates);
  return (generate + propagate) ^ generate ^ propagate;
}

/// The leading bits of a sum in shared memory. The first warp of a block calls it. Each lane has a digit of 80 bits,
/// from five chunks: the warp normalises these digits, takes the absolute value, and finds the first bit that is set.
template <class T>
__device__ leading_bits leading_bits_of(const chunk_sums<T>& sums) {
  using detail::int128;
  using detail::uint128;
  constexpr unsigned all = 0xffffffffu;
  constexpr int chunks = 5;
  constexpr uint128 base = uint128{1} << (16 * chunks);
  static_assert(chunk_sums<T>::count < 31 * chunks);
  const int lane = static_cast<int>(threadIdx.x);

  int128 value = 0;
#pragma unroll
  for (int k = chunks - 1; k >= 0; --k) {
    const int i = lane * chunks + k;
    value = (value << 16) + (i < chunk_sums<T>::count ? sums.chunk[i] : 0);
  }
  // The part of a lane's sum above 80 bits is the carry into the next lane's digit, and may be negative. With a bias
  // added to every digit it is not, and the carries of that addition are 0 or 1. The bias is then subtracted from all
  // digits; a borrow out of the last digit means that the number is negative, in two's complement.
  constexpr std::int64_t bias = std::int64_t{1} << 50;
  const std::int64_t carry_out = static_cast<std::int64_t>(value >> (16 * chunks));
  const std::int64_t carry_in = __shfl_up_sync(all, carry_out, 1);
  uint128 digit =
      (static_cast<uint128>(value) & (base - 1)) + static_cast<std::uint64_t>(bias + (lane > 0 ? carry_in : 0));
  digit += carries_into(digit >= base, digit == base - 1) >> lane & 1;
  digit &= base - 1;
  const std::uint64_t borrows = carries_into(digit < bias, digit == bias);
  digit = (digit - bias - (borrows >> lane & 1)) & (base - 1);
  const bool negative = (borrows >> 32) != 0;
  unsigned nonzero_lanes = __ballot_sync(all, digit != 0);
  if (nonzero_lanes == 0) return {};
  // Negation leaves the lowest digits of 0, negates the first other digit, and inverts those above.
  if (negative) {
    digit = lane < __ffs(nonzero_lanes) - 1 ? 0 : (~digit + (lane == __ffs(nonzero_lanes) - 1 ? 1 : 0)) & (base - 1);
  }
  nonzero_lanes = __ballot_sync(all, digit != 0);

  __shared__ std::uint16_t words[(1 + 32) * chunks];  // 16 bits each, after a digit of 0 below lane 0's
#pragma unroll
  for (int k = 0; k < chunks; ++k) {
    if (lane == 0) words[k] = 0;
    words[(1 + lane) * chunks + k] = static_cast<std::uint16_t>(digit >> (16 * k));
  }
  __syncwarp();
  const int top_lane = 31 - __clz(nonzero_lanes);
  int top = (1 + top_lane) * chunks + chunks - 1;
  while (words[top] == 0) --top;
  std::uint64_t bits = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) bits = bits << 16 | words[top - k];
  const std::uint64_t next_word = words[top - 4];
  const int zeros = __clzll(bits);
  // The words below next_word are lower words of its lane's digit, and the digits of lanes_below lanes.
  const int lanes_below = (top - 4) / chunks - 1;
  const bool in_same_lane = lane < (top - 4) % chunks && words[(1 + lanes_below) * chunks + lane] != 0;
  const bool sticky = (next_word << zeros & 0xffff) != 0 || __any_sync(all, in_same_lane) ||
                      (lanes_below > 0 && (nonzero_lanes & ((1u << lanes_below) - 1)) != 0);
  return {bits << zeros | next_word >> (16 - zeros), chunk_sums<T>::format::low + 16 * (top - chunks) + 15 - zeros,
          sticky, negative};
}

/// The leading bits rounded to R: nearest, ties to even.
template <class R>
__device__ R rounded(const leading_bits& x) {
  using format = detail::float_format<R>;
  using bits = typename format::bits;
  const bits sign = x.negative ? format::sign : 0;
  if (x.bits == 0) return R{0};
  if (x.exponent >= format::high) return detail::from_bits<R>(sign | format::infinity);
  const int unit = ::max(x.exponent - (format::digits - 1), format::low);
  const int kept = x.exponent - unit + 1;  // bits before the rounding; < 0 far below the smallest R
  if (kept < 0) return detail::from_bits<R>(sign);
  std::uint64_t mantissa = kept == 0 ? 0 : x.bits >> (64 - kept);
  const std::uint64_t dropped_bits = x.bits << kept;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  if (dropped_bits > half || (dropped_bits == half && (x.sticky || mantissa % 2 != 0))) ++mantissa;
  return detail::from_bits<R>(
      sign | static_cast<bits>((static_cast<bits>(unit - format::low) << (format::digits - 1)) + mantissa));
}

}  // namespace fanin::cuda
