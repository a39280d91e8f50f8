// SPDX-License-Identifier: Apache-2.0
// The final rounding of an exact sum by the threads of one warp, which saves several microseconds over
// fixed_point.hpp, where one thread goes through the limbs.
#pragma once

#include <fanin/accumulator/root.hpp>

#include "backends/cuda/exact/chunk_sums.hpp"

namespace fanin::cuda {

/// The leading 128 bits of a number, and whether a later bit is set.
struct leading_bits {
  detail::uint128 bits;  ///< the first bit is set unless the number is 0
  int exponent;          ///< the value of the first bit is 2^exponent
  bool sticky;           ///< whether a bit after these is set
  bool negative;
};

/// A carry-lookahead adder for a number with one digit in each thread of a warp. The digit of a thread generates a
/// carry in any case, or propagates the carry that it receives. Bit i of the result is the carry into digit i; bit 32
/// is the carry out of the last digit.
__device__ inline std::uint64_t carries_into(bool generates, bool propagates) {
  const std::uint64_t generate = __ballot_sync(0xffffffffu, generates);
  const std::uint64_t propagate = generate | __ballot_sync(0xffffffffu, propagates);
  return (generate + propagate) ^ generate ^ propagate;
}

/// The chunks that a warp normalises at once: each thread has a digit of 80 bits, from five chunks. No carry leaves
/// the upper digit.
struct warp_digits {
  static constexpr int chunks = 5, most = 30 * chunks;
};

/// The chunks of a sum from the first to the last that is not 0. For the sum 0 it is the first chunk.
struct chunk_span {
  int first, last;
  __device__ int length() const { return last - first + 1; }
};
/// The chunks from the first to the last that is not 0. A whole warp calls it.
template <class T, int Power>
__device__ chunk_span span_of(const chunk_sums<T, Power>& sums) {
  chunk_span span{-1, 0};
  for (int begin = 0; begin < sums.count; begin += 32) {
    const int i = begin + static_cast<int>(threadIdx.x % 32);
    const unsigned nonzero = __ballot_sync(0xffffffffu, i < sums.count && sums.chunk[i] != 0);
    if (nonzero == 0) continue;
    if (span.first < 0) span.first = begin + __ffs(nonzero) - 1;
    span.last = begin + 31 - __clz(nonzero);
  }
  if (span.first < 0) span.first = 0;
  return span;
}

/// The leading bits of a sum in shared memory. All chunks of the sum that are not 0 are among warp_digits::most
/// chunks from `first` on. The first warp of a block calls the function, which normalises the digits, takes the
/// absolute value, and finds the first bit that is set.
template <class T, int Power>
__device__ leading_bits leading_bits_of(const chunk_sums<T, Power>& sums, int first) {
  using detail::int128;
  using detail::uint128;
  constexpr unsigned all = 0xffffffffu;
  constexpr int chunks = warp_digits::chunks;
  constexpr uint128 base = uint128{1} << (16 * chunks);
  const int warp_thread = static_cast<int>(threadIdx.x);

  int128 value = 0;
#pragma unroll
  for (int k = chunks - 1; k >= 0; --k) {
    const int i = warp_thread * chunks + k;
    value = (value << 16) + (i < warp_digits::most && first + i < sums.count ? sums.chunk[first + i] : 0);
  }
  // The part of a thread's sum above 80 bits is the carry into the next thread's digit, and may be negative. With a
  // bias added to every digit it is not, and the carries of that addition are 0 or 1. The bias is then subtracted
  // from all digits; a borrow out of the last digit means that the number is negative, in two's complement.
  constexpr std::int64_t bias = std::int64_t{1} << 50;
  const std::int64_t carry_out = static_cast<std::int64_t>(value >> (16 * chunks));
  const std::int64_t carry_in = __shfl_up_sync(all, carry_out, 1);
  uint128 digit = (static_cast<uint128>(value) & (base - 1)) +
                  static_cast<std::uint64_t>(bias + (warp_thread > 0 ? carry_in : 0));
  digit += carries_into(digit >= base, digit == base - 1) >> warp_thread & 1;
  digit &= base - 1;
  const std::uint64_t borrows = carries_into(digit < bias, digit == bias);
  digit = (digit - bias - (borrows >> warp_thread & 1)) & (base - 1);
  const bool negative = (borrows >> 32) != 0;
  unsigned nonzero_digits = __ballot_sync(all, digit != 0);
  if (nonzero_digits == 0) return {};
  // Negation leaves the lowest digits that are 0, negates the first other digit, and inverts the digits above.
  if (negative) {
    digit = warp_thread < __ffs(nonzero_digits) - 1
                ? 0
                : (~digit + (warp_thread == __ffs(nonzero_digits) - 1 ? 1 : 0)) & (base - 1);
  }
  nonzero_digits = __ballot_sync(all, digit != 0);

  constexpr int whole = 8, below = (whole + 1 + chunks - 1) / chunks;  // digits of 0 below the first thread's
  __shared__ std::uint16_t words[(below + 32) * chunks];               // each of 16 bits
#pragma unroll
  for (int k = 0; k < chunks; ++k) {
    if (warp_thread < below) words[warp_thread * chunks + k] = 0;
    words[(below + warp_thread) * chunks + k] = static_cast<std::uint16_t>(digit >> (16 * k));
  }
  __syncwarp();
  const int top_digit = 31 - __clz(nonzero_digits);
  int top = (below + top_digit) * chunks + chunks - 1;
  while (words[top] == 0) --top;
  uint128 bits = 0;
#pragma unroll
  for (int k = 0; k < whole; ++k) bits = bits << 16 | words[top - k];
  const unsigned next_word = words[top - whole];
  const int zeros = __clz(words[top]) - 16;
  // The words below next_word are lower words of its digit, and digits_below whole digits.
  const int digit_of_next = (top - whole) / chunks, digits_below = digit_of_next - below;
  const bool in_same_digit = warp_thread < (top - whole) % chunks && words[digit_of_next * chunks + warp_thread] != 0;
  const bool sticky = (next_word << zeros & 0xffff) != 0 || __any_sync(all, in_same_digit) ||
                      (digits_below > 0 && (nonzero_digits & ((1u << digits_below) - 1)) != 0);
  return {bits << zeros | next_word >> (16 - zeros),
          chunk_sums<T, Power>::low + 16 * (first + top - below * chunks) + 15 - zeros, sticky, negative};
}

/// x divided by `count` > 0, in leading bits of which at least 64 count.
static __device__ __noinline__ leading_bits quotient(const leading_bits& x, std::uint64_t count) {
  if (x.bits == 0) return x;
  const detail::uint128 bits = x.bits / count;
  const auto high = static_cast<std::uint64_t>(bits >> 64), low = static_cast<std::uint64_t>(bits);
  const int zeros = high != 0 ? __clzll(high) : 64 + __clzll(low);
  return {bits << zeros, x.exponent - zeros, x.sticky || bits * count != x.bits, x.negative};
}

/// The square root of x >= 0.
static __device__ __noinline__ leading_bits root(leading_bits x) {
  if (x.bits == 0) return x;
  if (x.exponent % 2 == 0) {  // The last bit, 2^(exponent-127), has to be an even power.
    x.sticky = x.sticky || (x.bits & 1) != 0;
    x.bits >>= 1;
    ++x.exponent;
  }
  const std::uint64_t root = detail::floor_root(x.bits);
  const bool sticky = x.sticky || detail::uint128{root} * root != x.bits;
  return {detail::uint128{root} << 64, (x.exponent - 127) / 2 + 63, sticky, false};
}

/// The leading bits rounded to R: nearest, ties to even.
template <class R>
__device__ R rounded(const leading_bits& x) {
  using format = detail::float_format<R>;
  using bits = typename format::bits;
  const auto leading = static_cast<std::uint64_t>(x.bits >> 64);
  const bool sticky = x.sticky || static_cast<std::uint64_t>(x.bits) != 0;
  const bits sign = x.negative ? format::sign : 0;
  if (leading == 0) return R{0};
  if (x.exponent >= format::high) return detail::from_bits<R>(sign | format::infinity);
  const int unit = ::max(x.exponent - (format::digits - 1), format::low);
  const int kept = x.exponent - unit + 1;  // bits before the rounding; < 0 far below the smallest R
  if (kept < 0) return detail::from_bits<R>(sign);
  std::uint64_t mantissa = kept == 0 ? 0 : leading >> (64 - kept);
  const std::uint64_t dropped_bits = leading << kept;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  if (dropped_bits > half || (dropped_bits == half && (sticky || mantissa % 2 != 0))) ++mantissa;
  return detail::from_bits<R>(
      sign | static_cast<bits>((static_cast<bits>(unit - format::low) << (format::digits - 1)) + mantissa));
}

}  // namespace fanin::cuda
