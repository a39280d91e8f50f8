// How many blocks of a kernel run, and which elements each reads: by size and device. The one place that decides.
// The figures were chosen on an H200 with bench/device_sums.cpp; docs/architecture.md tells what else was tried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::cuda::tuning {

/// Two blocks fill a multiprocessor's registers at 64 a thread, with 128 KiB of loads in flight there; about 25 KiB
/// cover the latency of device memory.
inline constexpr int block_threads = 512;
inline constexpr int blocks_per_multiprocessor = 2;
/// Loads of 16 bytes that a thread issues before it uses the first; wide states leave fewer registers for them.
constexpr int loads_in_flight(std::size_t state_bytes) { return state_bytes > 16 ? 4 : 8; }

/// Partials that a lane of the last warp loads at once: 288 blocks', enough for 144 multiprocessors.
inline constexpr int partials_in_flight = 9;

/// Blocks for an array of 16-byte vectors. One alone needs no second step and reads up to 64 KiB in one go; beyond
/// that one load a thread pays for a block, and more blocks than fit at once would only queue.
constexpr unsigned blocks(std::uint64_t vectors, int multiprocessors) {
  constexpr std::uint64_t alone = std::uint64_t{8} * block_threads;
  if (vectors <= alone) return 1;
  const auto most = static_cast<std::uint64_t>(multiprocessors * blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (vectors - 1) / block_threads + 1));
}

/// How many rounds there are in which each block has a tile of its own, `loads` vectors for each thread. In what is
/// left over, blocks take turns at every `block_threads` vectors, so that all have something to read.
constexpr std::uint64_t whole_rounds(std::uint64_t vectors, unsigned blocks, int loads) {
  return vectors / (std::uint64_t{blocks} * block_threads * static_cast<unsigned>(loads));
}

/// The most vectors that one thread adds.
constexpr std::uint64_t longest_walk(std::uint64_t vectors, unsigned blocks) {
  const std::uint64_t turn = std::uint64_t{blocks} * block_threads;
  return (vectors + turn - 1) / turn;
}

/// States that live in shared memory: as many threads as fit into what every device offers a block.
inline constexpr std::size_t wide_block_bytes = 40 << 10;
inline constexpr int wide_blocks_per_multiprocessor = 4;
constexpr int wide_threads(std::size_t state_bytes) {
  int threads = 128;
  while (static_cast<std::size_t>(threads) * state_bytes > wide_block_bytes) threads /= 2;
  return threads;
}

/// Blocks of the kernel with wide states, whose merges cost much: at least 16 elements a thread.
constexpr unsigned wide_blocks(std::uint64_t count, int threads, int multiprocessors) {
  const auto most = static_cast<std::uint64_t>(multiprocessors * wide_blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (count - 1) / (16 * static_cast<std::uint64_t>(threads)) + 1));
}

}  // namespace fanin::cuda::tuning
