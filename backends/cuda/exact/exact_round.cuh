// The final rounding of an exact sum by one warp: what fixed_point.hpp does limb by limb, in a few microseconds less.
#pragma once

#include "backends/cuda/exact/chunk_sums.hpp"

namespace fanin::cuda {

/// A number's leading bits, and what is known of the others.
struct leading_bits {
  std::uint64_t bits;  ///< the first bit is set, if not all are 0
  int exponent;        ///< of the first bit
  bool more;           ///< whether a bit that follows is set
  bool negative;
};

/// Bit i of the result is the carry into digit i, bit 32 the carry out of the last digit. A lane's digit generates a
/// carry (`in_any_case`) or propagates the carry that it receives (`if_it_gets_one`): a carry-lookahead adder over
/// the lanes of a warp.
__device__ inline std::uint64_t carries_into(bool in_any_case, bool if_it_gets_one) {
  const std::uint64_t generate = __ballot_sync(0xffffffffu, in_any_case);
  const std::uint64_t propagate = generate | __ballot_sync(0xffffffffu, if_it_gets_one);
  return (generate + propagate) ^ generate ^ propagate;
}

/// Called by the first warp of a block, for a sum in shared memory. Each lane makes five chunks a digit of 80 bits.
template <class T>
__device__ leading_bits leading_bits_of(const chunk_sums<T>& sums) {
  using detail::int128;
  using detail::uint128;
  constexpr unsigned all = 0xffffffffu;
  constexpr int chunks = 5;
  constexpr uint128 base = uint128{1} << (16 * chunks);
  static_assert(chunk_sums<T>::count < 31 * chunks);
  const int lane = static_cast<int>(threadIdx.x);

  int128 own = 0;
#pragma unroll
  for (int k = chunks - 1; k >= 0; --k) {
    const int i = lane * chunks + k;
    own = (own << 16) + (i < chunk_sums<T>::count ? sums.chunk[i] : 0);
  }
  // What overflows goes to the next lane, made positive by a bias, so that what then overflows is 0 or 1.
  constexpr std::int64_t bias = std::int64_t{1} << 50;
  const std::int64_t above = static_cast<std::int64_t>(own >> (16 * chunks));
  const std::int64_t from_below = __shfl_up_sync(all, above, 1);
  uint128 digit =
      (static_cast<uint128>(own) & (base - 1)) + static_cast<std::uint64_t>(bias + (lane > 0 ? from_below : 0));
  digit += carries_into(digit >= base, digit == base - 1) >> lane & 1;
  digit &= base - 1;
  const std::uint64_t borrows = carries_into(digit < bias, digit == bias);
  digit = (digit - bias - (borrows >> lane & 1)) & (base - 1);
  const bool negative = (borrows >> 32) != 0;
  unsigned set = __ballot_sync(all, digit != 0);
  if (set == 0) return {};
  if (negative) digit = lane < __ffs(set) - 1 ? 0 : (~digit + (lane == __ffs(set) - 1 ? 1 : 0)) & (base - 1);
  set = __ballot_sync(all, digit != 0);

  __shared__ std::uint16_t digits[(1 + 32) * chunks];  // of 16 bits, above as many zeros
#pragma unroll
  for (int k = 0; k < chunks; ++k) {
    if (lane == 0) digits[k] = 0;
    digits[(1 + lane) * chunks + k] = static_cast<std::uint16_t>(digit >> (16 * k));
  }
  __syncwarp();
  const int top_lane = 31 - __clz(set);
  int top = (1 + top_lane) * chunks + chunks - 1;
  while (digits[top] == 0) --top;
  std::uint64_t bits = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) bits = bits << 16 | digits[top - k];
  const std::uint64_t next = digits[top - 4];
  const int zeros = __clzll(bits);
  // Digits under next: whole lanes, and those in next's own lane.
  const int whole = (top - 4) / chunks - 1;
  const bool in_part = lane < (top - 4) % chunks && digits[(1 + whole) * chunks + lane] != 0;
  const bool more =
      (next << zeros & 0xffff) != 0 || __any_sync(all, in_part) || (whole > 0 && (set & ((1u << whole) - 1)) != 0);
  return {bits << zeros | next >> (16 - zeros), chunk_sums<T>::format::low + 16 * (top - chunks) + 15 - zeros, more,
          negative};
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
  const int kept = x.exponent - unit + 1;  // negative where the value is far below the smallest R
  if (kept < 0) return detail::from_bits<R>(sign);
  std::uint64_t mantissa = kept == 0 ? 0 : x.bits >> (64 - kept);
  const std::uint64_t rest = x.bits << kept;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  if (rest > half || (rest == half && (x.more || mantissa % 2 != 0))) ++mantissa;
  return detail::from_bits<R>(
      sign | static_cast<bits>((static_cast<bits>(unit - format::low) << (format::digits - 1)) + mantissa));
}

}  // namespace fanin::cuda
