// SPDX-License-Identifier: Apache-2.0
// Tests the kernels of the ladder, run on the CPU, against their traces. Floats added in the traced order have the
// same bits as the kernel's result; other orders nearly always give other bits. Stages that need a device
// (cooperative groups, redux, bulk copies, atomics of many blocks) are compared by tests/cuda, if they have one
// order.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/unit/kernels/on_cpu.hpp"
// These headers have to come after on_cpu.hpp.
#include "backends/cuda/stages/05_global_unroll_8_warp.cuh"
#include "backends/cuda/stages/06_shared_modulo.cuh"
#include "backends/cuda/stages/07_shared_mask.cuh"
#include "backends/cuda/stages/08_shared_strided.cuh"
#include "backends/cuda/stages/09_shared_sequential.cuh"
#include "backends/cuda/stages/13_unroll_complete.cuh"
#include "backends/cuda/stages/15_sync_warp.cuh"
#include "backends/cuda/stages/21_warp_redux.cuh"
#include "backends/cuda/stages/22_single_pass.cuh"
#include "backends/cuda/stages/finish.cuh"
#include "tests/support/traced_sum.hpp"

namespace fanin::test {
namespace {

struct sum : accumulator::plain_sum<float> {};
struct square_sum : accumulator::plain_square_sum<float> {};

/// The shape of a trace. A stage of resident blocks has at most two blocks, so that a thread adds several elements.
template <class Stage>
cli::trace_shape shape_of(unsigned count, unsigned threads) {
  const unsigned tile = Stage::tile(threads, sizeof(float)), tiles = (count + tile - 1) / tile;
  return {count, threads, 32, Stage::resident ? std::min(tiles, 2u) : tiles, 3};
}

template <class Stage, class A = sum>
float kernel_sum(const cli::trace_shape& shape, const std::vector<float>& x) {
  alignas(16) static float room[4096];
  std::ranges::copy(x, room + shape.misaligned);
  std::vector<float> copy = x, partials(shape.blocks);
  float result = 0;
  unsigned arrivals = 0;
  const cuda::stage_arguments<A> arguments{
      room + shape.misaligned, x.size(), copy.data(), partials.data(), &result, &arrivals, nullptr};
  const auto kernel = Stage::template kernel<A>(shape.block_size);
  launch(shape.blocks, shape.block_size, [&] { kernel(arguments); });
  if (Stage::ending == cuda::stage_ending::second_step) {
    launch(1, std::clamp((shape.blocks + 31) / 32 * 32, 32u, 1024u),
           [&] { cuda::finish_kernel<A>(partials.data(), shape.blocks, &result); });
  }
  return result;
}

template <class Stage>
void check_stage() {
  const cli::traced_stage& stage = cli::find_traced_stage(Stage::text.name);
  for (const unsigned count : {1, 33, 701, 1000}) {
    for (const unsigned threads : {32, 96}) {
      const std::vector<float> x = order_sensitive_values(count);
      const cli::trace_shape shape = shape_of<Stage>(count, Stage::rounded(threads));
      CAPTURE(stage.name);
      CAPTURE(count);
      CAPTURE(threads);
      CHECK(traced_sum(make_trace(stage, shape), x) == kernel_sum<Stage>(shape, x));
    }
  }
}

TEST_SUITE_BEGIN("unit/ladder_kernels");

TEST_CASE("in global memory") {
  check_stage<cuda::global_neighbored>();
  check_stage<cuda::global_neighbored_less>();
  check_stage<cuda::global_interleaved>();
  check_stage<cuda::global_unroll<2>>();
  check_stage<cuda::global_unroll<4>>();
  check_stage<cuda::global_unroll<8>>();
  check_stage<cuda::global_unroll_8_warp>();
}

TEST_CASE("in shared memory") {
  check_stage<cuda::shared_modulo>();
  check_stage<cuda::shared_mask>();
  check_stage<cuda::shared_strided>();
  check_stage<cuda::shared_sequential>();
  check_stage<cuda::shared_dynamic>();
  check_stage<cuda::add_on_load>();
  check_stage<cuda::unroll_last_warp>();
  check_stage<cuda::unroll_complete>();
  check_stage<cuda::sync_warp>();
}

TEST_CASE("squares in shared memory") {
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3.5f;
  const float exact = std::inner_product(x.begin(), x.end(), x.begin(), 0.0f);
  CHECK(exact == kernel_sum<cuda::shared_mask, square_sum>(shape_of<cuda::shared_mask>(1000, 96), x));
}

TEST_CASE("redux adds the 64 bits of all threads of the warp") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> x(32), found(32);
  for (unsigned thread = 0; thread < 32; ++thread)
    x[thread] = thread % 2 == 0 ? most - 5 * thread : least + 7 * thread;
  launch(1, 32, [&] { found[threadIdx.x] = cuda::redux(x[threadIdx.x]); });
  CHECK(found == std::vector(32, std::accumulate(x.begin(), x.end(), std::int64_t{0})));
}

TEST_CASE("in registers") {
  check_stage<cuda::warp_shuffle>();
  check_stage<cuda::grid_stride>();
  check_stage<cuda::vectorized>();
  check_stage<cuda::single_pass>();
}

TEST_CASE("another stage's order gives other bits") {
  for (const auto* name : {"shared-modulo", "add-on-load", "warp-shuffle", "vectorized"}) {
    CAPTURE(name);
    int unlike = 0;
    for (const unsigned count : {600, 700, 800, 900, 1000}) {
      const std::vector<float> x = order_sensitive_values(count);
      const float kernels = kernel_sum<cuda::shared_sequential>(shape_of<cuda::shared_sequential>(count, 96), x);
      const cli::trace other = make_trace(cli::find_traced_stage(name), {count, 96});
      unlike += traced_sum(other, x) != kernels ? 1 : 0;
    }
    CHECK(unlike >= 3);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::test
