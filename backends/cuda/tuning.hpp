// Which kernel runs, and how many blocks of it: by size and device. The one place that decides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::cuda::tuning {

/// Threads of a block, plain and bulk: two blocks of the plain kernel fill a multiprocessor's registers at 64 each,
/// with 128 KiB of loads in flight there; about 25 KiB cover the latency of device memory.
inline constexpr int block_threads = 512;
inline constexpr int plain_blocks_per_multiprocessor = 2;
/// Loads of 16 bytes that a thread issues before it uses the first; wide states leave fewer registers for them.
constexpr int loads_in_flight(std::size_t state_bytes) { return state_bytes > 16 ? 4 : 8; }

/// Bulk copies: 6 stages of 32 KiB reach the highest read bandwidth seen, with one block on each multiprocessor.
inline constexpr int bulk_stages = 6;
inline constexpr std::uint64_t bulk_stage_bytes = std::uint64_t{1} << 15;
/// Below this the plain kernel's shorter start counts for more.
inline constexpr std::uint64_t bulk_from_bytes = std::uint64_t{1} << 28;

/// States that live in shared memory: as many threads as fit into what every device offers a block.
inline constexpr std::size_t wide_block_bytes = 40 << 10;
inline constexpr int wide_blocks_per_multiprocessor = 4;
constexpr int wide_threads(std::size_t state_bytes) {
  int threads = 128;
  while (static_cast<std::size_t>(threads) * state_bytes > wide_block_bytes) threads /= 2;
  return threads;
}

/// Blocks of the plain kernel. One alone needs no second step and reads up to 64 KiB in one go; beyond that, two
/// loads a thread are enough to pay for a block, and more blocks than fit at once would only queue.
constexpr unsigned plain_blocks(std::uint64_t vectors, int multiprocessors) {
  constexpr std::uint64_t alone = std::uint64_t{8} * block_threads;
  if (vectors <= alone) return 1;
  const auto most = static_cast<std::uint64_t>(multiprocessors * plain_blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (vectors - 1) / (2 * block_threads) + 1));
}

constexpr unsigned bulk_blocks(int multiprocessors) { return static_cast<unsigned>(multiprocessors); }

/// Blocks of the kernel with wide states, whose merges cost much: at least 16 elements a thread.
constexpr unsigned wide_blocks(std::uint64_t count, int threads, int multiprocessors) {
  const auto most = static_cast<std::uint64_t>(multiprocessors * wide_blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (count - 1) / (16 * static_cast<std::uint64_t>(threads)) + 1));
}

}  // namespace fanin::cuda::tuning
