// Launch shapes: how many blocks a kernel has, and which vectors each block reads, by input size and device.
// The figures were chosen on an H200 with bench/device_sums.cpp; docs/architecture.md tells what else was tried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::device_code::tuning {

/// The launch shape of a kernel over 16-byte vectors.
struct shape {
  int threads;  ///< per block
  int blocks_per_multiprocessor;
  int loads;      ///< loads that a thread issues before it uses the first one
  int slots = 0;  ///< slots of a warp's ring in shared memory, if bulk copies fill it; a slot has `loads` per thread
};

/// Two blocks fill a multiprocessor's registers at 64 a thread, with 128 KiB of loads in flight there; about 25 KiB
/// cover the latency of device memory. Wide states leave fewer registers for loads.
constexpr shape fold_shape(std::size_t state_bytes) {
  return {512, 2, state_bytes > 32 ? 1 : state_bytes > 16 ? 4 : 8};
}

/// The partials that each lane of the last warp loads at once. The warp's 288 loads are enough for 144
/// multiprocessors.
inline constexpr int partials_in_flight = 9;

/// The number of blocks for an array of vectors. Up to eight vectors per thread, one block is used, which saves the
/// merge of the blocks' states. Beyond that, a further block pays from one vector per thread on, up to the number of
/// blocks that are resident at once; more blocks would only wait.
constexpr unsigned blocks(std::uint64_t vectors, int multiprocessors, const shape& s) {
  const auto threads = static_cast<std::uint64_t>(s.threads);
  if (vectors <= 8 * threads) return 1;
  const auto most = static_cast<std::uint64_t>(multiprocessors * s.blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (vectors - 1) / threads + 1));
}

/// The number of rounds in which every block reads a whole tile: `loads` vectors for each thread. The vectors left
/// over are dealt out to the blocks in runs of `threads` vectors, so that all blocks have some to read.
constexpr std::uint64_t whole_rounds(std::uint64_t vectors, unsigned blocks, const shape& s) {
  return vectors / (std::uint64_t{blocks} * static_cast<unsigned>(s.threads * s.loads));
}

/// The most vectors that one thread adds.
constexpr std::uint64_t longest_walk(std::uint64_t vectors, unsigned blocks, const shape& s) {
  const std::uint64_t turn = std::uint64_t{blocks} * static_cast<unsigned>(s.threads);
  return (vectors + turn - 1) / turn;
}

}  // namespace fanin::device_code::tuning
