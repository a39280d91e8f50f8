// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows that keys scatter.
#pragma once

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Enqueues the sums. @throws unsupported if there are 2^32 - 1 rows or groups or more; out_of_memory, device_error
void enqueue_scattered_rows(const scattered_rows& rows, context& context);

}  // namespace fanin::cuda
