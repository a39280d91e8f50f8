// SPDX-License-Identifier: Apache-2.0
// Batches on CPU backends: every result is folded as an array of its elements is, so that it has the same bits.
#pragma once

#include <fanin/batch.hpp>

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::cpu {

/// What a report says of a batch: the elements of the longest result, and those that did not take part in any.
struct batch_counts {
  std::uint64_t longest = 0;
  std::uint64_t absent = 0;
};

/// Writes the results of the batch. @throws as backend::reduce_each
batch_counts reduce_batch(const cpu_backend& backend, const request& request, const batch& many, void* results);

}  // namespace fanin::cpu
