// SPDX-License-Identifier: Apache-2.0
// Batches on CPU backends: every result is folded as an array of its elements is, so that it has the same bits.
#pragma once

#include <fanin/batch.hpp>

#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/cpu_backend.hpp"

namespace fanin::cpu {

/// The numbers of a batch in a report: how many elements the longest result has, and how many elements have a key of
/// no group. batch_results::absent() has the others that took part in no result.
struct batch_counts {
  std::uint64_t longest = 0;
  std::uint64_t absent = 0;
};

/// Writes the results of each operation of the batch; groups have one. The requests differ only in their operations,
/// methods and results. @throws as backend::reduce_each
batch_counts reduce_batch(const cpu_backend& backend, const batch& many, std::span<batch_results* const> all);

}  // namespace fanin::cpu
