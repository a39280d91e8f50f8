// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the ladder's kernels use, for a C++ compiler.
#pragma once

#include "tests/unit/kernels/block_on_cpu.hpp"

// The array of dynamic shared memory is declared in common.cuh, the arrays of static shared memory in the stages.
#undef __shared__
#define __shared__
namespace fanin::cuda {
alignas(128) inline unsigned char bytes[1024 * 16];
}
#include "backends/cuda/stages/common.cuh"
#undef __shared__
#define __shared__ static
