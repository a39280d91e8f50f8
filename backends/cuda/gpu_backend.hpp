// What the backends on NVIDIA devices have in common: everything but the kernels.
#pragma once

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

class gpu_backend : public backend {
 public:
  const availability& probe() const noexcept override;
  memory home() const noexcept override { return memory::device; }
  support supports(const request& asked) const override;
  /// Device data is folded where it lies; host data on the calling thread's current device.
  outcome reduce(const request& asked) const override;
  std::unique_ptr<stream> open(const request& asked) const override;

  outcome reduce(const request& asked, context& on) const;

  /// Kernels for the operation, element type, method and variant; null where there are none.
  virtual const device_fold* find_kernel(const request& asked) const noexcept = 0;
};

}  // namespace fanin::cuda
