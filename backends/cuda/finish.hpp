// Finishing on the device: from states to the value, for results that stay there.
#pragma once

#include "backends/cuda/device_fold.hpp"

namespace fanin::cuda {

/// Enqueues the merge of `states` device states of that reduction's kernel, in order, and writes the value as a
/// device_result of the request's result type. @throws device_error
void enqueue_finish(const request& asked, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream);

}  // namespace fanin::cuda
