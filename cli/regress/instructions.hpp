// SPDX-License-Identifier: Apache-2.0
// Counts the instructions that a process executes.
#pragma once

#include "cli/kit/child.hpp"

namespace fanin::cli {

/// Runs the program and returns the number of instructions that it and the processes that it started execute in user
/// mode. `perf stat` counts them if the system admits that, otherwise `valgrind --tool=callgrind`, which takes about
/// fifty times as long. @throws bad_data if neither works
double instructions_of(const child_request& wanted);

}  // namespace fanin::cli
