// SPDX-License-Identifier: Apache-2.0
// Stages in CUDA graphs, and over more elements than 32 bits count.
#include <doctest/doctest.h>

#include <vector>

#include "tests/cuda/device_memory.hpp"
#include "tests/cuda/ladder_check.hpp"

namespace fanin::test {
namespace {

/// `count` elements whose bytes are all 0x11, and one other at the end.
template <class T>
class long_input {
 public:
  long_input(std::uint64_t count, T last) : memory_(count * sizeof(T)) {
    auto* const x = static_cast<T*>(memory_.get());
    cuda::check(cudaMemset(x, 0x11, count * sizeof(T)), "cudaMemset");
    cuda::check(cudaMemcpy(x + (count - 1), &last, sizeof last, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  const void* device() const { return memory_.get(); }

 private:
  device_memory memory_;
};

template <class T>
void check_long(operation what, std::uint64_t count, T last, const scalar& wanted) {
  const long_input<T> x(count, last);
  for (const auto& stage : cuda::stages()) {
    if (!serves(stage, what, type_of<T>)) continue;
    CAPTURE(stage.text.name);
    for (const unsigned block_size : {32u, 256u}) {
      stage_run once(plan_stage(stage, what, type_of<T>, count, block_size));
      once.prepare(x.device());
      once.run(x.device());
      CHECK(same(once.value(), wanted));
      CHECK(once.guards_intact());
    }
  }
}

TEST_SUITE_BEGIN("cuda/ladder");

TEST_CASE("over 2^31 and 2^32 elements") {
  if (!device_is_here()) return;
  std::size_t available = 0, total = 0;
  cuda::check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  if (available < std::size_t{64} << 30) {
    test::skip("less than 64 GiB of device memory are free");
    return;
  }
  constexpr std::int64_t count = (std::int64_t{1} << 31) + 33, each = 0x11111111;
  check_long<std::int32_t>(operation::sum, count, -7, scalar((count - 1) * each - 7));
  // The other elements are below 2^-92, so that every partial sum with the last one is 2^40.
  check_long<float>(operation::sum, (std::uint64_t{1} << 32) + 33, 0x1p40f, scalar(0x1p40f));
}

TEST_CASE("graphs replay: the arrival counter is ready for the next launch") {
  if (!device_is_here()) return;
  const device_input<float> x(mixed_values<float>(300001, 5), 1);
  const expectation<float> expected(x.host());
  cudaStream_t stream;
  cuda::check(cudaStreamCreate(&stream), "cudaStreamCreate");
  for (const auto& stage : cuda::stages()) {
    if (stage.in_place || !serves(stage, operation::sum, element_type::f32)) continue;
    CAPTURE(stage.text.name);
    const auto plan = plan_stage(stage, operation::sum, element_type::f32, x.host().size());
    stage_run once(plan);
    once.prepare(x.device(), stream);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    once.run(x.device(), false, stream);
    cuda::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cuda::check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
    for (int i = 0; i < 3; ++i) {
      cuda::check(cudaGraphLaunch(replay, stream), "cudaGraphLaunch");
      cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      CHECK(expected.allows(operation::sum, once.value(), plan.bound()));
    }
    cuda::check(cudaGraphExecDestroy(replay), "cudaGraphExecDestroy");
    cuda::check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  cuda::check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::test
