// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/finish.hpp"

#include "backends/cuda/presence/presence_counts.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

/// Whether a recipe's result can be of type R.
template <class Recipe, class R>
constexpr bool gives() {
  constexpr element_type number = type_of<typename fanin::form_of<R>::number>;
  return row_of(Recipe::what).form == fanin::form_of<R>::form &&
         is_result(Recipe::what, type_of<typename Recipe::element>, Recipe::how, number);
}

/// The elements that were folded, and null or which of them took part.
struct folded_elements {
  std::uint64_t count;
  const presence_counts* present;
};

/// Writes the value of `what`, if that is What and folds states of A.
template <operation What, class A, method How, class R>
__device__ void write_value(operation what, typename A::state& s, const folded_elements& elements,
                            device_result<R>* result) {
  if constexpr (fanin::detail::has_recipe<What, How, typename A::element>) {
    using one = recipe<What, How, typename A::element>;
    if constexpr (std::is_same_v<accumulator::folds_as_t<typename one::accumulator>, A> && gives<one, R>()) {
      if (what != What) return;
      constexpr stand_in absent = row_of(What).absent;
      presence_counts found{0, elements.count};
      if (elements.present != nullptr) found = *elements.present;
      if (found.present == 0) s = A::identity();  // zeros that stand for elements have a sign
      *result = finished<one, R>(s, finished_count(absent, elements.count, found.present));
      if constexpr (fanin::form_of<R>::form == result_form::indexed) {
        if (found.present > 0) result->value.index += found.first;
      }
    }
  }
}
template <class A, method How, class R, std::size_t... What>
__device__ void write_value(operation what, typename A::state& s, const folded_elements& elements,
                            device_result<R>* result, std::index_sequence<What...>) {
  (write_value<static_cast<operation>(What), A, How, R>(what, s, elements, result), ...);
}

/// Merges states of A into the first one, or if `result` is not null, writes the value of `what` there. Operations
/// that fold the same states share the kernel.
template <class A, method How, class R>
__global__ void finish_kernel(const state_run run, operation what, const folded_elements elements,
                              device_result<R>* result) {
  using total = typename A::state;
  using partial = typename device_form<A>::kernel::state;
  total s = run.begins_with_total ? *reinterpret_cast<const total*>(run.states) : A::identity();
  for (std::size_t i = run.begins_with_total ? 1 : 0; i < run.count; ++i) {
    A::merge(s, static_cast<total>(*reinterpret_cast<const partial*>(run.states + i * most_state_bytes)));
  }
  if (result == nullptr) {
    *reinterpret_cast<total*>(run.states) = s;
  } else {
    write_value<A, How>(what, s, elements, result, std::make_index_sequence<operation_count>());
  }
}

/// Whether the recipe for elements of type T is finished as the recipe Of: the states and the result have the same
/// types.
template <class Of, class R, class T>
constexpr bool finishes() {
  if constexpr (fanin::detail::has_recipe<Of::what, Of::how, T>) {
    using one = recipe<Of::what, Of::how, T>;
    return gives<one, R>() && std::is_same_v<typename one::accumulator::state, typename Of::accumulator::state> &&
           std::is_same_v<typename kernel_of<one>::state, typename kernel_of<Of>::state>;
  } else {
    return false;
  }
}
/// The accumulator whose kernel finishes a recipe: that of the first element type in the catalogue that will do.
template <class Recipe, class R, std::size_t I = 0>
constexpr auto finishing_accumulator() {
  using T = fanin::detail::element_at<I>;
  if constexpr (finishes<Recipe, R, T>()) {
    return accumulator::folds_as_t<typename recipe<Recipe::what, Recipe::how, T>::accumulator>();
  } else {
    return finishing_accumulator<Recipe, R, I + 1>();
  }
}

void launch_finish(const request& request, const state_run& run, const folded_elements& elements, void* result,
                   cudaStream_t stream) {
  with_recipe(request.what, request.inputs.type(), request.how, [&]<class Recipe>(Recipe) -> bool {
    return with_result<Recipe>(request.result, [&]<class R>(R) {
      if constexpr (narrow_float<R> && !std::is_same_v<R, typename Recipe::result>) {
        return false;  // enqueue() refuses it
      } else {
        using A = decltype(finishing_accumulator<Recipe, R>());
        finish_kernel<A, Recipe::how>
            <<<1, 1, 0, stream>>>(run, request.what, elements, static_cast<device_result<R>*>(result));
        return true;
      }
    });
  });
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace

void enqueue_merge(const request& request, const state_run& run, cudaStream_t stream) {
  launch_finish(request, run, {}, nullptr, stream);
}

void enqueue_finish(const request& request, const state_run& run, const presence_counts* present, void* result,
                    cudaStream_t stream) {
  launch_finish(request, run, {request.inputs.count(), present}, result, stream);
}

}  // namespace fanin::cuda
