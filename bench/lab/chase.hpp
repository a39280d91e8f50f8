// How long a device waits for its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/handles.hpp"

namespace fanin::lab {

/// Of one load that waits for the one before it.
struct latency {
  bool verified;  ///< the walk ended where it had to
  double cycles, seconds;
};

/// One warp follows lines of 128 bytes, each of which holds the place of the next, in random order over four times
/// what the device's cache holds; no line comes twice before all others. On the current device.
/// @throws out_of_memory, device_error
latency measure_memory_latency(cudaStream_t stream);

}  // namespace fanin::lab
