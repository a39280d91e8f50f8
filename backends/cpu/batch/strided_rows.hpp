// SPDX-License-Identifier: Apache-2.0
// Rows whose elements lie apart.
#pragma once

#include "backends/cpu/batch/results.hpp"

namespace fanin::cpu {

/// Writes the results of rows that are not empty, for each operation. Several operations fold one part of some rows
/// after the other, while the part is in a cache. Returns the length of a row.
std::uint64_t reduce_strided_rows(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads,
                                  const batch& many);

}  // namespace fanin::cpu
