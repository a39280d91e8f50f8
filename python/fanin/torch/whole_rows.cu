// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm of rows, each in one kernel. A block has a row, and reads the row three times: from a
// cache after the first time, if the cache holds the rows of all blocks. Sums are exact, and are rounded once. Each
// other step is rounded as by the operators of PyTorch one after another, so that the results have the bits of these.
//
// The terms of a sum are from 0 to 1. Each term is rounded to a multiple of 2^-21, and the rest to a multiple of
// 2^-43. Integers of a thread hold the sums of 512 such multiples. What is left of small terms goes to further
// windows of 32 binades, of which a double holds the sum of 2^18 multiples. docs/numerics.md has the proof.
#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/cuda/device_scope.cuh>
#include <fanin/error.hpp>

#include "backends/cuda/exact/double_sum.cuh"
#include "backends/power_of_2.hpp"
#include "python/fanin/torch/row_vectors.cuh"

/// A call: what python/fanin/torch/_whole_rows.py hands over. All rows have `length` elements, one after another.
struct fanin_whole_rows {
  const void* x;  ///< rows of `type`
  void* out;      ///< rows of `out_type`
  std::uint64_t rows, length;
  std::int32_t type, out_type, what;
};

namespace {

using fanin::power_of_2;

enum what : std::int32_t { softmax, log_softmax };

constexpr unsigned most_threads = 512, most_of_thread = 512, whole_warp = 0xffffffffu;
/// Blocks on a multiprocessor: with two, short rows and rows of 16 bits took longer; for four, registers are spilled.
constexpr unsigned blocks = 3;
/// The windows of integers; the windows of doubles, down to 2^-171, since terms are floats.
constexpr int first_windows = 2, more_windows = 4;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// What the threads of a block share.
struct block_memory {
  unsigned long long sums[first_windows];
  double more[more_windows];
  float largest[most_threads / 32];
  double result;
};

/// x / y rounded once, if the quotient is normal, and `reciprocal` is 1 / y rounded once [Markstein 1990].
__device__ float quotient(float x, float y, float reciprocal) {
  float found = x * reciprocal;
#pragma unroll
  for (int i = 0; i < 2; ++i) found = __fmaf_rn(__fmaf_rn(-found, y, x), reciprocal, found);
  return found;
}

/// Calls f(vector, number of the vector in the row) for the vectors of this thread.
template <class F>
__device__ void for_each_vector(const fanin_whole_rows& all, const F& f) {
  const auto vectors = static_cast<unsigned>(all.length / size);
  const std::uint64_t first = std::uint64_t{blockIdx.x} * vectors;
#pragma unroll 2
  for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x) f(load(all.x, all.type, first + v), v);
}

/// Stores f(element) in place of each element of the row.
template <class F>
__device__ void store_each(const fanin_whole_rows& all, const F& f) {
  const std::uint64_t first = blockIdx.x * (all.length / size);
  for_each_vector(all, [&](numbers x, unsigned v) {
    for_each([&](unsigned i) { x.at[i] = f(x.at[i]); });
    store(all.out, all.out_type, first + v, x);
  });
}

/// The largest element of the row. All threads of the block call this.
__device__ float largest_of_row(const fanin_whole_rows& all, block_memory& shared) {
  float mine = -infinity;
  for_each_vector(all,
                  [&](const numbers& x, unsigned) { for_each([&](unsigned i) { mine = fmaxf(x.at[i], mine); }); });
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    mine = fmaxf(__shfl_xor_sync(whole_warp, mine, distance), mine);
  }
  if (threadIdx.x % 32 == 0) shared.largest[threadIdx.x / 32] = mine;
  if (threadIdx.x < first_windows) shared.sums[threadIdx.x] = 0;
  if (threadIdx.x < more_windows) shared.more[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) mine = fmaxf(shared.largest[warp], mine);
  return mine;
}

/// A thread's part of a sum: at most `most_of_thread` terms. A NaN makes the sum NaN.
class window_sum {
 public:
  __device__ explicit window_sum(block_memory& shared) : shared_(shared) {}

