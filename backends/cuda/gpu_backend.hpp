// SPDX-License-Identifier: Apache-2.0
// The base class of the backends on NVIDIA devices, which name only the kernels for a request.
#pragma once

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

class gpu_backend : public backend {
 public:
  const availability& probe() const noexcept override;
  memory home() const noexcept override { return memory::device; }
  int device_count() const noexcept override;
  support prepare(request& request) const override;
  /// Folds device data on the device whose memory it is in, and host data on the devices that the request names, or
  /// on the calling thread's current device.
  outcome reduce(const request& request, void* result) const override;
  outcome reduce_parts(const request& request, std::span<const input_views> parts, void* result) const override;
  std::unique_ptr<stream> open(const request& request) const override;

  /// Reduces batches of device memory.
  outcome reduce_each(const request& request, const batch& many, const results_view& out) const override;

  /// Folds data on the device and the stream of a context.
  outcome reduce(const request& request, context& context, void* result) const;

  /// The kernels for the request's operation, element type, method and variant; null if there are none.
  virtual const kernel_launcher* find_kernel(const request& request) const = 0;
};

}  // namespace fanin::cuda
