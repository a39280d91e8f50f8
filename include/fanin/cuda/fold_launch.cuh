// SPDX-License-Identifier: Apache-2.0
// Launches of the general loop, and the longest chain of additions in it.
#pragma once

#include <bit>

#include <fanin/cuda/fold_kernel.cuh>
#include <fanin/cuda/launch.cuh>

namespace fanin::device_code {

/// The scratch that a launch of A needs, which is one state for each block.
template <class A>
std::size_t fold_scratch_bytes(int multiprocessors) {
  return sizeof(typename A::state) * static_cast<unsigned>(multiprocessors * shape_of<A>.blocks_per_multiprocessor);
}

/// Enqueues the fold of the arrays. The kernel calls write(state) in one thread with the state of all elements.
/// @throws device_error
template <class A, class Write>
void launch_fold(const execution& where, const arrays_of<A>& arrays, const Write& write) {
  constexpr tuning::shape shape = shape_of<A>;
  const unsigned blocks = tuning::blocks(arrays.vectors, where.multiprocessors, shape);
  launch_overlapped(where, blocks, shape.threads, 0, fold_kernel<A, Write>, arrays,
                    tuning::whole_rounds(arrays.vectors, blocks, shape),
                    static_cast<typename A::state*>(where.scratch), where.ticket, write);
}

/// The longest chain of merges. The states of the threads of a block are merged first. Then each thread of the
/// last warp merges partials of blocks. At last the states of this warp are merged.
inline double grid_merges(unsigned blocks, int threads) {
  const int in_block = std::bit_width(static_cast<unsigned>(threads)) - 1;
  constexpr int in_warp = 5;
  return blocks == 1 ? in_block : in_block + (blocks - 1) / 32 + 1 + in_warp;
}

/// The longest chain of additions in the kernel of launch_fold(). The number of the array's whole vectors depends on
/// its alignment. The elements outside of the whole vectors would fill fewer than 16 vectors.
template <class A>
rounding_chain fold_chain(int multiprocessors, std::uint64_t count) {
  constexpr tuning::shape shape = shape_of<A>;
  using fold = vector_fold<A>;
  const std::uint64_t most = count / vector<typename A::element>::size;
  const unsigned blocks = tuning::blocks(most, multiprocessors, shape);
  const unsigned fewer = tuning::blocks(most > 16 ? most - 16 : 0, multiprocessors, shape);
  const std::uint64_t adds = tuning::longest_walk(most, fewer, shape) * fold::adds_in_vector + fold::most_end_adds;
  return {static_cast<double>(adds), fold::merge_levels + grid_merges(blocks, shape.threads)};
}

}  // namespace fanin::device_code
