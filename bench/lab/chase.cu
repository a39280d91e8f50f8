#include "bench/lab/chase.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/measure/device.hpp"
#include "bench/measure/timing.hpp"

namespace fanin::lab {
namespace {

using cuda::check;

constexpr unsigned lanes = 32;
constexpr std::size_t line_bytes = lanes * sizeof(std::uint32_t);
constexpr std::uint32_t steps = 1024;

/// Every lane of a warp finds the next line in a word of its own.
__global__ void link_kernel(std::uint32_t* ring, const std::uint32_t* order, std::uint32_t lines) {
  const std::uint32_t position = blockIdx.x;
  const std::uint32_t next = order[position + 1 < lines ? position + 1 : 0];
  ring[std::uint64_t{order[position]} * lanes + threadIdx.x] = next;
}

struct walk {
  const std::uint32_t* ring;
  const std::uint32_t* order;
  std::uint32_t begin;  ///< position in the order
  std::uint32_t* ends;  ///< the last line, by lane
  long long* cycles;    ///< of all steps
};

__global__ void __launch_bounds__(lanes) walk_kernel(walk w) {
  std::uint32_t line = w.order[w.begin];
  const long long begin = clock64();
#pragma unroll 8
  for (std::uint32_t i = 0; i < steps; ++i) line = __ldcg(w.ring + std::uint64_t{line} * lanes + threadIdx.x);
  w.ends[threadIdx.x] = line;
  if (threadIdx.x == 0) *w.cycles = clock64() - begin;
}

std::uint32_t lines_past_the_cache() {
  int device = 0, cache = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(4 * static_cast<std::size_t>(cache) / line_bytes) + 2 * steps;
}

template <class T>
T* in(const cuda::device_memory& memory) {
  return reinterpret_cast<T*>(memory.get());
}

}  // namespace

latency measure_memory_latency(cudaStream_t stream) {
  constexpr double budget_seconds = 0.3;
  constexpr std::size_t cycle_counts = 101;
  std::vector<std::uint32_t> order(lines_past_the_cache());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  const auto lines = static_cast<std::uint32_t>(order.size());

  const auto ring = cuda::allocate_device(lines * line_bytes);
  const auto order_there = cuda::allocate_device(lines * sizeof(std::uint32_t));
  const auto ends = cuda::allocate_device(lanes * sizeof(std::uint32_t));
  const auto cycles = cuda::allocate_device(cycle_counts * sizeof(long long));
  check(
      cudaMemcpyAsync(order_there.get(), order.data(), lines * sizeof(std::uint32_t), cudaMemcpyHostToDevice, stream),
      "cudaMemcpyAsync");
  link_kernel<<<lines, lanes, 0, stream>>>(in<std::uint32_t>(ring), in<std::uint32_t>(order_there), lines);
  check(cudaGetLastError(), "linking lines");

  const auto begin_of = [&](std::size_t i) { return static_cast<std::uint32_t>(i * steps % lines); };
  const auto run = [&](std::size_t i) {
    walk_kernel<<<1, lanes, 0, stream>>>({in<std::uint32_t>(ring), in<std::uint32_t>(order_there), begin_of(i),
                                          in<std::uint32_t>(ends), in<long long>(cycles) + i % cycle_counts});
    check(cudaGetLastError(), "launching a walk");
  };
  const auto ends_right = [&](std::size_t i) {
    std::vector<std::uint32_t> last(lanes);
    check(cudaMemsetAsync(ends.get(), 0xff, lanes * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
    run(i);
    check(cudaMemcpyAsync(last.data(), ends.get(), lanes * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return last == std::vector<std::uint32_t>(lanes, order[(begin_of(i) + steps) % lines]);
  };

  latency found{true, 0, 0};
  for (std::size_t i = 0; i < cycle_counts; ++i) found.verified = ends_right(i) && found.verified;
  if (!found.verified) return found;
  std::vector<long long> counted(cycle_counts);
  check(cudaMemcpy(counted.data(), cycles.get(), cycle_counts * sizeof(long long), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  found.cycles = measure::median({counted.begin(), counted.end()}) / steps;
  found.seconds = measure::device_median_seconds(stream, run, budget_seconds) / steps;
  return found;
}

}  // namespace fanin::lab
