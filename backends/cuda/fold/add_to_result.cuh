// SPDX-License-Identifier: Apache-2.0
// Results of a batch that are added to.
#pragma once

#include <fanin/accumulator/earlier_result.hpp>

#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/fold/finished.hpp"

namespace fanin::cuda {

/// Whether elements are added to their result, if `present` of them take part. The result keeps its value if no
/// element takes part, or if an offset or a key of the batch is wrong.
inline __device__ bool takes_elements(const batch_output& out, std::uint64_t present) {
  return present != 0 && out.status->bad_index == 0;
}

/// Adds an earlier result to the state `s` of elements. Returns the state of all: `s`, or a state of wider numbers.
/// `s` is not copied: nvcc 13.0 can lose the first word of a copy of an exact sum to which a number is added.
template <class Recipe, class R>
FANIN_HOST_DEVICE decltype(auto) with_result_added(typename Recipe::accumulator::state& s, const R& earlier) {
  using A = accumulator::accumulator_of_results<Recipe, R>;
  using state = typename A::state;
  if constexpr (std::is_same_v<state, typename Recipe::accumulator::state>) {
    A::add(s, earlier);
    return (s);
  } else {
    auto wide = accumulator::detail::state_as<state>(s);
    A::add(wide, earlier);
    return wide;
  }
}

/// Adds elements whose state is `s` to the result. `present` of the elements take part. If the new value would not
/// fit, the result keeps its value, and that is noted.
template <class Recipe, class R>
__device__ void add_to_result(const batch_output& out, std::uint64_t result, std::uint64_t present,
                              typename Recipe::accumulator::state& s) {
  if (!takes_elements(out, present)) return;
  R* const place = static_cast<R*>(out.results) + result;
  const device_result<R> found =
      finished<recipe<Recipe::what, Recipe::method, R>, R>(with_result_added<Recipe>(s, *place), present + 1);
  if (found.overflowed != 0) {
    note_first(out.status->overflowed, result);
  } else {
    *place = found.value;
  }
}

/// Adds to a result the elements whose keys have the state `s`.
template <class A>
__device__ void add_keys_to_result(const batch_output& out, std::uint64_t result, std::uint64_t present,
                                   const typename A::state& s) {
  using word = typename A::word;
  if constexpr (std::is_same_v<typename A::state, word>) {
    if (!takes_elements(out, present)) return;
    word* const place = static_cast<word*>(out.results) + result;
    word all = s;
    A::merge(all, key_of_word(*place, out.rule));
    *place = word_of_key(all, out.rule);
  }
}

}  // namespace fanin::cuda
