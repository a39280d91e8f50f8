// What the backends on NVIDIA devices have in common: everything but the kernels.
#pragma once

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

class gpu_backend : public backend {
 public:
  const availability& probe() const noexcept override;
  memory home() const noexcept override { return memory::device; }
  support prepare(request& request) const override;
  /// Device data is folded where it lies; host data on the calling thread's current device.
  outcome reduce(const request& request, void* result) const override;
  std::unique_ptr<stream> open(const request& request) const override;

  outcome reduce(const request& request, context& context, void* result) const;

  /// Kernels for the operation, element type, method and variant; null where there are none.
  virtual const device_fold* find_kernel(const request& request) const = 0;
};

}  // namespace fanin::cuda
