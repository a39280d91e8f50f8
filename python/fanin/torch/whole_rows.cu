// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm of rows, or what both are made of, in one kernel. A block has a row, and reads the row
// three times. Its shared memory keeps the begin of the row, or all of it, and a cache the rest, if the cache holds
// that of all blocks. Sums are exact, and are rounded once. Each other step is rounded as by the operators of PyTorch
// one after another, so that the results have the bits of these.
//
// The terms of a sum are from 0 to 1. Each term is rounded to a multiple of 2^-21, and the rest to a multiple of
// 2^-43. Integers of a thread hold the sums of 512 such multiples. What is left of small terms goes to further
// windows of 32 binades, of which a double holds the sum of 2^18 multiples. docs/numerics.md has the proof.
#include <algorithm>
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
  void* out;      ///< rows of `out_type`; or as f32 the largest element of each row, then the sum of each row
  std::uint64_t rows, length;
  std::int32_t type, out_type, what;
};

namespace {

using fanin::power_of_2;

enum what : std::int32_t { softmax, log_softmax, max_and_sum };

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

/// x / y rounded once, for any finite floats x and y but 0 for y. `reciprocal` is 1 / y, rounded once to a double.
__device__ float any_quotient(float x, float y, double reciprocal) {
  const double found = x * reciprocal;
  return static_cast<float>(__fma_rn(__fma_rn(-found, y, x), reciprocal, found));
}

/// The row of a block. Shared memory keeps its first `kept` vectors: each thread reads there what it wrote.
class row_of_block {
 public:
  __device__ row_of_block(const fanin_whole_rows& all, unsigned kept)
      : all_(all), vectors_(static_cast<unsigned>(all.length / size)), kept_(kept) {}

  /// Calls f(vector, number of the vector in the row) for the vectors of this thread, and keeps them. This is the
  /// first call of a thread.
  template <class F>
  __device__ void for_each_first(const F& f) const {
    for_each_of<true>(f);
  }
  template <class F>
  __device__ void for_each_again(const F& f) const {
    for_each_of<false>(f);
  }
  /// Stores f(element) in place of each element.
  template <class F>
  __device__ void store_each(const F& f) const {
    for_each_again([&](numbers x, unsigned v) {
      for_each([&](unsigned i) { x.at[i] = f(x.at[i]); });
      store(all_.out, all_.out_type, std::uint64_t{blockIdx.x} * vectors_ + v, x);
    });
  }

 private:
  template <bool is_first, class F>
  __device__ void for_each_of(const F& f) const {
#pragma unroll 2
    for (unsigned v = threadIdx.x; v < vectors_; v += blockDim.x) {
      f(load_by(all_.type,
                [&](unsigned i, unsigned words) {
                  extern __shared__ uint4 kept_words[];
                  uint4& place = kept_words[i * kept_ + v];
                  if (!is_first && v < kept_) return place;
                  const std::uint64_t vector = std::uint64_t{blockIdx.x} * vectors_ + v;
                  const uint4 word = __ldg(static_cast<const uint4*>(all_.x) + vector * words + i);
                  if (is_first && v < kept_) place = word;
                  return word;
                }),
        v);
    }
  }

  const fanin_whole_rows& all_;
  unsigned vectors_, kept_;
};

/// The largest element of the row. All threads of the block call this.
__device__ float largest_of_row(const row_of_block& row, block_memory& shared) {
  float mine = -infinity;
  row.for_each_first([&](const numbers& x, unsigned) { for_each([&](unsigned i) { mine = fmaxf(x.at[i], mine); }); });
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
    whole_rows_kernel(const __grid_constant__ fanin_whole_rows all, const unsigned kept) {
  __shared__ block_memory shared;
  const row_of_block row(all, kept);
  const float largest = largest_of_row(row, shared);
  float total = std::numeric_limits<float>::quiet_NaN();
  if (std::abs(largest) < infinity) {
    window_sum sum(shared);
    row.for_each_again(
        [&](const numbers& x, unsigned) { for_each([&](unsigned i) { sum.add(expf(x.at[i] - largest)); }); });
    total = static_cast<float>(sum.total());
  }
  if (all.what == max_and_sum) {
    if (threadIdx.x > 0) return;
    auto* const out = static_cast<float*>(all.out) + blockIdx.x;
    if (largest == -infinity) total = 0;
    out[0] = std::isnan(total) ? total : largest;
    out[all.rows] = total;
    return;
  }
  if (all.what == log_softmax) {
    const float logarithm = logf(total);
    return row.store_each([&](float x) { return x - largest - logarithm; });
  }
  constexpr float least_dividend = 0x1p-80f;  // The quotients of larger ones are normal, and their errors are floats.
  const float reciprocal = 1 / total;
  const double wide_reciprocal = 1 / static_cast<double>(total);
  row.store_each([&](float x) {
    const float power = expf(x - largest);
    return power > least_dividend ? quotient(power, total, reciprocal) : any_quotient(power, total, wide_reciprocal);
  });
}

/// The bytes of a row that a block may keep in shared memory, so that `blocks` fit on a multiprocessor.
unsigned bytes_to_keep(int device) {
  int bytes = 0, of_runtime = 0;
  fanin::device_code::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
                            "cudaDeviceGetAttribute");
  fanin::device_code::check(cudaDeviceGetAttribute(&of_runtime, cudaDevAttrReservedSharedMemoryPerBlock, device),
                            "cudaDeviceGetAttribute");
  constexpr int of_block = (sizeof(block_memory) + 1023) / 1024 * 1024;
  return static_cast<unsigned>(bytes / static_cast<int>(blocks) - of_runtime - of_block);
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
    const auto of_vector = static_cast<unsigned>(size * (all->type == FANIN_F32 ? sizeof(float) : 2));
    const auto kept =
        static_cast<unsigned>(std::min<std::uint64_t>(all->length / size, bytes_to_keep(device) / of_vector));
    const auto set = [](cudaFuncAttribute attribute, int value) {
      fanin::device_code::check(cudaFuncSetAttribute(whole_rows_kernel, attribute, value), "cudaFuncSetAttribute");
    };
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kept * of_vector));
    set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    whole_rows_kernel<<<static_cast<unsigned>(all->rows), threads, kept * of_vector,
                        static_cast<cudaStream_t>(stream)>>>(*all, kept);
    fanin::device_code::check(cudaGetLastError(), "launching a softmax of rows");
  });
}
