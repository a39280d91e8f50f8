// SPDX-License-Identifier: Apache-2.0
#include "measure/lab/latency.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "measure/device.hpp"
#include "measure/timing.hpp"

namespace fanin::lab {
namespace {

using cuda::check;

constexpr unsigned warp_size = 32;
constexpr unsigned most_threads = 1024;
constexpr std::size_t line_bytes = warp_size * sizeof(std::uint32_t);
constexpr unsigned most_warps = 64;
constexpr unsigned most_blocks_per_multiprocessor = most_warps * warp_size / most_threads;

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

template <class T>
T* pointer_to(const cuda::device_memory& memory) {
  return reinterpret_cast<T*>(memory.get());
}

/// The arguments of every chain kernel. Only the kernels of `load` read `ring`.
struct chains {
  const std::uint32_t* ring;
  const std::uint32_t* order;
  std::uint32_t lines;
  std::uint32_t begin, spacing;  ///< position of the first chain in `order`, and distance from each chain to the next
  float one;                     ///< passed at run time, so that the compiler cannot compute the fma
  std::uint32_t* ends;           ///< the last state of each thread of each chain
  long long* cycles;             ///< clock cycles of the first warp
};

__host__ __device__ constexpr std::uint64_t position_of(const chains& all, std::uint64_t chain) {
  return (all.begin + chain * all.spacing) % all.lines;
}

/// Writes into every word of a line the number of the next line, so that each thread of a warp reads a word of its
/// own.
__global__ void link_kernel(std::uint32_t* ring, const std::uint32_t* order, std::uint32_t lines) {
  const std::uint32_t position = blockIdx.x;
  const std::uint32_t next = order[position + 1 < lines ? position + 1 : 0];
  ring[std::uint64_t{order[position]} * warp_size + threadIdx.x] = next;
}

/// `steps` is large enough that one warp takes much longer than a kernel launch.
struct load {
  static constexpr std::uint32_t steps = 1u << 10;
  static constexpr std::uint32_t unrolled = 8;
  using state = std::uint32_t;
  __device__ static state first(const chains& all, std::uint64_t chain) { return all.order[position_of(all, chain)]; }
  __device__ static state next(const chains& all, state line) {
    return __ldcg(all.ring + std::uint64_t{line} * warp_size + threadIdx.x % warp_size);
  }
};

struct fma {
  static constexpr std::uint32_t steps = 1u << 16;
  static constexpr std::uint32_t unrolled = 64;
  using state = float;
  __device__ static state first(const chains&, std::uint64_t chain) { return static_cast<float>(chain); }
  __device__ static state next(const chains& all, state x) { return __fmaf_rn(x, all.one, all.one); }
};

template <class Instruction, unsigned Chains>
__global__ void __launch_bounds__(most_threads, most_blocks_per_multiprocessor) chain_kernel(chains all) {
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_size;
  typename Instruction::state at[Chains];
#pragma unroll
  for (unsigned c = 0; c < Chains; ++c) at[c] = Instruction::first(all, warp * Chains + c);
  const long long begin = clock64();
#pragma unroll Instruction::unrolled
  for (std::uint32_t i = 0; i < Instruction::steps; ++i) {
#pragma unroll
    for (unsigned c = 0; c < Chains; ++c) at[c] = Instruction::next(all, at[c]);
  }
#pragma unroll
  for (unsigned c = 0; c < Chains; ++c)
    all.ends[(warp * Chains + c) * warp_size + threadIdx.x % warp_size] = static_cast<std::uint32_t>(at[c]);
  if (warp == 0 && threadIdx.x == 0) *all.cycles = clock64() - begin;
}

/// kernels<Instruction>[i] has chain_counts[i] chains per thread.
template <class Instruction>
constexpr std::array<void (*)(chains), chain_counts.size()> kernels = {
    chain_kernel<Instruction, chain_counts[0]>, chain_kernel<Instruction, chain_counts[1]>,
    chain_kernel<Instruction, chain_counts[2]>, chain_kernel<Instruction, chain_counts[3]>};

/// A launch that gives each multiprocessor the same number of warps. Up to 32 warps form one block per
/// multiprocessor, which takes all of its shared memory so that no second block fits; more warps form blocks of 32
/// warps.
struct chain_layout {
  unsigned blocks, threads;
  std::size_t shared_bytes;

  static chain_layout over_all(unsigned warps) {
    const auto multiprocessors = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
    const auto all_shared = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    const unsigned each = std::min(warps, most_threads / warp_size);
    return {warps / each * multiprocessors, each * warp_size, warps == each ? all_shared : 0};
  }
  std::uint64_t warps() const { return std::uint64_t{blocks} * threads / warp_size; }
};
constexpr chain_layout one_warp = {1, warp_size, 0};

class chain_bench {
 public:
  explicit chain_bench(cudaStream_t stream) : stream_(stream) {
    const auto cache = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    order_.resize(4 * cache / line_bytes + 2 * load::steps);
    std::iota(order_.begin(), order_.end(), 0u);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(1));
    ring_ = cuda::allocate_device(lines() * line_bytes);
    device_order_ = cuda::allocate_device(lines() * sizeof(std::uint32_t));
    const std::size_t most_chains = std::size_t{most_warps} * chain_counts.back() *
                                    static_cast<std::size_t>(attribute(cudaDevAttrMultiProcessorCount));
    ends_ = cuda::allocate_device(most_chains * line_bytes);
    cycles_ = cuda::allocate_device(sizeof(long long));
    check(cudaMemcpyAsync(device_order_.get(), order_.data(), lines() * sizeof(std::uint32_t), cudaMemcpyHostToDevice,
                          stream),
          "cudaMemcpyAsync");
    link_kernel<<<lines(), warp_size, 0, stream>>>(pointer_to<std::uint32_t>(ring_),
                                                   pointer_to<std::uint32_t>(device_order_), lines());
    check(cudaGetLastError(), "linking lines");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  /// Measures one warp with one chain.
  template <class Instruction>
  latency latency_of() {
    constexpr std::size_t runs = 101;
    latency found{true, 0, 0};
    std::vector<double> cycles;
    for (std::size_t i = 0; i < runs; ++i) {
      if (!is_right<Instruction>(0, one_warp, i)) return {false, 0, 0};
      long long counted = 0;
      check(cudaMemcpy(&counted, cycles_.get(), sizeof counted, cudaMemcpyDeviceToHost), "cudaMemcpy");
      cycles.push_back(static_cast<double>(counted) / Instruction::steps);
    }
    found.cycles = measure::median(cycles);
    found.seconds = seconds<Instruction>(0, one_warp, runs) / Instruction::steps;
    return found;
  }

