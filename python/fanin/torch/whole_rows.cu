// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm, and RMS norms of 16 bits, of rows, each in one kernel. A block has a row, and reads the
// row two or three times: from a cache after the first time, if the cache holds the rows of all blocks. Sums are
// exact, and are rounded once. Each other step is rounded as by the operators of PyTorch one after another, so that
// the results have the bits of these.
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
  const void* x;       ///< rows of `type`
  const void* weight;  ///< of RMS norms: a row of `weight_type`, or null
  void* out;           ///< rows of `out_type`
  float* scale;        ///< of RMS norms: the factor of each row
  std::uint64_t rows, length;
  float inverse_length, eps;  ///< of RMS norms
  std::int32_t type, weight_type, out_type, what;
};

namespace {

using fanin::power_of_2;

enum what : std::int32_t { softmax, log_softmax, rms_norm };

constexpr unsigned most_threads = 512, most_of_thread = 512, whole_warp = 0xffffffffu;
/// Blocks on a multiprocessor: with two, short rows and rows of 16 bits took longer; for four, registers are spilled.
constexpr unsigned blocks = 3;
/// The windows of integers; the windows of doubles that a thread has; all windows of doubles, down to 2^-555.
constexpr int first_windows = 2, own_windows = 4, more_windows = 16;
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

/// The largest of(element) of the row, where larger(x, y) returns one of two numbers. All threads of the block call
/// this.
template <class Of, class Larger>
__device__ float largest_of_row(const fanin_whole_rows& all, block_memory& shared, float mine, const Of& of,
                                const Larger& larger) {
  for_each_vector(
      all, [&](const numbers& x, unsigned) { for_each([&](unsigned i) { mine = larger(of(x.at[i]), mine); }); });
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    mine = larger(__shfl_xor_sync(whole_warp, mine, distance), mine);
  }
  if (threadIdx.x % 32 == 0) shared.largest[threadIdx.x / 32] = mine;
  if (threadIdx.x < first_windows) shared.sums[threadIdx.x] = 0;
  if (threadIdx.x < more_windows) shared.more[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) mine = larger(shared.largest[warp], mine);
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
  /// Adds the rest of a term, or a term: at most 2^-43.
  __device__ void add_rest(double x) {
    const auto take = [&](int k) {
      const double base = 3 * power_of_2<double>(51 - bits - of_window - of_more * (k + 1));
      const double part = (x + base) - base;
      x -= part;
      return part;
    };
#pragma unroll
    for (int k = 0; k < own_windows; ++k) more_[k] += take(k);
    for (int k = own_windows; k < more_windows && x != 0; ++k) atomicAdd(shared_.more + k, take(k));
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
    for (int k = 0; k < own_windows; ++k) {
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
  double more_[own_windows] = {};
};

__device__ void store_softmax(const fanin_whole_rows& all, block_memory& shared) {
  const float largest = largest_of_row(
      all, shared, -infinity, [](float x) { return x; }, [](float x, float y) { return fmaxf(x, y); });
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

/// Stores the norm of a row and its factor. Squares of numbers of 16 bits have at most 22 digits, so that floats hold
/// the squares.
__device__ void store_rms_norm(const fanin_whole_rows& all, block_memory& shared) {
  const float largest = largest_of_row(
      all, shared, 0, [](float x) { return std::abs(x); }, [](float x, float y) { return x > y || x != x ? x : y; });
  float squares = largest * largest;  // of infinity and NaN
  if (largest < infinity) {
    window_sum sum(shared);
    const int exponent = ::max(std::ilogb(largest) + 1, -120);
    const float factor = std::ldexp(1.0f, -exponent);
    constexpr float least_exact = 0x1p-64f;
    for_each_vector(all, [&](const numbers& x, unsigned) {
      for_each([&](unsigned i) {
        const float part = x.at[i] * factor;
        if (std::abs(part) >= least_exact) {
          sum.add(part * part);
        } else if (x.at[i] != 0) {
          const double small = std::ldexp(static_cast<double>(x.at[i]), -exponent);
          sum.add_rest(small * small);
        }
      });
    });
    squares = static_cast<float>(std::ldexp(sum.total(), 2 * exponent));
  }
  const float scale = rsqrtf(squares * all.inverse_length + all.eps);
  if (threadIdx.x == 0) all.scale[blockIdx.x] = scale;
  if (all.weight == nullptr) {
    return store_each(all, [&](float x) { return x * scale; });
  }
  const std::uint64_t first = blockIdx.x * (all.length / size);
  for_each_vector(all, [&](numbers x, unsigned v) {
    const numbers weight = load(all.weight, all.weight_type, v);
    for_each([&](unsigned i) { x.at[i] = x.at[i] * scale * weight.at[i]; });
    store(all.out, all.out_type, first + v, x);
  });
}

__global__ void __launch_bounds__(most_threads, blocks)
    whole_rows_kernel(const __grid_constant__ fanin_whole_rows all) {
  __shared__ block_memory shared;
  all.what == rms_norm ? store_rms_norm(all, shared) : store_softmax(all, shared);
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
    fanin::device_code::check(cudaGetLastError(), "launching a softmax or a norm of rows");
  });
}
