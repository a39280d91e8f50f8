// SPDX-License-Identifier: Apache-2.0
// The CUB backend, a reference: the toolkit's own device-wide reduction with our arithmetic.
#pragma once

#include "backends/cuda/gpu_backend.hpp"

namespace fanin::cub_backend {

/// Calls find.operator()<T>() for numbers of 32 and 64 bits that comparisons need: f32, f64, i32 and i64. Other types
/// have no fold, and the result is null.
template <class Find>
const cuda::kernel_launcher* with_compared_number(element_type type, Find find) {
  switch (type) {
    case element_type::f32:
      return find.template operator()<float>();
    case element_type::f64:
      return find.template operator()<double>();
    case element_type::i32:
      return find.template operator()<std::int32_t>();
    case element_type::i64:
      return find.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

/// The fold of a reduction, or null if this backend does not offer it. backends/thrust/floats.cu and integers.cu
/// instantiate it.
template <class T>
const cuda::kernel_launcher* find_kernel(operation what, method how);
/// The fold of a batch, or null if this backend does not offer it.
const cuda::kernel_launcher* find_batch_kernel(const request& request);

class backend final : public cuda::gpu_backend {
 public:
  std::string_view name() const noexcept override { return "cub"; }
  std::span<const variant_info> variants() const noexcept override;
  const cuda::kernel_launcher* find_kernel(const request& request) const override;
};

}  // namespace fanin::cub_backend
