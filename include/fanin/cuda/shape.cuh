// How many blocks of a kernel run, and which vectors each reads, by size and device.
// The figures were chosen on an H200 with bench/device_sums.cpp; docs/architecture.md tells what else was tried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::device_code::tuning {

/// How a kernel over 16-byte vectors is launched.
struct shape {
  int threads;  ///< of a block
  int blocks_per_multiprocessor;
  int loads;      ///< that a thread issues before it uses the first
  int slots = 0;  ///< of a warp, each for so many loads, where the device copies into shared memory by itself
};

/// Two blocks fill a multiprocessor's registers at 64 a thread, with 128 KiB of loads in flight there; about 25 KiB
/// cover the latency of device memory. Wide states leave fewer registers for loads.
constexpr shape fold_shape(std::size_t state_bytes) {
  return {512, 2, state_bytes > 32 ? 1 : state_bytes > 16 ? 4 : 8};
}

/// Partials that a lane of the last warp loads at once: 288 blocks', enough for 144 multiprocessors.
inline constexpr int partials_in_flight = 9;

/// Blocks for an array of vectors. One alone needs no second step and reads up to eight vectors a thread in one go;
/// beyond that one load a thread pays for a block, and more blocks than fit at once would only queue.
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

}  // namespace fanin::device_code::tuning
