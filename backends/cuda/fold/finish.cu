// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/finish.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "backends/cuda/stages/ladder.hpp"

namespace fanin::cuda {
namespace {

template <class All, class One>
constexpr bool is_among(const All& all, One one) {
  return std::find(std::begin(all), std::end(all), one) != std::end(all);
}

/// Whether a stage of the ladder may serve it.
template <class Recipe>
inline constexpr bool has_stages = Recipe::how == method::fast&& is_among(ladder_operations, Recipe::what) &&
                                   is_among(ladder_types, type_of<typename Recipe::element>);

/// Whether a reduction may leave more than one state, or one that is not finished: parts of 2^32 elements, dot
/// products, exact sums of complex numbers, and stages of the ladder.
template <class Recipe>
inline constexpr bool leaves_states = form_of<Recipe>::longest != ~std::uint64_t{0} || has_stages<Recipe> ||
                                      accumulator::inputs_of<typename Recipe::accumulator>() == 2 ||
                                      (complex_number<typename Recipe::element> && Recipe::how == method::exact);

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

template <class R>
__global__ void store_kernel(device_result<R> value, device_result<R>* result) {
  *result = value;
}

}  // namespace

void enqueue_finish(const request& request, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream) {
  with_recipe(request.what, request.inputs.type(), request.how, [&]<class Recipe>(Recipe) -> bool {
    return with_result<Recipe>(request.result, [&]<class R>(R) {
      if constexpr (narrow_float<R> && !std::is_same_v<R, typename Recipe::result>)
        return false;  // enqueue() refuses it
      auto* const place = static_cast<device_result<R>*>(result);
      if (count_of_states == 0) {
        store_kernel<R><<<1, 1, 0, stream>>>(finished<Recipe, R>(Recipe::accumulator::identity(), 0), place);
      } else if constexpr (leaves_states<Recipe>) {
        finish_kernel<Recipe, R><<<1, 1, 0, stream>>>(states, count_of_states, request.inputs.count(), place);
      } else {
        throw unsupported("the result of " + std::string(request.variant) + " cannot stay on the device");
      }
      return true;
    });
  });
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace fanin::cuda
