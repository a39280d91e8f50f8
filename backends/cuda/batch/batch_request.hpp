// SPDX-License-Identifier: Apache-2.0
// What kernels read of a request and its batch.
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/runtime/context.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

inline const kernel_launcher& prepared_kernel(const request& request) {
  return *static_cast<const kernel_launcher*>(request.prepared);
}
inline bool is_never_cut(const batch_fold& fold) { return fold.least_chunk == batch_fold::never_cut; }

std::uint64_t elements_of_row(const batch& many);
/// Whether the elements of each result lie one after another.
bool are_lines(const batch& many);
std::size_t result_bytes(const request& request);

/// The batch as kernels walk it, without results. @throws invalid_argument unless the device reaches the inputs
batch_elements elements_of(const request& request, const batch& many, int device);
/// The facts about results that kernels write, without memory.
batch_output output_of(const request& request, const batch& many, context& context);

}  // namespace fanin::cuda
