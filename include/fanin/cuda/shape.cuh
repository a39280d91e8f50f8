// SPDX-License-Identifier: Apache-2.0
// Launch shapes: how many blocks a kernel has, and which vectors each block reads, by array length and device.
// The figures were chosen on an H200 with bench/device_sums.cpp; docs/notes/gpu-kernels.md tells what else was tried.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fanin::device_code::tuning {

/// How a kernel over 16-byte vectors is launched.
struct shape {
  int threads;  ///< threads in a block
  int blocks_per_multiprocessor;
  int loads;      ///< loads that a thread issues before it uses the first one's result
  int slots = 0;  ///< slots of a warp in kernels with bulk copies; a slot holds `loads` vectors a thread
};

/// Two blocks of 512 threads with 64 registers each use all registers of a multiprocessor. With 8 loads a thread
/// they have 128 KiB in flight. About 25 KiB are enough to cover the latency of device memory. Wide states leave
/// fewer registers for loads, and two inputs share the loads.
constexpr shape fold_shape(std::size_t state_bytes, std::size_t inputs) {
  const int loads = state_bytes > 32 ? 1 : state_bytes > 16 ? 4 : 8;
  return {512, 2, std::max(1, loads / static_cast<int>(inputs))};
}

/// The number of partials that a thread of the last warp loads at once. The warp then loads the partials of 288
/// blocks, which run on 144 multiprocessors.
inline constexpr int partials_in_flight = 9;

/// The number of blocks for an array of vectors. An array of up to eight vectors a thread has a single block,
/// which needs no second step. Longer arrays have a block for every `threads` vectors, up to the number of blocks
/// that run at once.
constexpr unsigned blocks(std::uint64_t vectors, int multiprocessors, const shape& s) {
  const auto threads = static_cast<std::uint64_t>(s.threads);
  if (vectors <= 8 * threads) return 1;
  const auto most = static_cast<std::uint64_t>(multiprocessors * s.blocks_per_multiprocessor);
  return static_cast<unsigned>(std::min(most, (vectors - 1) / threads + 1));
}

/// The number of rounds in which each block reads a tile of `loads` vectors for each thread. The vectors that are
/// left are dealt out to the blocks in groups of `threads` vectors, so that no block reads all of them.
constexpr std::uint64_t whole_rounds(std::uint64_t vectors, unsigned blocks, const shape& s) {
  return vectors / (std::uint64_t{blocks} * static_cast<unsigned>(s.threads * s.loads));
}

/// The largest number of vectors that one thread adds.
constexpr std::uint64_t longest_walk(std::uint64_t vectors, unsigned blocks, const shape& s) {
  const std::uint64_t turn = std::uint64_t{blocks} * static_cast<unsigned>(s.threads);
  return (vectors + turn - 1) / turn;
}

}  // namespace fanin::device_code::tuning
