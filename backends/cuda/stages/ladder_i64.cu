// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/stages/ladder_kernels.cuh"

template std::vector<fanin::cuda::stage_kernels> fanin::cuda::ladder_kernels<std::int64_t>();
