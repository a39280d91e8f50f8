// SPDX-License-Identifier: Apache-2.0
// Runs an experiment of `fanin lab` on a device.
#include <fanin/device.hpp>
#include <fanin/fanin.hpp>

#include "cli/lab/lab.hpp"
#include "cli/lab/pages.hpp"

namespace fanin::cli {

lab_page run_experiment(experiment which, int device) {
  const plan usable(operation::sum, element_type::f32, {.backend = "cuda"});
  const device_context library_context(device);
  const cuda::device_scope here(device);
  lab_page page{which, {}, {}};
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  page.facts.push_back({"device", std::string(properties.name)});
  const lab::experiment_context context{properties, static_cast<cudaStream_t>(library_context.stream())};
  switch (which) {
    case experiment::divergence:
      lab::fill_divergence(page, context);
      break;
    case experiment::occupancy:
      lab::fill_occupancy(page, context);
      break;
    case experiment::shapes:
      lab::fill_shapes(page, context);
      break;
    case experiment::latency:
      lab::fill_latency(page, context);
      break;
  }
  return page;
}

}  // namespace fanin::cli
