// SPDX-License-Identifier: Apache-2.0
// The mean and the variance of a row, or the sum of its squares, each rounded once to f32. Doubles hold the sums with
// a bound of their error. If all numbers within the bound round to one float, this float is the result, and otherwise
// sums in two doubles or the exact accumulator tell. docs/numerics.md has the proof.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <fanin/accumulator/moments.hpp>

#include "backends/cuda/exact/double_sum.cuh"

namespace {

/// The most threads of a block, and the most elements that a thread adds up.
constexpr unsigned most_norm_threads = 1024, most_norm_elements = 32, all_of_warp = 0xffffffffu;

/// The results for a row: the second one is its variance, or if the row is not centred, the sum of its squares.
struct row_statistics {
  float mean, second;
};

__device__ int bits_as_float(float x) { return __float_as_int(x); }
__device__ int bits_as_float(__half x) { return __float_as_int(__half2float(x)); }
__device__ int bits_as_float(__nv_bfloat16 x) { return static_cast<int>(unsigned{__bfloat16_as_ushort(x)} << 16); }

/// A finite number as a double, by integers: conversions take longer. Infinity and NaN give 2^128 or more.
template <class T>
__device__ double widened(T x) {
  const int bits = bits_as_float(x);
  return __hiloint2double((bits >> 3) & 0x8fffffff, static_cast<int>(static_cast<unsigned>(bits) << 29)) * 0x1p896;
}

/// Sums of elements and of their squares. A square of floats is a double. -0 is the sum of no elements.
struct plain_sums {
  double sum = -0.0, squares = 0;
  __device__ void add(double x) { sum += x, squares = __fma_rn(x, x, squares); }
  __device__ void merge(const plain_sums& other) { sum += other.sum, squares += other.squares; }
};
struct two_part_sums {
  fanin::cuda::double_sum sum{-0.0}, squares{0};
  __device__ void add(double x) { sum.add(x), squares.add(x * x); }
  __device__ void merge(const two_part_sums& other) { merge(sum, other.sum), merge(squares, other.squares); }

 private:
  /// A sum that two doubles do not hold keeps its first part, which tells infinity and NaN from other sums.
  __device__ static void merge(fanin::cuda::double_sum& to, const fanin::cuda::double_sum& other) {
    to.add(other.sum);
    if (other.error != other.error) {
      to.error = other.error;
    } else if (other.error != 0) {
      to.add(other.error);
    }
  }
};
/// The sum of squared differences from a number.
struct centred_squares {
  double from = 0, sum = 0;
  __device__ void add(double x) { sum = __fma_rn(x - from, x - from, sum); }
  __device__ void merge(const centred_squares& other) { sum += other.sum; }
};

template <class S>
__device__ S merged_in_warp(S mine) {
#pragma unroll(sizeof(S) <= 2 * sizeof(double) ? 5 : 1)
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    unsigned words[sizeof(S) / 4];
    std::memcpy(words, &mine, sizeof mine);
    for (unsigned& word : words) word = __shfl_xor_sync(all_of_warp, word, distance);
    S other;
    std::memcpy(&other, words, sizeof other);
    mine.merge(other);
  }
  return mine;
}

/// What the threads of a block share, in memory that nothing initializes.
struct norm_memory {
  static constexpr unsigned most_warps = most_norm_threads / 32;
  plain_sums plain[most_warps];
  two_part_sums two_part[most_warps];
  centred_squares centred[most_warps];
  row_statistics found;
  bool is_certain;
  double base;
};

/// Merges what the threads of a warp have, and then the warps. Threads 0 to 31 get the sums of all threads.
template <class S>
__device__ S merged_in_block(S mine, S* places) {
  mine = merged_in_warp(mine);
  if (threadIdx.x % 32 == 0) places[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x >= 32) return mine;
  return merged_in_warp(threadIdx.x < blockDim.x / 32 ? places[threadIdx.x] : S{});
}

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Bounds of relative errors. A sum has at most 31 additions of its thread, and 5 + 5 of its warp and block, each of
/// which rounds by 2^-53, and so do two products.
constexpr double of_sums = 0x1p-47, of_quotient = 0x1p-50;

/// Whether all numbers that differ from x by at most the error round to one float.
__device__ bool is_certain(double x, double error, float& rounded) {
  rounded = static_cast<float>(x);
  return error == 0 ||
         __float_as_uint(static_cast<float>(x - error)) == __float_as_uint(static_cast<float>(x + error));
}

/// A bound of the average magnitude of elements: the root of their mean square, but for the errors of the sums.
__device__ double average_magnitude(const plain_sums& sums, double inverse) {
  return __fsqrt_ru(__double2float_ru(sums.squares * inverse));
}

