// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/broken_kernels.hpp"

#include "backends/cuda/kernels.cuh"

namespace fanin::test {
namespace {

using sum = recipe<operation::sum, method::fast, float>;
const cuda::state_functions host = cuda::find_state_functions(operation::sum, element_type::f32, method::fast);
const cuda::general_fold<sum> sound(host);

struct from_plus_zero : accumulator::plain_sum<float> {
  FANIN_HOST_DEVICE static constexpr float identity() { return 0; }
};
struct sum_from_plus_zero : sum {
  using accumulator = from_plus_zero;
};
const cuda::general_fold<sum_from_plus_zero> from_zero(host);

class without_last final : public cuda::kernel_launcher {
 public:
  using kernel_launcher::kernel_launcher;
  void launch(const cuda::execution& where, const cuda::operands& x, std::uint64_t count, void* out) const override {
    sound.launch(where, x, count > 8192 ? count - 1 : count, out);
  }
  rounding_chain longest_chain(const cuda::execution& where, std::uint64_t count) const override {
    return sound.longest_chain(where, count);
  }
};
const without_last drops(host);

}  // namespace

const cuda::kernel_launcher& starts_at_plus_zero = from_zero;
const cuda::kernel_launcher& leaves_out_an_element = drops;

}  // namespace fanin::test
