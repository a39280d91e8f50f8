// SPDX-License-Identifier: Apache-2.0
// The latency of a device's memory and arithmetic, and the number of independent instructions that hides it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/cuda/handles.hpp"

namespace fanin::lab {

/// The latency of one instruction that depends on the instruction before it.
struct latency {
  bool verified;  ///< the chain ended at the right value; the times are measured only then
  double cycles, seconds;
};

/// Measures the latency of a load on the current device. One warp follows lines of 128 bytes. Each line holds the
/// number of the next line. The lines are in random order, and cover four times the L2 cache. Each line is read
/// once before any line is read again. @throws out_of_memory, device_error
latency measure_memory_latency(cudaStream_t stream);

/// The numbers of independent chains per thread that are measured.
inline constexpr std::array<unsigned, 4> chain_counts = {1, 2, 4, 8};

/// The throughput of an instruction with `warps` warps on every multiprocessor.
struct throughput {
  unsigned warps;
  bool verified;  ///< every chain ended at the right value; the throughput is measured only then
  std::array<double, chain_counts.size()> per_second;  ///< warp instructions of the device, by chain_counts
};

struct hiding {
  std::string_view instruction;  ///< `fma`, or `load`: one warp loads 128 bytes from memory
  latency alone;                 ///< latency measured with one warp and one chain
  std::vector<throughput> rows;  ///< for 1, 2, 4, ... warps, up to the most that a multiprocessor can hold
};

/// Measures `fma` and `load` on the current device. @throws out_of_memory, device_error
std::array<hiding, 2> measure_hiding(cudaStream_t stream);

}  // namespace fanin::lab
