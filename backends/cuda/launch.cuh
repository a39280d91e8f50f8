// Launching the shipped kernels: in which shape, and what that means for the longest chain of additions.
#pragma once

#include <bit>

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/check.hpp"
#include "backends/cuda/finish.hpp"
#include "backends/cuda/fold_kernel.cuh"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/wide.cuh"

namespace fanin::cuda {

/// Merges across the threads of a block, then along the partials in the lanes of one warp and across these.
inline double grid_merges(unsigned blocks) {
  constexpr int in_block = std::bit_width(static_cast<unsigned>(tuning::block_threads)) - 1;
  constexpr int in_warp = 5;
  return blocks == 1 ? in_block : in_block + (blocks - 1) / 32 + 1 + in_warp;
}

/// What becomes of the grid's state: it is left for others, or finished here if there is a place for the result.
template <class Reduction>
struct grid_end {
  using state = typename Reduction::kernel::state;
  using R = result_of<Reduction>;
  state* out;
  device_result<R>* result;
  std::uint64_t count;

  __device__ void operator()(const state& s) const {
    if (result == nullptr) {
      *out = s;
    } else {
      *result = finished<Reduction, R>(static_cast<typename Reduction::total::state>(s), count);
    }
  }
};

/// For states that fit in registers.
template <class Reduction>
class vectors_fold final : public device_fold {
  using A = typename Reduction::kernel;
  using state = typename A::state;
  using element = typename A::element;
  static constexpr int loads = tuning::loads_in_flight(sizeof(state));

 public:
  void launch(const execution& where, const void* x, std::uint64_t count, void* out) const override {
    run(where, x, count, {static_cast<state*>(out), nullptr, count});
  }
  bool launch_finished(const execution& where, const void* x, std::uint64_t count, element_type,
                       void* out) const override {
    run(where, x, count, {nullptr, static_cast<device_result<result_of<Reduction>>*>(out), count});
    return true;
  }
  /// Where the array starts decides how many vectors it has: its ends take less than 16 of them.
  chain longest_chain(const execution& where, std::uint64_t count) const override {
    const std::uint64_t most = count / vector<element>::size;
    const unsigned blocks = tuning::blocks(most, where.multiprocessors);
    const unsigned fewer = tuning::blocks(most > 16 ? most - 16 : 0, where.multiprocessors);
    const std::uint64_t adds = tuning::longest_walk(most, fewer) + vector_fold<A>::most_end_adds;
    return {static_cast<double>(adds), vector_fold<A>::merge_levels + grid_merges(blocks)};
  }

 private:
  static void run(const execution& where, const void* elements, std::uint64_t count, const grid_end<Reduction>& end) {
    const peeled_array<element> x(static_cast<const element*>(elements), count);
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t shape{};
    shape.gridDim = dim3(tuning::blocks(x.vectors, where.multiprocessors));
    shape.blockDim = dim3(tuning::block_threads);
    shape.stream = where.stream;
    shape.attrs = &overlap;
    shape.numAttrs = where.programmatic ? 1 : 0;
    check(cudaLaunchKernelEx(&shape, fold_kernel<A, grid_end<Reduction>>, x,
                             tuning::whole_rounds(x.vectors, shape.gridDim.x, loads),
                             static_cast<state*>(where.scratch), where.ticket, end),
          "launching a reduction");
  }
};

/// For states that do not. They do not round: no chain counts.
template <class A>
class wide_fold final : public device_fold {
  using state = typename A::state;

 public:
  void launch(const execution& where, const void* x, std::uint64_t count, void* out) const override {
    constexpr int threads = wide_threads_of<A>;
    const unsigned blocks = tuning::wide_blocks(count, threads, where.multiprocessors);
    wide_kernel<A><<<blocks, threads, 0, where.stream>>>(static_cast<const typename A::element*>(x), count,
                                                         static_cast<state*>(where.scratch), where.ticket,
                                                         static_cast<state*>(out));
    check(cudaGetLastError(), "launching an exact reduction");
  }
  chain longest_chain(const execution&, std::uint64_t) const override { return {}; }
};

template <class T>
const device_fold* find_kernel(operation what, method how) noexcept {
  return with_reduction<T>(what, how, []<class Reduction>(Reduction) -> const device_fold* {
    using A = typename Reduction::kernel;
    static constexpr std::size_t most_in_registers = 64;
    using fold = std::conditional_t<(sizeof(typename A::state) > most_in_registers), wide_fold<A>,
                                    vectors_fold<Reduction>>;
    static const fold only;
    return &only;
  });
}

}  // namespace fanin::cuda
