// SPDX-License-Identifier: Apache-2.0
// Batches of device memory.
#pragma once

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Enqueues the reduction of each result to the memory in `to`, or if that is the host's, to scratch, and returns
/// where they are. Launches kernels and sets memory only, and copies results of the host that are added to.
/// `reports`: the caller reads the batch's status afterwards. @throws unsupported, invalid_argument, out_of_memory,
/// device_error
const void* enqueue_batch(const request& request, const batch& many, const results_view& to, context& context,
                          bool reports = false);

/// Writes the results, or adds to them. @throws as backend::reduce_each
outcome reduce_batch(const request& request, const batch& many, const results_view& out, context& context);

}  // namespace fanin::cuda