  /// Measures `warps` warps on every multiprocessor, for each of chain_counts.
  template <class Instruction>
  throughput throughput_of(unsigned warps) {
    const chain_layout over = chain_layout::over_all(warps);
    throughput found{warps, true, {}};
    for (std::size_t kind = 0; kind < chain_counts.size(); ++kind) {
      found.verified = found.verified && is_right<Instruction>(kind, over, 0);
      if (!found.verified) return found;
      const auto instructions = static_cast<double>(over.warps() * chain_counts[kind] * Instruction::steps);
      found.per_second[kind] = instructions / seconds<Instruction>(kind, over, 1);
    }
    return found;
  }

 private:
  std::uint32_t lines() const { return static_cast<std::uint32_t>(order_.size()); }

  /// Consecutive runs begin at later positions of the order, so that no run finds the lines of the run before in the
  /// cache.
  chains chains_of(std::size_t kind, const chain_layout& over, std::size_t i) const {
    const std::uint64_t count = over.warps() * chain_counts[kind];
    const auto spacing = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(lines() / count, 1, load::steps));
    return {pointer_to<const std::uint32_t>(ring_),
            pointer_to<const std::uint32_t>(device_order_),
            lines(),
            static_cast<std::uint32_t>(i * count % lines() * spacing % lines()),
            spacing,
            1,
            pointer_to<std::uint32_t>(ends_),
            pointer_to<long long>(cycles_)};
  }

  template <class Instruction>
  void run(std::size_t kind, const chain_layout& over, std::size_t i) {
    const auto kernel = kernels<Instruction>[kind];
    kernel<<<over.blocks, over.threads, over.shared_bytes, stream_>>>(chains_of(kind, over, i));
    check(cudaGetLastError(), "launching chains");
  }

  static std::uint32_t right_end(load, const chains& all, std::uint64_t chain,
                                 const std::vector<std::uint32_t>& order) {
    return order[(position_of(all, chain) + load::steps) % all.lines];
  }
  static std::uint32_t right_end(fma, const chains&, std::uint64_t chain, const std::vector<std::uint32_t>&) {
    return static_cast<std::uint32_t>(chain + fma::steps);
  }

  template <class Instruction>
  bool is_right(std::size_t kind, const chain_layout& over, std::size_t i) {
    const auto kernel = kernels<Instruction>[kind];
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(over.shared_bytes)),
          "cudaFuncSetAttribute");
    const std::uint64_t count = over.warps() * chain_counts[kind];
    check(cudaMemsetAsync(ends_.get(), 0xff, count * line_bytes, stream_), "cudaMemsetAsync");
    run<Instruction>(kind, over, i);
    std::vector<std::uint32_t> ends(count * warp_size);
    check(cudaMemcpyAsync(ends.data(), ends_.get(), count * line_bytes, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    const chains all = chains_of(kind, over, i);
    for (std::size_t k = 0; k < ends.size(); ++k) {
      if (ends[k] != right_end(Instruction{}, all, k / warp_size, order_)) return false;
    }
    return true;
  }

  /// The median time of one run. The runs measured begin with number `first`, because the lines of earlier runs are
  /// in the cache.
  template <class Instruction>
  double seconds(std::size_t kind, const chain_layout& over, std::size_t first) {
    constexpr double budget_seconds = 0.05;
    return measure::device_median_seconds(
        stream_, [&](std::size_t i) { run<Instruction>(kind, over, first + i); }, budget_seconds);
  }

  cudaStream_t stream_;
  std::vector<std::uint32_t> order_;
  cuda::device_memory ring_, device_order_, ends_, cycles_;
};

template <class Instruction>
hiding measured(std::string_view name, chain_bench& bench) {
  const auto most =
      std::min(most_warps, static_cast<unsigned>(attribute(cudaDevAttrMaxThreadsPerMultiProcessor)) / warp_size);
  hiding all{name, bench.latency_of<Instruction>(), {}};
  for (unsigned warps = 1; warps <= most; warps *= 2) all.rows.push_back(bench.throughput_of<Instruction>(warps));
  return all;
}

}  // namespace

latency measure_memory_latency(cudaStream_t stream) { return chain_bench(stream).latency_of<load>(); }

std::array<hiding, 2> measure_hiding(cudaStream_t stream) {
  chain_bench bench(stream);
  return {measured<fma>("fma", bench), measured<load>("load", bench)};
}

}  // namespace fanin::lab
