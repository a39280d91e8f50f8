// SPDX-License-Identifier: Apache-2.0
// One norm of a list of arrays in the memory of a GPU: two calls are enqueued for all arrays, and the host waits
// once, for the result.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include <fanin/device.hpp>
#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

constexpr auto what = fanin::operation::norm2;
constexpr auto type = fanin::element_type::f32;

/// `lanes` and `result` are in device memory.
float norm_of(const std::vector<fanin::input_views>& arrays, std::int64_t* lanes, fanin::device_result<float>* result,
              fanin::device_context& context) {
  fanin::enqueue_lanes(what, arrays, lanes, context);
  fanin::enqueue_value_of_lanes(what, type, lanes, result, context, {.result = type});
  float norm = NAN;
  // The copy waits for the stream of the context, since that stream and the legacy default stream wait for each
  // other.
  const bool copied = cudaMemcpy(&norm, &result->value, sizeof norm, cudaMemcpyDeviceToHost) == cudaSuccess;
  return copied ? norm : NAN;
}

int main() {
  std::vector<float> x(100'000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0f / static_cast<float>(i + 1), static_cast<int>(i % 60));
  const float on_host = fanin::norm2(x).value;
  std::printf("host: %.9g\n", on_host);
  if (!fanin::find_backend("cuda").probe().usable()) {
    std::printf("device: there is no GPU\n");
    return 0;
  }

  float* there = nullptr;
  std::int64_t* lanes = nullptr;
  fanin::device_result<float>* result = nullptr;
  if (cudaMalloc(&there, x.size() * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&lanes, fanin::lane_count(what, type) * sizeof *lanes) != cudaSuccess ||
      cudaMalloc(&result, sizeof *result) != cudaSuccess)
    return 1;
  if (cudaMemcpy(there, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  const auto part = [&](std::size_t begin, std::size_t end) {
    return fanin::input_views(fanin::device_span<float>(there + begin, end - begin));
  };
  fanin::device_context context;
  const float of_one = norm_of({part(0, x.size())}, lanes, result, context);
  const float of_three = norm_of({part(70'000, x.size()), part(0, 13), part(13, 70'000)}, lanes, result, context);
  std::printf("device: %.9g %.9g\n", of_one, of_three);
  cudaFree(result);
  cudaFree(lanes);
  cudaFree(there);
  return of_one == on_host && of_three == on_host ? 0 : 1;
}
