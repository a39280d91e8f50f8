// From a stage to its row of the table. The kernels are compiled once for each element type, in ladder_TYPE.cu.
#pragma once

#include <type_traits>
#include <vector>

#include "backends/cuda/fold/accumulators.cuh"
#include "backends/cuda/stages/common.cuh"
#include "backends/cuda/stages/finish.cuh"
#include "backends/cuda/stages/ladder.hpp"

namespace fanin::cuda {

template <class A, class R>
scalar value_of(const void* state, std::uint64_t count) {
  typename A::state s;
  std::memcpy(&s, state, sizeof s);
  if constexpr (std::is_same_v<A, segment_sum<typename A::element>>) {
    return R{s};
  } else {
    return A::template finish<R>(s, count);
  }
}

template <class Stage, class A>
const void* kernel_of(unsigned block) {
  return reinterpret_cast<const void*>(Stage::template kernel<A>(block));
}

template <class Stage, operation What, class T>
stage_kernel make_kernel() {
  using A = accumulator_for<What, T>;
  constexpr bool keeps_type = std::is_floating_point_v<T> || What == operation::min || What == operation::max;
  using R = std::conditional_t<keeps_type, T, std::int64_t>;
  constexpr int architecture = Stage::template architecture<A>;
  if constexpr (architecture == 0) {
    return {};
  } else {
    return {architecture,
            &kernel_of<Stage, A>,
            reinterpret_cast<const void*>(&finish_kernel<A>),
            reinterpret_cast<const void*>(&copy_states_kernel<A>),
            sizeof(typename A::state),
            &value_of<A, R>};
  }
}

/// One stage for all operations on T.
template <class Stage, class T>
stage_kernels make_kernels() {
  return {make_kernel<Stage, operation::sum, T>(), make_kernel<Stage, operation::product, T>(),
          make_kernel<Stage, operation::min, T>(), make_kernel<Stage, operation::max, T>()};
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
