// SPDX-License-Identifier: Apache-2.0
// Runs of floats of 8 and 16 bits, which are converted to floats of 32 bits and reduced many at a time.
#pragma once

#include <span>

#include <fanin/request.hpp>

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// The arithmetic whose reduce_each() serves the request: that of floats if the elements are narrow floats of one
/// input and the request is for results of its operation. Otherwise the request's own.
const arithmetic* arithmetic_of_floats(const request& request);

/// Reduces up to most_runs runs: by functions for the elements as they are, or else as floats by
/// floats.reduce_each(). Bit i of the returned number says that run i is left. Memory: 17 KiB of stack.
std::uint64_t reduce_each_widened(const arithmetic& floats, const request& request, std::span<const operands> runs,
                                  const std::size_t* counts, void* out, std::size_t result_bytes);

}  // namespace fanin::cpu
