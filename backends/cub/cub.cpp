#include "backends/cub/cub.hpp"

namespace fanin::cub_backend {

std::span<const variant_info> backend::variants() const noexcept {
  static constexpr variant_info offered[] = {
      {"device-reduce", method::fast, "cub::DeviceReduce with operators that follow IEEE and keep NaN", ""},
      {"compensated", method::compensated, "the same with every rounding error carried along", ""},
  };
  return offered;
}

const cuda::device_fold* backend::find_kernel(const request& asked) const noexcept {
  switch (asked.input.type) {
    case element_type::f32:
      return cub_backend::find_kernel<float>(asked.what, asked.how);
    case element_type::f64:
      return cub_backend::find_kernel<double>(asked.what, asked.how);
    case element_type::i32:
      return cub_backend::find_kernel<std::int32_t>(asked.what, asked.how);
    case element_type::i64:
      return cub_backend::find_kernel<std::int64_t>(asked.what, asked.how);
    case element_type::u32:
      return cub_backend::find_kernel<std::uint32_t>(asked.what, asked.how);
    case element_type::u64:
      return cub_backend::find_kernel<std::uint64_t>(asked.what, asked.how);
  }
  return nullptr;
}

}  // namespace fanin::cub_backend
