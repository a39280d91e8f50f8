// SPDX-License-Identifier: Apache-2.0
// Batches of device memory.
#pragma once

#include <span>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Enqueues the reduction of a batch by operations whose results are made of the states of the first one
/// (ends_states_of()). The results go to the memory in `to`, or if that is the host's, to scratch. Returns where the
/// first operation's results are. Launches kernels and sets memory only, and copies results of the host that are
/// added to. `reports`: the caller reads the batch's status afterwards. @throws unsupported, invalid_argument,
/// out_of_memory, device_error
const void* enqueue_batch(std::span<const request> asked, const batch& many, std::span<const results_view> to,
                          context& context, bool reports = false);

/// Enqueues the reduction of a batch by each operation to device memory. Operations share a read of the elements
/// where ends_states_of() holds. @throws as enqueue_batch()
void enqueue_batches(std::span<const request> asked, const batch& many, std::span<const results_view> to,
                     context& context);

/// Writes the results, or adds to them. @throws as backend::reduce_each
outcome reduce_batch(const request& request, const batch& many, const results_view& out, context& context);

}  // namespace fanin::cuda
