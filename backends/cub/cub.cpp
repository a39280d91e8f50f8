// SPDX-License-Identifier: Apache-2.0
#include "backends/cub/cub.hpp"

namespace fanin::cub_backend {

std::span<const variant_info> backend::variants() const noexcept {
  static constexpr variant_info offered[] = {
      {"device-reduce", method::fast, "cub::DeviceReduce with operators that follow IEEE and keep NaN", ""},
      {"exact", method::exact, "the public accumulator as the element type: a reference, slow", ""},
  };
  return offered;
}

const cuda::kernel_launcher* backend::find_kernel(const request& request) const {
  if (request.kind != layout::array) {
    if (const cuda::kernel_launcher* const batches = find_batch_kernel(request)) return batches;
  }
  const element_type type = request.inputs.type();
  if (type == element_type::bf16) return cub_backend::find_kernel<bf16>(request.what, request.method);
  return with_compared_number(type,
                              [&]<class T>() { return cub_backend::find_kernel<T>(request.what, request.method); });
}

}  // namespace fanin::cub_backend
