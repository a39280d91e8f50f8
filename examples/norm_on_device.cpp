// SPDX-License-Identifier: Apache-2.0
// One norm of a list of arrays in the memory of a GPU. Two calls are enqueued for all arrays. Nothing waits before
// the result is copied to the host.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include <fanin/device.hpp>
#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

float norm_of(const std::vector<fanin::input_views>& arrays, fanin::device_context& context) {
  constexpr auto what = fanin::operation::norm2;
  constexpr auto type = fanin::element_type::f32;
  std::int64_t* lanes = nullptr;
  fanin::device_result<float>* result = nullptr;
  float norm = NAN;
  if (cudaMalloc(&lanes, fanin::lane_count(what, type) * sizeof *lanes) == cudaSuccess &&
      cudaMalloc(&result, sizeof *result) == cudaSuccess) {
    fanin::enqueue_lanes(what, arrays, lanes, context);
    fanin::enqueue_value_of_lanes(what, type, lanes, result, context, {.result = type});
    cudaDeviceSynchronize();
    if (cudaMemcpy(&norm, &result->value, sizeof norm, cudaMemcpyDeviceToHost) != cudaSuccess) norm = NAN;
  }
  cudaFree(result);
  cudaFree(lanes);
  return norm;
}

int main() {
  std::vector<float> x(100'000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0f / static_cast<float>(i + 1), static_cast<int>(i % 60));
  const float on_host = fanin::norm2(x).value;
  std::printf("host: %.9g\n", on_host);
  if (!fanin::find_backend("cuda").probe().usable()) return 0;

  float* there = nullptr;
  if (cudaMalloc(&there, x.size() * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMemcpy(there, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  const auto part = [&](std::size_t begin, std::size_t end) {
    return fanin::input_views(fanin::device_span<float>(there + begin, end - begin));
  };
  fanin::device_context context;
  const float of_one = norm_of({part(0, x.size())}, context);
  const float of_three = norm_of({part(70'000, x.size()), part(0, 13), part(13, 70'000)}, context);
  std::printf("device: %.9g %.9g\n", of_one, of_three);
  cudaFree(there);
  return of_one == on_host && of_three == on_host ? 0 : 1;
}
