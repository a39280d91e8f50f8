// SPDX-License-Identifier: Apache-2.0
// Bulk copies of pieces of the input into buffers in shared memory.
#pragma once

#include "backends/cuda/stages/vectors.cuh"
#include "base/cuda/copy_barrier.cuh"

namespace fanin::cuda {

inline constexpr unsigned piece_bytes = 32 * 1024;
inline constexpr unsigned piece = piece_bytes / 16;  ///< in vectors
inline constexpr unsigned ring_size = 6;

/// The buffers of a block in shared memory, and a barrier for each.
template <class T>
struct copy_ring {
  vector_of<T>* buffers;
  copy_barrier* arrived;
};

template <class T>
__device__ copy_ring<T> ring_of_block() {
  __shared__ copy_barrier arrived[ring_size];
  return {dynamic_shared<vector_of<T>>(), arrived};
}

/// Makes the barriers ready for copies. One thread calls it.
template <class T>
__device__ void start_barriers(const copy_ring<T>& ring) {
  for (unsigned slot = 0; slot < ring_size; ++slot) ring.arrived[slot].start();
  copy_barrier::publish();
}

/// Starts the copy of the piece that begins at vector `begin` into a buffer, unless the input ends before. One thread
/// calls it.
template <class T>
__device__ void start_copy(const vector_part<T>& part, std::uint64_t begin, const copy_ring<T>& ring, unsigned slot) {
  const unsigned size = steps::in_tile(begin, part.count, piece);
  if (size == 0) return;
  ring.arrived[slot].copy(ring.buffers + slot * piece, part.vectors + begin, size * sizeof(vector_of<T>));
}

}  // namespace fanin::cuda
