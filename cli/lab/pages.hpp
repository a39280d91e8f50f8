// SPDX-License-Identifier: Apache-2.0
// The functions that run the experiments on a device and fill their pages.
#pragma once

#include <cuda_runtime_api.h>

#include "base/cuda/handles.hpp"
#include "cli/lab/lab.hpp"

namespace fanin::cli::lab {

/// The current device and a stream of that device.
struct experiment_context {
  const cudaDeviceProp& device;
  cudaStream_t stream;
};

void fill_divergence(lab_page& page, const experiment_context& context);
void fill_occupancy(lab_page& page, const experiment_context& context);
void fill_shapes(lab_page& page, const experiment_context& context);
void fill_latency(lab_page& page, const experiment_context& context);

}  // namespace fanin::cli::lab
