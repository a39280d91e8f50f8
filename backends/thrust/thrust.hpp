// SPDX-License-Identifier: Apache-2.0
// The Thrust backend, a reference: thrust::transform_reduce of whole arrays with our arithmetic. A call waits for
// its result.
#pragma once

#include "backends/cuda/gpu_backend.hpp"

namespace fanin::thrust_backend {

/// The fold of a reduction, or null if this backend does not offer it. floats.cu and integers.cu instantiate it.
template <class T>
const cuda::kernel_launcher* find_kernel(operation what, method how);

class backend final : public cuda::gpu_backend {
 public:
  std::string_view name() const noexcept override { return "thrust"; }
  std::span<const variant_info> variants() const noexcept override;
  const cuda::kernel_launcher* find_kernel(const request& request) const override;
};

}  // namespace fanin::thrust_backend
