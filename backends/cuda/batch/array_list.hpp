// SPDX-License-Identifier: Apache-2.0
// One exact sum of many arrays. Each array is folded as a long segment, so that a few launches serve all of them.
#pragma once

#include <cstdint>
#include <span>

#include <fanin/request.hpp>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Enqueues an exact sum over all elements of `arrays`, and writes its lanes. The arrays are in device memory, and
/// have the type of the request's input. They have `elements` > 0 elements together.
/// @throws unsupported for 2^24 arrays and more; out_of_memory, device_error
void enqueue_lanes_of_list(const request& request, std::span<const input_views> arrays, std::uint64_t elements,
                           std::int64_t* lanes, context& context);

}  // namespace fanin::cuda
