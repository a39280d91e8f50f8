// SPDX-License-Identifier: Apache-2.0
// The CUB backend, a reference: the toolkit's own device-wide reduction with our arithmetic.
#pragma once

#include "backends/cuda/gpu_backend.hpp"

namespace fanin::cub_backend {

/// The fold of a reduction, or null if this backend does not offer it. Four element types are a translation
/// unit (cmake/cuda.cmake).
template <class T>
const cuda::device_fold* find_kernel(operation what, method how);
/// The fold of a batch, or null if this backend does not offer it.
const cuda::device_fold* find_batch_kernel(const request& request);

class backend final : public cuda::gpu_backend {
 public:
  std::string_view name() const noexcept override { return "cub"; }
  std::span<const variant_info> variants() const noexcept override;
  const cuda::device_fold* find_kernel(const request& request) const override;
};

}  // namespace fanin::cub_backend
