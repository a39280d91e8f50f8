#include "backends/cuda/cuda.hpp"

#include <algorithm>

#include <fanin/error.hpp>

#include "backends/cuda/finish.hpp"
#include "backends/cuda/kernels.hpp"

namespace fanin::cuda {

std::span<const variant_info> backend::variants() const noexcept {
  static constexpr variant_info shipped[] = {
      {"single-launch", method::fast, "16-byte loads or bulk copies, by size and device; the last block finishes",
       ""},
      {"compensated", method::compensated, "the same with every rounding error carried along", ""},
      {"exact", method::exact, "fixed-point accumulators in shared memory, rounded once", ""},
  };
  return shipped;
}

const device_fold* backend::find_kernel(const request& asked) const noexcept {
  switch (asked.input.type) {
    case element_type::f32:
      return cuda::find_kernel<float>(asked.what, asked.how);
    case element_type::f64:
      return cuda::find_kernel<double>(asked.what, asked.how);
    case element_type::i32:
      return cuda::find_kernel<std::int32_t>(asked.what, asked.how);
    case element_type::i64:
      return cuda::find_kernel<std::int64_t>(asked.what, asked.how);
    case element_type::u32:
      return cuda::find_kernel<std::uint32_t>(asked.what, asked.how);
    case element_type::u64:
      return cuda::find_kernel<std::uint64_t>(asked.what, asked.how);
  }
  return nullptr;
}

void backend::enqueue(const request& asked, context& on, void* result) const {
  const device_scope here(on.where().device);
  const device_fold& kernel = *find_kernel(asked);
  const std::uint64_t longest = find_fold(asked.what, asked.input.type, asked.how)->longest;
  const std::uint64_t states = asked.input.count / longest + (asked.input.count % longest != 0 ? 1 : 0);
  if (states > context::state_slots) throw unsupported("the input is too long for a result on the device");
  const auto* x = static_cast<const std::byte*>(asked.input.data);
  for (std::uint64_t i = 0; i < states; ++i) {
    const std::uint64_t begin = i * longest;
    kernel.launch(on.where(), x + begin * size_of(asked.input.type), std::min(longest, asked.input.count - begin),
                  on.device_state(i));
  }
  enqueue_finish(asked, on.device_state(0), states, result, on.where().stream);
}

const backend& instance() noexcept {
  static const backend only;
  return only;
}

}  // namespace fanin::cuda
