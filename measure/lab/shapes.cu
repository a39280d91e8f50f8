// SPDX-License-Identifier: Apache-2.0
#include "measure/lab/shapes.hpp"

#include <algorithm>
#include <cstdint>

#include "measure/device.hpp"

namespace fanin::lab {
namespace {

using cuda::check;

constexpr std::size_t count = std::size_t{matrix_columns} * matrix_rows;
constexpr std::size_t matrix_bytes = count * sizeof(float);
constexpr unsigned flat_threads = 256;
constexpr auto flat_blocks = static_cast<unsigned>((count + flat_threads - 1) / flat_threads);

/// The elements are integers from -3 to 4, so that no order of additions rounds.
__host__ __device__ constexpr int element_a(unsigned x, unsigned y) { return static_cast<int>((x + 3 * y) % 8) - 3; }
__host__ __device__ constexpr int element_b(unsigned x, unsigned y) { return static_cast<int>((5 * x + y) % 8) - 3; }

__global__ void fill_kernel(float* a, float* b) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * flat_threads + threadIdx.x;
  if (i >= count) return;
  const auto x = static_cast<unsigned>(i % matrix_columns), y = static_cast<unsigned>(i / matrix_columns);
  a[i] = static_cast<float>(element_a(x, y));
  b[i] = static_cast<float>(element_b(x, y));
}

__global__ void count_wrong_kernel(const float* c, unsigned* wrong) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * flat_threads + threadIdx.x;
  if (i >= count) return;
  const auto x = static_cast<unsigned>(i % matrix_columns), y = static_cast<unsigned>(i / matrix_columns);
  if (!(c[i] == static_cast<float>(element_a(x, y) + element_b(x, y)))) atomicAdd(wrong, 1u);
}

__global__ void vector_add_kernel(const float* a, const float* b, float* c) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * flat_threads + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

__global__ void matrix_add_kernel(const float* a, const float* b, float* c) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= matrix_columns || y >= matrix_rows) return;
  const std::uint64_t i = std::uint64_t{y} * matrix_columns + x;
  c[i] = a[i] + b[i];
}

/// Blocks have a multiple of 32 threads.
__global__ void __launch_bounds__(1024) matrix_total_kernel(const float* a, double* total) {
  float sum = 0;
  for (unsigned y = blockIdx.y * blockDim.y + threadIdx.y; y < matrix_rows; y += gridDim.y * blockDim.y) {
    for (unsigned x = blockIdx.x * blockDim.x + threadIdx.x; x < matrix_columns; x += gridDim.x * blockDim.x) {
      sum += a[std::uint64_t{y} * matrix_columns + x];
    }
  }
  for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  __shared__ float of_warps[32];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread % 32 == 0) of_warps[thread / 32] = sum;
  __syncthreads();
  if (thread > 0) return;
  double all = 0;
  for (unsigned warp = 0; warp < blockDim.x * blockDim.y / 32; ++warp) all += of_warps[warp];
  atomicAdd(total, all);
}

unsigned quotient_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

/// A grid of no more blocks than are resident on the device at once.
dim3 resident_grid(dim3 block) {
  int device = 0, multiprocessors = 0, blocks = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, matrix_total_kernel,
                                                      static_cast<int>(block.x * block.y), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const auto most = static_cast<unsigned>(multiprocessors * blocks);
  const unsigned across = std::min(quotient_up(matrix_columns, block.x), most);
  return {across, std::min(quotient_up(matrix_rows, block.y), most / across)};
}

class matrix_bench {
 public:
  explicit matrix_bench(cudaStream_t stream) : stream_(stream) {
    fill_kernel<<<flat_blocks, flat_threads, 0, stream>>>(floats(a_), floats(b_));
    check(cudaGetLastError(), "filling the matrices");
    for (unsigned y = 0; y < matrix_rows; ++y) {
      for (unsigned x = 0; x < matrix_columns; ++x) total_of_a_ += element_a(x, y);
    }
  }

