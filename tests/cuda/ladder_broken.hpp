// SPDX-License-Identifier: Apache-2.0
// Two stages that are wrong on purpose, so that the checks of the real ones are known to be able to fail.
#pragma once

#include <vector>

#include "backends/cuda/stages/ladder.hpp"

namespace fanin::test {

/// The stage "drops-last" forgets the last element of each block. The stage "reads-on" adds elements behind the input
/// until its last block is full.
std::vector<cuda::stage_info> broken_stages();

}  // namespace fanin::test
