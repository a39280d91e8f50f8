// SPDX-License-Identifier: Apache-2.0
// The CUDA backend: kernels of our own, one launch each, with a fixed order of additions.
#pragma once

#include "backends/cuda/gpu_backend.hpp"

namespace fanin::cuda {

class backend final : public gpu_backend {
 public:
  std::string_view name() const noexcept override { return "cuda"; }
  std::span<const variant_info> variants() const noexcept override;

  const kernel_launcher* find_kernel(const request& request) const override;
  std::unique_ptr<device_work> open_device(int device, void* stream, const device_allocator* from) const override;
};

/// The only object of this class.
const backend& instance() noexcept;

}  // namespace fanin::cuda
