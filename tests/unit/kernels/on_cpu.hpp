// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the ladder's kernels use, for a C++ compiler.
#pragma once

#include "tests/unit/kernels/block_on_cpu.hpp"

#include <numeric>

inline unsigned __reduce_add_sync(unsigned, unsigned mine) {
  const std::uint64_t* const warp = fanin::test::exchange(mine);
  return static_cast<unsigned>(std::accumulate(warp, warp + 32, std::uint64_t{0}));
}

#include "backends/cuda/stages/common.cuh"
