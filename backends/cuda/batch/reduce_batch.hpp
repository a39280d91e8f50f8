// SPDX-License-Identifier: Apache-2.0
// Batches of device memory.
#pragma once

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Enqueues the reduction of each result to `results` in device memory, or if that is null, to scratch, and returns
/// where they are. Launches kernels and sets memory only.
/// @throws unsupported, invalid_argument, out_of_memory, device_error
const void* enqueue_batch(const request& request, const batch& many, void* results, context& context);

/// Writes the results. @throws as backend::reduce_each
outcome reduce_batch(const request& request, const batch& many, const results_view& out, context& context);

}  // namespace fanin::cuda