/// Twelve times the power of two below the sum of all magnitudes. An element is a multiple of the last place of this
/// number if adding the number changes nothing. If all elements are, no addition of a plain sum rounds.
__device__ double base_of_units(const plain_sums& sums, std::uint64_t length, double inverse) {
  const double most = average_magnitude(sums, inverse) * static_cast<double>(length);
  return 12 * __hiloint2double(__double2hiint(most) & 0x7ff00000, 0);
}

/// The mean of a row with the exact sum `total` + `below`, where `below` is at most half of the last place of
/// `total`.
struct mean_of_row {
  double mean, error;
  __device__ mean_of_row(double total, double below, std::uint64_t length) {
    const auto count = static_cast<double>(length);
    mean = total / count;
    error = below == 0 && __fma_rn(-mean, count, total) == 0 ? 0 : std::abs(mean) * of_quotient;
  }
};

/// Whether sums tell the statistics of a row. `inverse` is 1 / length, rounded once.
__device__ bool finds_statistics(const plain_sums& sums, std::uint64_t length, double inverse, bool centred,
                                 bool is_sum_exact, row_statistics& found) {
  if (!(sums.squares < 0x1p256)) return false;  // infinity and NaN, and the largest floats
  if (!centred) return is_certain(sums.squares, sums.squares * of_sums, found.second);
  const double mean = sums.sum * inverse, square = sums.squares * inverse;
  bool certain = is_certain(mean, average_magnitude(sums, inverse) * of_sums, found.mean);
  if (is_sum_exact) {
    const mean_of_row exact(sums.sum, 0, length);
    certain = is_certain(exact.mean, exact.error, found.mean);
  }
  return is_certain(square - mean * mean, square * (4 * of_sums), found.second) && certain;
}

/// Statistics of rows which plain sums leave open. All threads of a block call find().
template <class T>
class careful_statistics {
 public:
  /// The statistics are in shared memory when find() returns.
  __device__ static __noinline__ void find(const T* row, std::uint64_t length, bool centred, norm_memory& shared) {
    careful_statistics all{row, length, shared};
    const two_part_sums sums = all.sums(two_part_sums{}, shared.two_part);
    row_statistics found;
    const bool certain = centred ? all.finds_variance(sums, found) : finds_squares(sums.squares, found);
    if (!certain && threadIdx.x < 32) found = all.exact(centred);
    if (threadIdx.x == 0) shared.found = found;
    __syncthreads();
  }

 private:
  /// The sums of a row, which all threads get.
  template <class S>
  __device__ S sums(S mine, S* places) const {
    for (std::uint64_t i = threadIdx.x; i < length; i += blockDim.x) mine.add(static_cast<float>(row[i]));
    const S all = merged_in_block(mine, places);
    if (threadIdx.x == 0) places[0] = all;
    __syncthreads();
    return places[0];
  }
  __device__ static bool finds_squares(const fanin::cuda::double_sum& squares, row_statistics& found) {
    found = {0, squares.is_exact() ? fanin::cuda::rounded_to<float>(squares) : static_cast<float>(squares.sum)};
    return squares.is_exact() || !(squares.sum < infinite);
  }
  __device__ bool finds_variance(const two_part_sums& sums_of_row, row_statistics& found) const {
    double total = sums_of_row.sum.sum;
    if (!(sums_of_row.squares.sum < infinite)) {
      found = {static_cast<float>(total), std::numeric_limits<float>::quiet_NaN()};
      return true;
    }
    if (!sums_of_row.sum.is_exact()) return false;
    const double below = fanin::cuda::double_sum::add(total, sums_of_row.sum.error);
    const mean_of_row mean(total, below, length);
    const bool certain = is_certain(mean.mean, mean.error, found.mean);
    const double variance = sums(centred_squares{mean.mean}, shared.centred).sum / static_cast<double>(length);
    return is_certain(variance, variance * (2 * of_sums) + 2 * mean.error * mean.error, found.second) && certain;
  }
  /// The statistics by the exact accumulators of one warp.
  __device__ row_statistics exact(bool centred) const {
    fanin::exact_moments_accumulator<float> all;
    for (std::uint64_t i = threadIdx.x; i < length; i += 32) all.add(static_cast<float>(row[i]));
    all = merged_in_warp(all);
    if (!centred) return {0, all.squares.round()};
    return {all.sum.mean(length), all.variance(length)};
  }

  const T* row;
  std::uint64_t length;
  norm_memory& shared;

  __device__ careful_statistics(const T* of_row, std::uint64_t of_length, norm_memory& memory)
      : row(of_row), length(of_length), shared(memory) {}
};

}  // namespace
