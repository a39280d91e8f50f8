// SPDX-License-Identifier: Apache-2.0
// Rows whose elements lie apart.
#pragma once

#include "backends/cpu/batch/results.hpp"

namespace fanin::cpu {

/// Writes the results of rows that are not empty. Returns the length of a row.
std::uint64_t reduce_strided_rows(const cpu_backend& backend, batch_results& results, const request& request,
                                  const batch& many);

}  // namespace fanin::cpu
