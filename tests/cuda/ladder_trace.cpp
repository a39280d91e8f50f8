// SPDX-License-Identifier: Apache-2.0
// The traces that the lesson shows against the kernels: floats added in the traced order have the kernel's very bits,
// which another order has not.
#include <doctest/doctest.h>

#include "tests/cuda/ladder_check.hpp"
#include "tests/support/traced_sum.hpp"
#include "tests/support/usable.hpp"

namespace fanin::test {
namespace {

float kernel_sum(const cuda::stage_plan& plan, const device_input<float>& x) {
  stage_run once(plan);
  once.prepare(x.device());
  once.run(x.device());
  return fanin::get<float>(once.value());
}

TEST_SUITE_BEGIN("cuda/trace");

TEST_CASE("the lesson knows the stages of the ladder, in their order") {
  const auto traced = cli::traced_stages();
  REQUIRE(traced.size() == cuda::stages().size());
  for (std::size_t i = 0; i < traced.size(); ++i) CHECK(traced[i].name == cuda::stages()[i].text.name);
}

TEST_CASE("every trace adds in the kernel's order") {
  if (!usable(find_backend("cuda"))) return;
  int unlike_others = 0;
  for (const cli::traced_stage& stage : cli::traced_stages()) {
    if (!stage.has_order()) continue;
    for (const unsigned count : {1u, 33u, 100u, 1000u, 4099u, 300'007u}) {
      for (const unsigned block_size : {32u, 96u, 256u, 1024u}) {
        for (const unsigned misaligned : {0u, 3u}) {
          CAPTURE(stage.name);
          CAPTURE(count);
          CAPTURE(block_size);
          CAPTURE(misaligned);
          const device_input<float> x(order_sensitive_values(count), misaligned);
          const auto plan =
              plan_stage(cuda::find_stage(stage.name), operation::sum, element_type::f32, count, block_size);
          const float value = kernel_sum(plan, x);
          const cli::trace all = make_trace(stage, {count, plan.block_size, 32, plan.blocks, misaligned});
          CHECK(traced_sum(all, x.host()) == value);
          unlike_others += std::accumulate(x.host().begin(), x.host().end(), 0.0f) != value ? 1 : 0;
        }
      }
    }
  }
  CHECK(unlike_others > 100);  // the values do tell orders apart
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::test
