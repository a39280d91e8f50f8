// SPDX-License-Identifier: Apache-2.0
// Makes a stage's row of the table. The kernels are compiled once for each element type, in ladder_TYPE.cu.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cuda/stages/common.cuh"
#include "backends/cuda/stages/finish.cuh"
#include "backends/cuda/stages/ladder.hpp"

namespace fanin::cuda {

/// The form in which stages fold a recipe's accumulator.
template <class Recipe>
using stage_form = device_form<typename Recipe::accumulator>;

template <class Recipe>
scalar value_of(const void* state, std::uint64_t count) {
  typename stage_form<Recipe>::device_accumulator::state s;
  std::memcpy(&s, state, sizeof s);
  using A = typename Recipe::accumulator;
  return A::template finish<typename Recipe::result>(static_cast<typename A::state>(s), count);
}

template <class Stage, class A>
const void* kernel_address(unsigned block) {
  return reinterpret_cast<const void*>(Stage::template kernel<A>(block));
}

template <class Stage, operation What, class T>
stage_kernel make_kernel() {
  using Recipe = recipe<What, method::fast, T>;
  using A = typename stage_form<Recipe>::device_accumulator;
  if constexpr (!Stage::template serves<What, T>) {
    return {};
  } else {
    const void* copy = nullptr;
    if constexpr (Stage::in_place) copy = reinterpret_cast<const void*>(&copy_states_kernel<A>);
    return {Stage::architecture,
            &kernel_address<Stage, A>,
            reinterpret_cast<const void*>(&finish_kernel<A>),
            copy,
            sizeof(typename A::state),
            stage_form<Recipe>::longest,
            &value_of<Recipe>,
            &Recipe::accumulator::template bound<typename Recipe::result>};
  }
}

/// One stage for all operations on T.
template <class Stage, class T>
stage_kernels make_kernels() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return stage_kernels{make_kernel<Stage, ladder_operations[I], T>()...};
  }
  (std::make_index_sequence<std::size(ladder_operations)>());
}

/// The whole ladder for T, in order. Defined in ladder_TYPE.cu.
template <class T>
std::vector<stage_kernels> ladder_kernels();

/// A row without kernels.
template <class Stage>
stage_info make_row() {
  return {Stage::text,        Stage::reproducibility, Stage::ending,        Stage::in_place,
          Stage::cooperative, Stage::resident,        Stage::block_size,    &Stage::rounded,
          &Stage::tile,       Stage::tiles_under_way, &Stage::shared_bytes, {}};
}

}  // namespace fanin::cuda
