// SPDX-License-Identifier: Apache-2.0
// The last block of an exact kernel writes the sums of the grid, or the value that the sums give.
#pragma once

#include <fanin/accumulator/exact_recipes.hpp>
#include <fanin/device.hpp>

#include "backends/cuda/exact/exact_round.cuh"

namespace fanin::cuda {

/// The memory for a value, as a device_result of floats of the format `to`.
struct value_place {
  void* result = nullptr;
  detail::number_format to{};
  bool has_negative_zero = true;  ///< else +0 is stored for -0

  /// The place behind this one's number: of a second number before the flag.
  __device__ value_place next() const {
    value_place behind = *this;
    behind.result = static_cast<std::byte*>(result) + (to.sign >> 63 != 0 ? sizeof(double) : sizeof(float));
    return behind;
  }

  /// Stores a number of the format.
  __device__ void store(detail::number_format::bits number) const {
    if (!has_negative_zero) number = accumulator::without_sign_of_zero(number, to);
    if (to.sign >> 63 != 0) {
      store_as<double>(number);
    } else if (to.sign >> 31 != 0) {
      store_as<float>(number);
    } else if (to.sign >> 15 != 0) {
      store_as<f16>(number);  // or bf16
    } else {
      store_as<e5m2>(number);  // or e4m3
    }
  }

 private:
  template <class R>
  __device__ void store_as(detail::number_format::bits number) const {
    using bits = typename detail::float_format<R>::bits;
    *static_cast<device_result<R>*>(result) = {detail::from_bits<R>(static_cast<bits>(number)), 0};
  }
};

/// Writes a sum to `out`. A whole block calls it.
template <class T, int Power>
__device__ void write_state(const chunk_sums<T, Power>& total, unsigned seen, chunk_sums<T, Power>* out) {
  for (int i = threadIdx.x; i < total.count; i += blockDim.x) out->chunk[i] = total.chunk[i];
  if (threadIdx.x == 0) out->seen = seen;
}

/// Writes the grid's sum to `out`, or if place.result is not null, the rounded value there. A whole block calls it.
/// Sums of products have Power 2, and are rounded as sums of squares are.
template <class T, int Power>
struct exact_sum_writer {
  using sums = chunk_sums<T, Power>;
  sums* out;
  value_place place;
  sum_value value;
  std::uint64_t count;

  __device__ void operator()(const sums& total) const {
    if (place.result == nullptr) return write_state(total, total.seen, out);
    if (threadIdx.x >= 32) return;
    const chunk_span span = span_of(total);
    const bool is_float = sizeof(T) == 4 && place.to.sign == detail::float_format<float>::sign;
    const bool is_double = place.to.sign == detail::float_format<double>::sign;
    // Few results are narrower, and need no code of their own.
    if ((is_float || is_double) && total.seen == seen_bits::not_negative_zero && span.length() <= warp_digits::most) {
      const leading_bits sum = leading_bits_of(total, span.first);
      if (threadIdx.x > 0) return;
      const leading_bits x = value == sum_value::mean   ? quotient(sum, count)
                             : value == sum_value::root ? root(sum)
                                                        : sum;
      place.store(is_float ? detail::to_bits(rounded<float>(x)) : detail::to_bits(rounded<double>(x)));
    } else if (threadIdx.x == 0) {
      place.store(value_in_one_thread(total, place.to));
    }
  }

 private:
  using bits = detail::number_format::bits;
  /// The function is not inlined, since its arrays would take registers from the kernel's loops.
  __device__ __noinline__ bits value_in_one_thread(const sums& total, const detail::number_format& to) const {
    const auto sum = static_cast<typename sums::accumulator>(total);
    if (value == sum_value::total) return sum.template round<bits>(to);
    if constexpr (Power == 1) return sum.template mean<bits>(count, to);
    if constexpr (Power == 2) return sum.template root<bits>(to);
  }
};

/// Does for both parts of complex numbers what exact_sum_writer does for a sum.
template <class T, int Power>
struct complex_writer {
  using sums = complex_sums<T, Power>;
  sums* out;
  value_place place;
  sum_value value;
  std::uint64_t count;

  __device__ void operator()(const sums& total) const {
    if (place.result == nullptr) {
      write_state(total.re, total.re.seen, &out->re);
      return write_state(total.im, total.im.seen, &out->im);
    }
    if (threadIdx.x >= 32) return;
#pragma unroll 1
    for (int i = 0; i < 2; ++i) {
      // The flag behind the real part is where the imaginary part is stored next.
      const exact_sum_writer<T, Power> write{nullptr, i == 0 ? place : place.next(), value, count};
      write(i == 0 ? total.re : total.im);
      __syncwarp();
    }
  }
};

/// x = -x in two's complement, least significant word first.
template <int N>
__device__ void negate(std::uint32_t (&x)[N]) {
  bool carry = true;
  for (std::uint32_t& word : x) {
    word = ~word + (carry ? 1 : 0);
    carry = carry && word == 0;
  }
}

/// Writes both sums of the grid to `out`, or if place.result is not null, that measure of dispersion there: NaN for
/// too few elements.
template <class T>
struct moments_writer {
  using sums = chunk_moments<T>;
  sums* out;
  value_place place;
  std::uint64_t count;
  dispersion_measure wanted;

  __device__ void operator()(const sums& total) const {
    const unsigned seen = total.sum.seen;
    if (place.result == nullptr) {
      write_state(total.sum, seen, &out->sum);
      return write_state(total.squares, seen, &out->squares);
    }
    if (threadIdx.x >= 32) return;
    const chunk_span sum = span_of(total.sum), squares = span_of(total.squares);
    if (threadIdx.x > 0) return;
    // Sums of chunks from `first` on, squares from 2 * first on: a carry goes up to four chunks higher.
    const int first = ::min(sum.first, squares.first / 2);
    const bool narrow = sum.last - first + 4 < 2 * sum_words && squares.last - 2 * first + 4 < 4 * sum_words;
    const detail::number_format& to = place.to;
    if ((seen & seen_bits::special) != 0 || count <= wanted.ddof) {
      place.store(to.quiet_nan);
    } else {
      place.store(narrow ? narrow_dispersion(total, first, to) : dispersion_in_one_thread(total, to));
    }
  }

 private:
  static constexpr int sum_words = 8;
  using bits = detail::number_format::bits;

  /// The dispersion of sums that take few words from the chunk `first` on.
  __device__ __noinline__ bits narrow_dispersion(const sums& total, int first,
                                                 const detail::number_format& to) const {
    std::uint32_t sum[sum_words], squares[2 * sum_words];
    total.sum.to_words(sum, first);
    total.squares.to_words(squares, 2 * first);
    if (sum[sum_words - 1] >> 31 != 0) negate(sum);
    return detail::rounded_dispersion<bits>(sum, squares, chunk_sums<T, 2>::low + 32 * first, count, wanted, to);
  }
  __device__ __noinline__ bits dispersion_in_one_thread(const sums& total, const detail::number_format& to) const {
    return static_cast<exact_moments_accumulator<T>>(total).template dispersion_of<bits>(count, wanted, to);
  }
};

}  // namespace fanin::cuda
