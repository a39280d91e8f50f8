// SPDX-License-Identifier: Apache-2.0
// Two stages that are wrong on purpose, so that the checks of the real ones are known to be able to fail.
#pragma once

#include <vector>

#include "backends/cuda/stages/ladder.hpp"

namespace fanin::test {

/// "drops-last", which forgets the last element of each block, and "no-identity", which fills up the last block with
/// zeros whatever the operation.
std::vector<cuda::stage_info> broken_stages();

}  // namespace fanin::test
