// Launching the shipped kernels: which one, in which shape, and what that means for the longest chain of additions.
#pragma once

#include <atomic>

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/bulk.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/plain.cuh"
#include "backends/cuda/wide.cuh"

namespace fanin::cuda {

inline constexpr std::size_t bulk_shared_bytes = tuning::bulk_stages * tuning::bulk_stage_bytes;

/// Whether that device can run this build's bulk kernel; prepares it at the first question for a device.
template <class A>
bool bulk_runs_on(int device) {
  enum : char { unknown, no, yes };
  static std::atomic<char> known[64] = {};
  std::atomic<char>& answer = known[device % 64];
  if (answer == unknown || device >= 64) {
    cudaFuncAttributes attributes;
    int shared = 0;
    check(cudaFuncGetAttributes(&attributes, bulk_kernel<A>), "cudaFuncGetAttributes");
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
    const bool runs = attributes.ptxVersion >= 90 && static_cast<std::size_t>(shared) >= bulk_shared_bytes + 4096;
    if (runs) {
      check(cudaFuncSetAttribute(bulk_kernel<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, bulk_shared_bytes),
            "cudaFuncSetAttribute");
    }
    answer = runs ? yes : no;
  }
  return answer == yes;
}

template <class A>
bool takes_bulk(const execution& where, std::uint64_t vectors) {
  return vectors * 16 >= tuning::bulk_from_bytes && bulk_runs_on<A>(where.device);
}

template <class A>
void launch_vectors(const execution& where, const void* elements, std::uint64_t count, void* out) {
  using state = typename A::state;
  const peeled_array<typename A::element> x(static_cast<const typename A::element*>(elements), count);
  auto* const partials = static_cast<state*>(where.scratch);
  auto* const result = static_cast<state*>(out);
  if (takes_bulk<A>(where, x.vectors)) {
    const unsigned blocks = tuning::bulk_blocks(where.multiprocessors);
    bulk_kernel<A>
        <<<blocks, tuning::block_threads, bulk_shared_bytes, where.stream>>>(x, partials, where.ticket, result);
  } else {
    const unsigned blocks = tuning::plain_blocks(x.vectors, where.multiprocessors);
    plain_kernel<A><<<blocks, tuning::block_threads, 0, where.stream>>>(x, partials, where.ticket, result);
  }
  check(cudaGetLastError(), "launching a reduction");
}

/// Merges across the threads of a block of 2^levels, and along the partials of all blocks.
inline double grid_merges(unsigned blocks, int threads) {
  int levels = 0;
  while ((1 << levels) < threads) ++levels;
  return blocks == 1 ? levels : 2 * levels + (blocks - 1) / threads + 1;
}

template <class A>
chain chain_of_vectors(const execution& where, std::uint64_t vectors) {
  using lanes = vector_fold<A>;
  const bool bulk = takes_bulk<A>(where, vectors);
  const unsigned blocks =
      bulk ? tuning::bulk_blocks(where.multiprocessors) : tuning::plain_blocks(vectors, where.multiprocessors);
  constexpr std::uint64_t adds_per_stage = bulk_share::stage / tuning::block_threads;
  const std::uint64_t adds = bulk ? (bulk_share(vectors, blocks, 0).rounds + 1) * adds_per_stage
                                  : vectors / (std::uint64_t{blocks} * tuning::block_threads) + 1;
  return {static_cast<double>(adds) + lanes::most_end_adds,
          lanes::merge_levels + grid_merges(blocks, tuning::block_threads)};
}

/// Where the array starts decides whether there is one vector less, which may be one block less.
template <class A>
chain longest_chain_of(const execution& where, std::uint64_t count) {
  const std::uint64_t most = count / vector<typename A::element>::size;
  const chain a = chain_of_vectors<A>(where, most);
  const chain b = chain_of_vectors<A>(where, most > 0 ? most - 1 : 0);
  return {std::max(a.adds, b.adds), std::max(a.merges, b.merges)};
}

template <class A>
void launch_wide(const execution& where, const void* x, std::uint64_t count, void* out) {
  using state = typename A::state;
  constexpr int threads = wide_threads_of<A>;
  const unsigned blocks = tuning::wide_blocks(count, threads, where.multiprocessors);
  wide_kernel<A><<<blocks, threads, 0, where.stream>>>(static_cast<const typename A::element*>(x), count,
                                                       static_cast<state*>(where.scratch), where.ticket,
                                                       static_cast<state*>(out));
  check(cudaGetLastError(), "launching an exact reduction");
}

/// Exact states do not round: no chain counts.
inline chain no_chain(const execution&, std::uint64_t) { return {}; }

template <class T>
const device_fold* find_kernel(operation what, method how) noexcept {
  return with_reduction<T>(what, how, []<class Reduction>(Reduction) -> const device_fold* {
    using A = typename Reduction::kernel;
    if constexpr (sizeof(typename A::state) > 64) {
      static constexpr device_fold fold{launch_wide<A>, no_chain};
      return &fold;
    } else {
      static constexpr device_fold fold{launch_vectors<A>, longest_chain_of<A>};
      return &fold;
    }
  });
}

}  // namespace fanin::cuda
