// How many blocks of a kernel run, and which elements each reads: by size and device. The one place that decides.
// The figures were chosen on an H200 with bench/device_sums.cpp; docs/architecture.md tells what else was tried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::cuda::tuning {

/// How a kernel over 16-byte vectors is launched.
struct shape {
  int threads;  ///< of a block
  int blocks_per_multiprocessor;
  int loads;      ///< that a thread issues before it uses the first
  int slots = 0;  ///< of a warp, each for so many loads, where the device copies into shared memory by itself
};

/// Two blocks fill a multiprocessor's registers at 64 a thread, with 128 KiB of loads in flight there; about 25 KiB
/// cover the latency of device memory. Wide states leave fewer registers for loads.
constexpr shape fold_shape(std::size_t state_bytes) { return {512, 2, state_bytes > 16 ? 4 : 8}; }

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

/// Partials that a lane of the last warp loads at once: 288 blocks', enough for 144 multiprocessors.
inline constexpr int partials_in_flight = 9;

/// Blocks for an array of 16-byte vectors. One alone needs no second step and reads up to eight vectors a thread in
/// one go; beyond that one load a thread pays for a block, and more blocks than fit at once would only queue.
constexpr unsigned blocks(std::uint64_t vectors, int multiprocessors, const shape& s) {
  const auto threads = static_cast<std::uint64_t>(s.threads);
  if (vectors <= 8 * threads) return 1;
  const auto most = static_cast<std::uint64_t>(multiprocessors * s.blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (vectors - 1) / threads + 1));
}

/// How many rounds there are in which each block has a tile of its own, `loads` vectors for each thread. In what is
/// left over, blocks take turns at every `threads` vectors, so that all have something to read.
constexpr std::uint64_t whole_rounds(std::uint64_t vectors, unsigned blocks, const shape& s) {
  return vectors / (std::uint64_t{blocks} * static_cast<unsigned>(s.threads * s.loads));
}

/// The most vectors that one thread adds.
constexpr std::uint64_t longest_walk(std::uint64_t vectors, unsigned blocks, const shape& s) {
  const std::uint64_t turn = std::uint64_t{blocks} * static_cast<unsigned>(s.threads);
  return (vectors + turn - 1) / turn;
}

}  // namespace fanin::cuda::tuning
