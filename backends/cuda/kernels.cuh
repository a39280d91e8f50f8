// Launching the shipped kernels: in which shape, and what that means for the longest chain of additions.
#pragma once

#include <bit>

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/exact/exact_fold.cuh"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/fold/fold_kernel.cuh"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/runtime/check.hpp"
#include "backends/cuda/runtime/overlapped.cuh"

namespace fanin::cuda {

/// Merges across the threads of a block, then along the partials in the lanes of one warp and across these.
inline double grid_merges(unsigned blocks, int threads) {
  const int in_block = std::bit_width(static_cast<unsigned>(threads)) - 1;
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

template <class Reduction>
class vectors_fold final : public device_fold {
  using A = typename Reduction::kernel;
  using state = typename A::state;
  using element = typename A::element;
  static constexpr tuning::shape shape = shape_of<A>;

 public:
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data.x, count, {static_cast<state*>(out), nullptr, count});
  }
  bool launch_finished(const execution& where, const void* x, std::uint64_t count, element_type,
                       void* out) const override {
    run(where, x, count, {nullptr, static_cast<device_result<result_of<Reduction>>*>(out), count});
    return true;
  }
  /// Where the array starts decides how many vectors it has: its ends take less than 16 of them.
  chain longest_chain(const execution& where, std::uint64_t count) const override {
    const std::uint64_t most = count / vector<element>::size;
    const unsigned blocks = tuning::blocks(most, where.multiprocessors, shape);
    const unsigned fewer = tuning::blocks(most > 16 ? most - 16 : 0, where.multiprocessors, shape);
    const std::uint64_t adds = tuning::longest_walk(most, fewer, shape) + vector_fold<A>::most_end_adds;
    return {static_cast<double>(adds), vector_fold<A>::merge_levels + grid_merges(blocks, shape.threads)};
  }

 private:
  static void run(const execution& where, const void* elements, std::uint64_t count, const grid_end<Reduction>& end) {
    const peeled_array<element> x(static_cast<const element*>(elements), count);
    const unsigned blocks = tuning::blocks(x.vectors, where.multiprocessors, shape);
    launch_overlapped(where, blocks, shape.threads, 0, fold_kernel<A, grid_end<Reduction>>, x,
                      tuning::whole_rounds(x.vectors, blocks, shape), static_cast<state*>(where.scratch),
                      where.ticket, end);
  }
};

/// The kernels for a reduction.
template <class Reduction>
constexpr auto fold_for() {
  using T = typename Reduction::element;
  constexpr operation what = Reduction::what;
  if constexpr (Reduction::how != method::exact) {
    return std::type_identity<vectors_fold<Reduction>>();
  } else if constexpr (what == operation::variance) {
    return std::type_identity<moments_fold<T>>();
  } else if constexpr (what == operation::dot) {
    return std::type_identity<dot_fold<T>>();
  } else {
    constexpr int power = what == operation::sum || what == operation::mean ? 1 : 2;
    return std::type_identity<exact_fold<T, power, what>>();
  }
}

template <class T>
const device_fold* find_kernel(operation what, method how) noexcept {
  return with_reduction<T>(what, how, []<class Reduction>(Reduction) -> const device_fold* {
    static const typename decltype(fold_for<Reduction>())::type only;
    return &only;
  });
}

}  // namespace fanin::cuda
