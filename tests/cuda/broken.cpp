// SPDX-License-Identifier: Apache-2.0
// The suite on kernels with a mistake in them: it has to find each.
#include "backends/cuda/cuda.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/broken_kernels.hpp"
#include "tests/cuda/device_memory.hpp"

namespace fanin::test {
namespace {

/// `cuda` with other kernels for fast sums of float.
class broken_backend final : public cuda::gpu_backend {
 public:
  explicit broken_backend(const cuda::kernel_launcher& kernel) : kernel_(kernel) {}
  std::string_view name() const noexcept override { return "broken"; }
  std::span<const variant_info> variants() const noexcept override { return cuda::instance().variants(); }
  const cuda::kernel_launcher* find_kernel(const request& request) const override {
    if (request.what == operation::sum && request.inputs.type() == element_type::f32 &&
        request.method == method::fast) {
      return &kernel_;
    }
    return cuda::instance().find_kernel(request);
  }

 private:
  const cuda::kernel_launcher& kernel_;
};

TEST_SUITE("conformance/broken_kernels") {
  TEST_CASE("a sum that starts at +0 is found") {
    if (!device_is_here()) return;
    CHECK(findings_of("special values", broken_backend(starts_at_plus_zero)) != "");
  }
  TEST_CASE("an element left out is found") {
    if (!device_is_here()) return;
    CHECK(findings_of("float sizes", broken_backend(leaves_out_an_element)) != "");
  }
  TEST_CASE("the same class with the kernels that ship passes") {
    if (!device_is_here()) return;
    const request sum{
        operation::sum, array_view(nullptr, 0, element_type::f32), method::fast, element_type::f32, "", 1};
    const broken_backend sound(*cuda::instance().find_kernel(sum));
    CHECK(findings_of("special values", sound) == "");
    CHECK(findings_of("float sizes", sound) == "");
  }
}

}  // namespace
}  // namespace fanin::test