  __device__ void add(float x) {
#pragma unroll
    for (int k = 0; k < first_windows; ++k) {
      // In this binade the last bit of a float is the unit of the window.
      const float base = 3 * power_of_2<float>(22 - bits - of_window * k), sum = x + base;
      sums_[k] += __float_as_uint(sum) - __float_as_uint(base);
      x -= sum - base;
    }
    if (x != 0) add_rest(x);
  }
  /// The sum of all threads, rounded to odd. All threads call it, and get it.
  __device__ double total() {
    for (int k = 0; k < first_windows; ++k) {
      // The sums of the second window have a sign.
      long long sum = k == 0 ? static_cast<long long>(sums_[k]) : static_cast<int>(sums_[k]);
      for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(whole_warp, sum, distance);
      if (threadIdx.x % 32 == 0) atomicAdd(shared_.sums + k, static_cast<unsigned long long>(sum));
    }
#pragma unroll
    for (int k = 0; k < more_windows; ++k) {
      if (__any_sync(whole_warp, more_[k] != 0) == 0) continue;
      for (unsigned distance = 16; distance > 0; distance /= 2) {
        more_[k] += __shfl_xor_sync(whole_warp, more_[k], distance);
      }
      if (threadIdx.x % 32 == 0) atomicAdd(shared_.more + k, more_[k]);
    }
    __syncthreads();
    if (threadIdx.x == 0) shared_.result = rounded();
    __syncthreads();
    return shared_.result;
  }

 private:
  static constexpr int bits = 21, of_window = 22, of_more = 32;

  /// Adds the rest of a term: at most 2^-43.
  __device__ void add_rest(double x) {
#pragma unroll
    for (int k = 0; k < more_windows; ++k) {
      const double base = 3 * power_of_2<double>(51 - bits - of_window - of_more * (k + 1));
      const double part = (x + base) - base;
      x -= part;
      more_[k] += part;
    }
  }

  /// Windows are added from the last one on. After each addition the sum is rounded to odd.
  __device__ double rounded() const {
    double sum = 0;
    const auto add = [&](double x) {
      const double below = fanin::cuda::two_part_sum<double>::add(sum, x);
      sum = fanin::cuda::to_odd(sum, below == 0, (below < 0) != (sum < 0));
    };
    for (int k = more_windows; k-- > 0;) add(shared_.more[k]);
    for (int k = first_windows; k-- > 0;) {
      add(static_cast<double>(static_cast<long long>(shared_.sums[k])) * power_of_2<double>(-bits - of_window * k));
    }
    return sum;
  }

  block_memory& shared_;
  unsigned sums_[first_windows] = {};
  double more_[more_windows] = {};
};

__global__ void __launch_bounds__(most_threads, blocks)
    whole_rows_kernel(const __grid_constant__ fanin_whole_rows all) {
  __shared__ block_memory shared;
  const float largest = largest_of_row(all, shared);
  float total = std::numeric_limits<float>::quiet_NaN();
  if (std::abs(largest) < infinity) {
    window_sum sum(shared);
    for_each_vector(
        all, [&](const numbers& x, unsigned) { for_each([&](unsigned i) { sum.add(expf(x.at[i] - largest)); }); });
    total = static_cast<float>(sum.total());
  }
  if (all.what == log_softmax) {
    const float logarithm = logf(total);
    return store_each(all, [&](float x) { return x - largest - logarithm; });
  }
  constexpr float least_dividend = 0x1p-80f;  // The quotients of larger ones are normal, and their errors are floats.
  const float reciprocal = 1 / total;
  store_each(all, [&](float x) {
    const float power = expf(x - largest);
    return power > least_dividend ? quotient(power, total, reciprocal) : power / total;
  });
}

}  // namespace

/// Enqueues the call on a stream of a device. `length` is a multiple of 8 up to 2^18, rows are aligned to 16 bytes,
/// and there are fewer than 2^31 rows.
extern "C" FANIN_API fanin_status fanin_enqueue_whole_rows(const fanin_whole_rows* all, std::int32_t device,
                                                           void* stream) {
  return fanin::c::guarded([&] {
    if (all->length > std::uint64_t{most_threads} * most_of_thread) {
      throw fanin::unsupported("a row has more than 2^18 elements");
    }
    const fanin::device_code::device_scope scope(device);
    unsigned threads = 64;
    while (threads < most_threads && threads * size * 2 < all->length) threads *= 2;
    whole_rows_kernel<<<static_cast<unsigned>(all->rows), threads, 0, static_cast<cudaStream_t>(stream)>>>(*all);
    fanin::device_code::check(cudaGetLastError(), "launching a softmax of rows");
  });
}
