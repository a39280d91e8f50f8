// SPDX-License-Identifier: Apache-2.0
// The launch shapes of the kernels of exact sums. They were chosen by measurement, like the shapes of
// fanin/cuda/shape.cuh.
#pragma once

#include <fanin/cuda/shape.cuh>

namespace fanin::cuda::tuning {

using namespace device_code::tuning;

/// The kernels use 128 registers a thread, so that one block fills a multiprocessor. For few vectors short code is
/// the fastest, because most of the time goes into fetching instructions. Many vectors need more bytes in flight.
/// The two slots of all warps hold 128 KiB, and registers hold 64 KiB. For sums of real elements registers are
/// enough, and 2 to 3 % faster, if memory delivers at most loads_keep_up_with bytes per cycle. An H100 delivers 12.8
/// bytes, and an H200 18.4.
inline constexpr shape exact_few{512, 1, 4}, exact_loaded{512, 1, 8}, exact_many{512, 1, 8, 2};
inline constexpr double loads_keep_up_with = 15;  ///< bytes for a multiprocessor in one of its cycles
/// The shape for products of two arrays: each of its loads reads a vector from both. Products of complex floats would
/// spill registers with four loads.
constexpr shape exact_pairs(std::size_t number_bytes, bool complex = false) {
  return {512, 1, number_bytes == 8 ? 2 : complex ? 3 : 4};
}
/// The shape for terms of 8 and 16 bits. A thread has the loads of two rounds in registers: of the round that is
/// added, and of the next one.
constexpr shape narrow_shape(std::size_t element_bytes, int inputs) {
  return {element_bytes == 1 && inputs == 1 ? 768 : 512, 1, static_cast<int>(2 * element_bytes) / inputs};
}
static_assert(exact_few.threads == exact_many.threads && exact_loaded.threads == exact_many.threads &&
              exact_pairs(4).threads == exact_many.threads);  // exact_kernel has one launch bound
/// For this number of vectors or more, exact_many is faster than exact_few.
inline constexpr std::uint64_t exact_many_vectors = std::uint64_t{3} << 19;

/// The number of whole tiles in an array; a tile is `loads` vectors for every thread of a warp. It is 0 if there are
/// fewer tiles than warps.
constexpr std::uint64_t whole_tiles(std::uint64_t vectors, unsigned blocks, const shape& s) {
  const std::uint64_t tiles = vectors / static_cast<unsigned>(32 * s.loads);
  return tiles >= std::uint64_t{blocks} * static_cast<unsigned>(s.threads / 32) ? tiles : 0;
}

}  // namespace fanin::cuda::tuning
