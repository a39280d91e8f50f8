// SPDX-License-Identifier: Apache-2.0
// Who adds what to whom: the index arithmetic of the stages, for pictures and traces without a GPU. The trees'
// kernels spell it themselves, and unit/ladder_kernels holds their results to these functions.
//
// A tree over `size` values runs one step for every stride; within a step all threads work at once, and no thread
// touches a value that another one changes.
#pragma once

#include <bit>
#include <cstdint>

#include <fanin/compiler.hpp>

namespace fanin::cuda::steps {

/// The work of one thread in one step. If the thread works, value[from] is added to value[into].
struct step {
  unsigned into;
  unsigned from;
  bool works;
};

/// Neighbours, strides 1, 2, 4, ...: thread t owns value t, so that ever fewer threads of a warp work.
FANIN_HOST_DEVICE constexpr step neighbored(unsigned thread, unsigned stride, unsigned size) {
  return {thread, thread + stride, thread % (2 * stride) == 0 && thread + stride < size};
}

/// The pairs of the step before it, found by a mask instead of a division.
FANIN_HOST_DEVICE constexpr step masked(unsigned thread, unsigned stride, unsigned size) {
  const unsigned mask = 2 * stride - 1;
  return {thread, thread + stride, (thread & mask) == 0 && thread + stride < size};
}

/// The pairs of masked(), taken by the first threads, so that whole warps work or rest.
FANIN_HOST_DEVICE constexpr step strided(unsigned thread, unsigned stride, unsigned size) {
  const unsigned into = 2 * stride * thread;
  return {into, into + stride, into + stride < size};
}

/// The lower half takes in the upper one, strides first_stride(size), ..., 4, 2, 1: neighbouring threads touch
/// neighbouring values.
FANIN_HOST_DEVICE constexpr step halving(unsigned thread, unsigned stride, unsigned size) {
  return {thread, thread + stride, thread < stride && thread + stride < size};
}

/// The largest power of two below `size`; 0 for a size of 0 or 1.
FANIN_HOST_DEVICE constexpr unsigned first_stride(unsigned size) { return size < 2 ? 0 : std::bit_floor(size - 1); }

/// How many of `count` elements lie in the tile that starts at `begin`.
FANIN_HOST_DEVICE constexpr unsigned in_tile(std::uint64_t begin, std::uint64_t count, unsigned tile) {
  if (begin >= count) return 0;
  return count - begin < tile ? static_cast<unsigned>(count - begin) : tile;
}

/// An array as 16-byte vectors, with the elements before the first aligned one and those after the last whole one.
struct peeled {
  unsigned head;
  std::uint64_t vectors;
  unsigned tail;
};

FANIN_HOST_DEVICE constexpr peeled peel(std::uintptr_t address, std::uint64_t count, unsigned element_bytes) {
  const unsigned per_vector = 16 / element_bytes;
  const unsigned to_aligned = static_cast<unsigned>((16 - address % 16) % 16) / element_bytes;
  const unsigned head = to_aligned < count ? to_aligned : static_cast<unsigned>(count);
  const std::uint64_t vectors = (count - head) / per_vector;
  return {head, vectors, static_cast<unsigned>(count - head - vectors * per_vector)};
}

}  // namespace fanin::cuda::steps
