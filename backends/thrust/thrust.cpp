#include "backends/thrust/thrust.hpp"

namespace fanin::thrust_backend {

std::span<const variant_info> backend::variants() const noexcept {
  static constexpr variant_info offered[] = {
      {"transform-reduce", method::fast, "thrust::transform_reduce with operators that follow IEEE and keep NaN", ""},
      {"compensated", method::compensated, "the same with every rounding error carried along", ""},
  };
  return offered;
}

const cuda::device_fold* backend::find_kernel(const request& asked) const noexcept {
  switch (asked.input.type) {
    case element_type::f32:
      return thrust_backend::find_kernel<float>(asked.what, asked.how);
    case element_type::f64:
      return thrust_backend::find_kernel<double>(asked.what, asked.how);
    case element_type::i32:
      return thrust_backend::find_kernel<std::int32_t>(asked.what, asked.how);
    case element_type::i64:
      return thrust_backend::find_kernel<std::int64_t>(asked.what, asked.how);
    case element_type::u32:
      return thrust_backend::find_kernel<std::uint32_t>(asked.what, asked.how);
    case element_type::u64:
      return thrust_backend::find_kernel<std::uint64_t>(asked.what, asked.how);
  }
  return nullptr;
}

}  // namespace fanin::thrust_backend
