// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/finish.hpp"

namespace fanin::cuda {
namespace {

template <class Recipe, class R>
__global__ void finish_kernel(const std::byte* states, std::size_t count_of_states, std::uint64_t count,
                              device_result<R>* result) {
  using total = typename Recipe::accumulator;
  using partial = typename kernel_of<Recipe>::state;
  auto s = total::identity();
  for (std::size_t i = 0; i < count_of_states; ++i) {
    const auto& from = *reinterpret_cast<const partial*>(states + i * most_state_bytes);
    total::merge(s, static_cast<typename total::state>(from));
  }
  *result = finished<Recipe, R>(s, count);
}

}  // namespace

void enqueue_finish(const request& request, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream) {
  with_recipe(request.what, request.inputs.type(), request.how, [&]<class Recipe>(Recipe) -> bool {
    return with_result<Recipe>(request.result, [&]<class R>(R) {
      finish_kernel<Recipe, R><<<1, 1, 0, stream>>>(states, count_of_states, request.inputs.count(),
                                                    static_cast<device_result<R>*>(result));
      return true;
    });
  });
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace fanin::cuda
