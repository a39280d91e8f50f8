// SPDX-License-Identifier: Apache-2.0
// Sums of a few vectors, element by element, each rounded once to the element's own type.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::cuda {

/// Enqueues a kernel that writes the sums. `beside`: on part of the multiprocessors, so that NCCL's kernels, which
/// need most of a multiprocessor for each block, do not wait for its end. @throws device_error
void enqueue_vector_sums(const vector_sums& sums, const device_code::execution& where, bool beside);

}  // namespace fanin::cuda