  rate vector_add() {
    return rate_of_sum(
        [this] { vector_add_kernel<<<flat_blocks, flat_threads, 0, stream_>>>(a(), b(), floats(c_)); });
  }

  rate sum(dim3 block) {
    const dim3 grid(quotient_up(matrix_columns, block.x), quotient_up(matrix_rows, block.y));
    return rate_of_sum([=, this] { matrix_add_kernel<<<grid, block, 0, stream_>>>(a(), b(), floats(c_)); });
  }

  rate total(dim3 block) {
    const dim3 grid = resident_grid(block);
    auto* const result = reinterpret_cast<double*>(result_.get());
    const auto run = [&](std::size_t i) {
      matrix_total_kernel<<<grid, block, 0, stream_>>>(i % 2 == 0 ? a() : b(), result);
      check(cudaGetLastError(), "launching a total");
    };
    check(cudaMemsetAsync(result, 0, sizeof(double), stream_), "cudaMemsetAsync");
    run(0);
    if (fetched<double>() != static_cast<double>(total_of_a_)) return {false, 0};
    return {true, 1e-9 * matrix_bytes / measure::device_median_seconds(stream_, run, budget_seconds)};
  }

 private:
  static constexpr double budget_seconds = 0.03;

  static float* floats(const cuda::device_memory& memory) { return reinterpret_cast<float*>(memory.get()); }
  const float* a() const { return floats(a_); }
  const float* b() const { return floats(b_); }

  template <class T>
  T fetched() const {
    T value;
    check(cudaMemcpyAsync(&value, result_.get(), sizeof value, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return value;
  }

  template <class Launch>
  rate rate_of_sum(const Launch& launch) {
    const auto run = [&](std::size_t) {
      launch();
      check(cudaGetLastError(), "launching a sum");
    };
    check(cudaMemsetAsync(c_.get(), 0xff, matrix_bytes, stream_), "cudaMemsetAsync");
    check(cudaMemsetAsync(result_.get(), 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
    run(0);
    count_wrong_kernel<<<flat_blocks, flat_threads, 0, stream_>>>(floats(c_),
                                                                  reinterpret_cast<unsigned*>(result_.get()));
    check(cudaGetLastError(), "checking a sum");
    if (fetched<unsigned>() != 0) return {false, 0};
    return {true, 3e-9 * matrix_bytes / measure::device_median_seconds(stream_, run, budget_seconds)};
  }

  cudaStream_t stream_;
  cuda::device_memory a_ = cuda::allocate_device(matrix_bytes);
  cuda::device_memory b_ = cuda::allocate_device(matrix_bytes);
  cuda::device_memory c_ = cuda::allocate_device(matrix_bytes);
  cuda::device_memory result_ = cuda::allocate_device(sizeof(double));
  std::int64_t total_of_a_ = 0;
};

std::vector<dim3> all_shapes() {
  std::vector<dim3> shapes = {{32, 32}, {32, 16}, {16, 32}, {16, 16}};
  const std::size_t named = shapes.size();
  for (unsigned threads = 64; threads <= 1024; threads *= 2) {
    for (unsigned x = threads; x > 0; x /= 2) {
      const unsigned y = threads / x;
      const auto end = shapes.begin() + static_cast<std::ptrdiff_t>(named);
      if (std::none_of(shapes.begin(), end, [&](dim3 one) { return one.x == x && one.y == y; }))
        shapes.emplace_back(x, y);
    }
  }
  return shapes;
}

}  // namespace

shape_results measure_shapes(cudaStream_t stream) {
  matrix_bench bench(stream);
  shape_results rates{bench.vector_add(), {}};
  for (const dim3 block : all_shapes())
    rates.shapes.push_back({block.x, block.y, bench.sum(block), bench.total(block)});
  return rates;
}

}  // namespace fanin::lab
