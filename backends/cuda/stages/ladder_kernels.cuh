// SPDX-License-Identifier: Apache-2.0
// The definition that ladder_TYPE.cu instantiates: every kernel of the ladder for one element type.
#pragma once

#include "backends/cuda/stages/all.cuh"
#include "backends/cuda/stages/ladder_row.cuh"

namespace fanin::cuda {

template <class T, class... Stages>
std::vector<stage_kernels> kernels_of_all(stage_list<Stages...>) {
  return {make_kernels<Stages, T>()...};
}

template <class T>
std::vector<stage_kernels> ladder_kernels() {
  return kernels_of_all<T>(all_stages());
}

}  // namespace fanin::cuda
