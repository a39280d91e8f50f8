// SPDX-License-Identifier: Apache-2.0
// Exact sums as lanes of int64 in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/cuda/execution.hpp>
#include <fanin/request.hpp>

#include "backends/cuda/runtime/state_functions.hpp"

namespace fanin::cuda {

struct presence_counts;

inline constexpr int lane_threads = 128;

/// States in device memory, `most_state_bytes` apart, that kernels of an exact sum have written.
struct lane_source {
  const std::byte* states;
  std::size_t count;
  std::uint64_t elements;          ///< elements of all states together
  const presence_counts* present;  ///< which elements took part, in device memory; null: all
  bool goes_on;                    ///< the lanes have the sum of earlier states, to which these are added
};

/// Enqueues a kernel that writes the lanes of the states of `what` for elements of `type`. @throws device_error
void enqueue_lanes_of(operation what, element_type type, const lane_source& run, std::int64_t* lanes,
                      const device_code::execution& where);

/// Enqueues a kernel that writes the value of summed lanes as a device_result of type `result`, f32 or f64. @throws
/// device_error
void enqueue_value_of_lanes(operation what, element_type type, const std::int64_t* lanes, element_type result,
                            void* out, const device_code::execution& where);

}  // namespace fanin::cuda
