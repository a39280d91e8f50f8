// How the kernels of exact sums are launched. The figures were chosen as those of fanin/cuda/shape.cuh.
#pragma once

#include <fanin/cuda/shape.cuh>

namespace fanin::cuda::tuning {

using namespace device_code::tuning;

/// Exact sums keep more in registers: 128 a thread. Few vectors are added soonest by short code, as most of the time
/// goes into fetching it; many need more bytes in flight: two slots hold 128 KiB, where registers would hold 64 KiB.
inline constexpr shape exact_few{512, 1, 4}, exact_many{512, 1, 8, 2};
/// Of products of two arrays, a load from each at a time.
constexpr shape exact_pairs(std::size_t element_bytes) { return {512, 1, element_bytes == 4 ? 4 : 2}; }
static_assert(exact_few.threads == exact_many.threads &&
              exact_pairs(4).threads == exact_many.threads);  // as kernels have it
inline constexpr std::uint64_t exact_many_vectors = std::uint64_t{3} << 19;

/// How many batches there are, each `loads` vectors for every lane of a warp: all if every warp has one, else none.
/// The warps of a block take turns at its batches: some are faster than others.
constexpr std::uint64_t whole_batches(std::uint64_t vectors, unsigned blocks, const shape& s) {
  const std::uint64_t batches = vectors / static_cast<unsigned>(32 * s.loads);
  return batches >= std::uint64_t{blocks} * static_cast<unsigned>(s.threads / 32) ? batches : 0;
}

}  // namespace fanin::cuda::tuning
