// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the ladder's kernels use, for a C++ compiler.
#pragma once

#include "tests/unit/kernels/block_on_cpu.hpp"

#include "backends/cuda/stages/common.cuh"
