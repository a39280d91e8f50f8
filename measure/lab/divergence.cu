// SPDX-License-Identifier: Apache-2.0
#include "measure/lab/divergence.hpp"

#include <cstdint>

#include "measure/device.hpp"
#include "measure/timing.hpp"

namespace fanin::lab {
namespace {

using cuda::check;

constexpr unsigned block_size = 256;
constexpr unsigned blocks = 1u << 16;
constexpr std::size_t thread_count = std::size_t{blocks} * block_size;
constexpr unsigned threads_of_a_warp = 32;

struct by_thread {
  __host__ __device__ static bool first(unsigned thread) { return thread % 2 == 0; }
};
struct by_warp {
  __host__ __device__ static bool first(unsigned thread) { return thread / threads_of_a_warp % 2 == 0; }
};

/// The host passes these constants at run time, so that the compiler cannot compute either side of the branch.
struct constants {
  float one, two, step;
};
constexpr int steps = 256;
constexpr constants run_time_constants = {1, 2, 100.0f / steps};
static_assert(run_time_constants.step * steps == 100, "all partial sums are exact");

template <class Side>
__global__ void __launch_bounds__(block_size) constants_kernel(float* c, constants) {
  const unsigned thread = blockIdx.x * block_size + threadIdx.x;
  float a = 0, b = 0;
  if (Side::first(thread)) {
    a = 100;
  } else {
    b = 200;
  }
  c[thread] = a + b;
}

/// The two sides carry the value in different operands of the fma, so that the compiler cannot merge them.
template <class Side>
__global__ void __launch_bounds__(block_size) chains_kernel(float* c, constants k) {
  const unsigned thread = blockIdx.x * block_size + threadIdx.x;
  float x = 0;
  if (Side::first(thread)) {
#pragma unroll
    for (int i = 0; i < steps; ++i) x = __fmaf_rn(x, k.one, k.step);
  } else {
#pragma unroll
    for (int i = 0; i < steps; ++i) x = __fmaf_rn(k.step, k.two, x);
  }
  c[thread] = x;
}

using kernel = void (*)(float*, constants);

class branch_bench {
 public:
  explicit branch_bench(cudaStream_t stream) : stream_(stream) {}

  template <class Side>
  bool is_right(kernel f) {
    check(cudaMemsetAsync(memory_.get(), 0xff, thread_count * sizeof(float), stream_), "cudaMemsetAsync");
    launch(f);
    std::vector<float> c(thread_count);
    check(cudaMemcpyAsync(c.data(), memory_.get(), thread_count * sizeof(float), cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    for (std::size_t i = 0; i < thread_count; ++i) {
      if (c[i] != (Side::first(static_cast<unsigned>(i)) ? 100.0f : 200.0f)) return false;
    }
    return true;
  }

  double seconds(kernel f) {
    constexpr double budget_seconds = 0.02;
    return measure::device_median_seconds(
        stream_, [&](std::size_t) { launch(f); }, budget_seconds);
  }

 private:
  void launch(kernel f) {
    f<<<blocks, block_size, 0, stream_>>>(reinterpret_cast<float*>(memory_.get()), run_time_constants);
    check(cudaGetLastError(), "launching a branch");
  }

  cudaStream_t stream_;
  cuda::device_memory memory_ = cuda::allocate_device(thread_count * sizeof(float));
};

divergence measured(std::string_view version, branch_bench& bench, kernel thread_kernel, kernel warp_kernel) {
  constexpr int rounds = 11;
  divergence all{version, bench.is_right<by_thread>(thread_kernel) && bench.is_right<by_warp>(warp_kernel), 0, 0, 0};
  if (!all.verified) return all;
  std::vector<double> by_threads, by_warps, ratios;
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) by_threads.push_back(bench.seconds(thread_kernel));
    by_warps.push_back(bench.seconds(warp_kernel));
    if (round % 2 == 1) by_threads.push_back(bench.seconds(thread_kernel));
    ratios.push_back(by_threads.back() / by_warps.back());
  }
  all.by_thread_seconds = measure::median(by_threads);
  all.by_warp_seconds = measure::median(by_warps);
  all.ratio = measure::median(ratios);
  return all;
}

}  // namespace

std::vector<divergence> measure_divergence(cudaStream_t stream) {
  branch_bench bench(stream);
  return {measured("constants", bench, constants_kernel<by_thread>, constants_kernel<by_warp>),
          measured("chains", bench, chains_kernel<by_thread>, chains_kernel<by_warp>)};
}

}  // namespace fanin::lab
