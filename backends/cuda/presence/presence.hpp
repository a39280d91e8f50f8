// SPDX-License-Identifier: Apache-2.0
// Elements of device memory that do not take part: kernels that find the others, and that copy arrays with stand-ins.
#pragma once

#include "backends/cuda/runtime/device_fold.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {

/// Enqueues the search for the first element that takes part. Its index becomes the smaller of itself and `*first`,
/// which is in device memory. @throws device_error
void enqueue_first_present(const execution& where, const presence_rule& rule, const input_views& inputs,
                           std::uint64_t* first);

/// Enqueues copies of the inputs with stand-ins to x and y. Adds the number of elements that take part to `*present`.
/// `other`: the element that stands for absent ones, where the rule says so. All in device memory.
/// @throws device_error
void enqueue_copy_present(const execution& where, const presence_rule& rule, const input_views& inputs,
                          const void* other, void* x, void* y, std::uint64_t* present);

}  // namespace fanin::cuda
