// How long a device waits for its memory and its arithmetic, and how much work at once hides that.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "backends/cuda/runtime/handles.hpp"

namespace fanin::lab {

/// Of one instruction that waits for the one before it.
struct latency {
  bool verified;  ///< the chain ended where it had to; the rest is measured only then
  double cycles, seconds;
};

/// One warp follows lines of 128 bytes, each of which holds the place of the next, in random order over four times
/// what the device's cache holds; no line comes twice before all others. On the current device.
/// @throws out_of_memory, device_error
latency measure_memory_latency(cudaStream_t stream);

/// Chains that a thread has under way side by side, none of which needs another.
inline constexpr std::array<unsigned, 4> chain_counts = {1, 2, 4, 8};

/// How fast every multiprocessor with so many warps does an instruction.
struct throughput {
  unsigned warps;
  bool verified;  ///< every chain of every thread ended where it had to; the rest is measured only then
  std::array<double, chain_counts.size()> per_second;  ///< by chains: warp instructions of the whole device
};

struct hiding {
  std::string_view instruction;  ///< `fma` or `load`: 128 bytes by a warp, from memory
  latency alone;                 ///< of one warp with one chain
  std::vector<throughput> rows;  ///< 1, 2, 4, ... warps, as many as fit
};

/// Both instructions. On the current device. @throws out_of_memory, device_error
std::array<hiding, 2> measure_hiding(cudaStream_t stream);

}  // namespace fanin::lab
