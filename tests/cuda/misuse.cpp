// SPDX-License-Identifier: Apache-2.0
// Memory that is not device memory is refused before a kernel reads it. A device without free memory is passed
// over. Graphs keep the memory that they use.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include <fanin/fold.hpp>

#include "tests/cli/process.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// All of the device's memory but the last pieces of 64 KiB.
std::vector<cuda::device_memory> all_device_memory() {
  std::vector<cuda::device_memory> held;
  for (std::size_t bytes = std::size_t{1} << 36; bytes >= 65536;) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) {
      held.emplace_back(static_cast<std::byte*>(memory));
    } else {
      static_cast<void>(cudaGetLastError());
      bytes /= 2;
    }
  }
  return held;
}

}  // namespace

TEST_SUITE("misuse") {
  TEST_CASE("host memory, or a count beyond the memory, is refused as device memory") {
    if (!device_is_here()) return;
    std::vector<float> host(1000, 1.0f);
    const device_array<float> there{std::span<const float>(host)};
    const device_value<device_result<float>> result;
    device_context context;
    const device_span<float> from_host(host.data(), host.size());
    const device_span<float> too_long(there.data(), std::size_t{1} << 44);
    for (const device_span<float>& wrong : {from_host, too_long}) {
      CHECK_THROWS_AS(reduce(operation::sum, wrong, options{.backend = "cuda"}), invalid_argument);
      CHECK_THROWS_AS(reduce(operation::sum, wrong, context), invalid_argument);
      CHECK_THROWS_AS(reduce(operation::dot, {there.elements(), from_host}, context), invalid_argument);
      CHECK_THROWS_AS(enqueue(operation::sum, wrong, result.get(), context), invalid_argument);
    }
    CHECK_THROWS_AS(enqueue(operation::sum, there.elements(), host.data(), context), invalid_argument);
    constexpr std::size_t block = std::size_t{2} << 20;
    const cuda::device_memory last = cuda::allocate_device(block);
    void* const without_flag = last.get() + block - sizeof(float);
    CHECK_THROWS_AS(enqueue(operation::sum, there.elements(), without_flag, context), invalid_argument);
    CHECK(same(reduce(operation::sum, there.elements(), context).value, scalar(1000.0f)));  // the device still works
  }

  TEST_CASE("another device's memory is that device's") {
    if (!device_is_here()) return;
    int devices = 0;
    cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    if (devices < 2) {
      test::skip("there is one device");
      return;
    }
    const std::vector<float> host(1000, 1.0f);
    const device_array<float> here{std::span<const float>(host)};
    cuda::check(cudaSetDevice(1), "cudaSetDevice");
    const device_array<float> there{std::span<const float>(host)};
    cuda::check(cudaSetDevice(0), "cudaSetDevice");
    device_context first(0), second(1);
    CHECK(same(reduce(operation::sum, there.elements(), second).value, scalar(1000.0f)));
    CHECK(same(reduce(operation::sum, there.elements(), options{.backend = "cuda"}).value, scalar(1000.0f)));
    CHECK_THROWS_WITH_AS(reduce(operation::sum, there.elements(), first), doctest::Contains("of device 1"),
                         invalid_argument);
    CHECK_THROWS_AS(reduce(operation::dot, {here.elements(), there.elements()}, options{.backend = "cuda"}),
                    invalid_argument);
    CHECK(same(reduce(operation::sum, here.elements(), first).value, scalar(1000.0f)));
  }

  TEST_CASE("a device without free memory is an error by name, and passed over in a list") {
    if (!device_is_here()) return;
    const auto held = all_device_memory();
    const std::vector<double> x(1 << 20, 0.5);
    std::thread([&] {  // has no context yet
      CHECK_THROWS_WITH_AS(sum(x, {.backend = "cuda"}), doctest::Contains("choose a CPU backend"), out_of_memory);
      const auto found = sum(x, {.backend = "cuda,serial"});
      CHECK(found.value == 524288);
      CHECK(found.report.backend == "serial");
      REQUIRE(found.report.fallback.size() == 1);
      CHECK(found.report.fallback[0].why == reason::failed);
      incremental blocks(operation::sum, element_type::f64, {.backend = "cuda,serial"});
      blocks.push(std::span<const double>(x));
      CHECK(same(blocks.finish().value, scalar(524288.0)));
    })
        .join();
  }

  TEST_CASE("the command goes on with the next backend of its list, however little memory the device has left") {
    if (!device_is_here()) return;
    const cli::scratch_folder here;
    REQUIRE(here.fanin("generate constant:0.5 --type f64 --count 2^22 -o x.npy").status == 0);
    for (const std::size_t spare : {0, 128, 256, 384, 512, 640, 768, 1024, 2048}) {
      CAPTURE(spare);
      cuda::device_memory left = cuda::allocate_device((spare << 20) + 1);
      const auto held = all_device_memory();
      left.reset();
      const cli::finished of_list = here.fanin("sum x.npy --backend cuda,serial --explain");
      CHECK(of_list.out == "2097152\n");
      const bool fell_back = of_list.err.find("passed over: cuda") != std::string::npos;
      MESSAGE(spare << " MiB left: " << of_list.err);
      CHECK((fell_back || spare > 0));
      CHECK((!fell_back || spare < 2048));
      const cli::finished by_name = here.fanin("sum x.npy --backend cuda");
      CHECK((by_name.status == 0) == !fell_back);
      if (fell_back) CHECK(by_name.err.find("choose a CPU backend") != std::string::npos);
    }
  }

  TEST_CASE("a graph of a stage that overwrites its input keeps its copy when a longer request comes") {
    if (!device_is_here()) return;
    const auto values = mixed_values<float>(std::size_t{3} << 20, 7);
    const device_array<float> there{std::span<const float>(values)};
    const device_span<float> part(there.data(), values.size() / 2);
    const options chosen{.variant = "global-neighbored"};
    device_context context;
    const auto stream = static_cast<cudaStream_t>(context.stream());
    const device_value<device_result<float>> result;
    enqueue(operation::sum, part, result.get(), context, chosen);
    wait_for(context);
    const float expected = fanin::get<float>(reduce(operation::sum, part, context, chosen).value);
    CHECK(result.read().value == expected);
    cuda::check(cudaMemset(result.get(), 0, sizeof(device_result<float>)), "cudaMemset");

    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    enqueue(operation::sum, part, result.get(), context, chosen);
    cuda::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cuda::check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");

    const device_value<device_result<float>> other;
    enqueue(operation::sum, there.elements(), other.get(), context, chosen);
    wait_for(context);
    const auto ours =
        cuda::allocate_device(part.size() * sizeof(float));  // perhaps where a freed copy would have been
    cuda::check(cudaMemset(ours.get(), 0, part.size() * sizeof(float)), "cudaMemset");
    cuda::check(cudaGraphLaunch(replay, stream), "cudaGraphLaunch");
    wait_for(context);
    CHECK(result.read().value == expected);
    std::vector<float> after(values.size() / 2);
    cuda::check(cudaMemcpy(after.data(), ours.get(), after.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
    CHECK(after == std::vector<float>(after.size(), 0.0f));  // the graph wrote to memory of its own
    cuda::check(cudaGraphExecDestroy(replay), "cudaGraphExecDestroy");
    cuda::check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
}

}  // namespace fanin::test
