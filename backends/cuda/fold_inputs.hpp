// SPDX-License-Identifier: Apache-2.0
// Folding whole arrays of device or host memory on one device.
#pragma once

#include "backends/cuda/partial_result.hpp"
#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Folds the request's inputs on the context's device, which is the calling thread's current one. Waits for the
/// state. @throws invalid_argument if device memory is not that device's, unsupported, out_of_memory, device_error
void fold_inputs(const request& request, context& context, partial_result& into);

}  // namespace fanin::cuda
