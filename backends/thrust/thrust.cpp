// SPDX-License-Identifier: Apache-2.0
#include "backends/thrust/thrust.hpp"

#include "backends/cub/cub.hpp"

namespace fanin::thrust_backend {

std::span<const variant_info> backend::variants() const noexcept {
  static constexpr variant_info offered[] = {
      {"transform-reduce", method::fast, "thrust::transform_reduce with operators that follow IEEE and keep NaN", ""},
      {"exact", method::exact, "the public accumulator as the element type: a reference, slow", ""},
  };
  return offered;
}

const cuda::kernel_launcher* backend::find_kernel(const request& request) const {
  return cub_backend::with_compared_number(
      request.inputs.type(), [&]<class T>() { return thrust_backend::find_kernel<T>(request.what, request.method); });
}

}  // namespace fanin::thrust_backend
