// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the ladder's kernels use, for a C++ compiler.
#pragma once

#include "tests/unit/kernels/block_on_cpu.hpp"
// The kernels need the functions of CUDA.
#include "backends/cuda/stages/common.cuh"
