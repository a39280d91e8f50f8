// SPDX-License-Identifier: Apache-2.0
// Groups whose states stay in a cache: elements are added to the state of their group one after another.
#pragma once

#include <optional>

#include "backends/cpu/batch/reduce_batch.hpp"
#include "backends/cpu/batch/results.hpp"

namespace fanin::cpu {

/// Writes the results of groups, if the request has an arithmetic for that and sorting by key is not better.
std::optional<batch_counts> reduce_keyed_groups(const cpu_backend& backend, batch_results& results,
                                                const request& request, const batch& groups);

}  // namespace fanin::cpu
