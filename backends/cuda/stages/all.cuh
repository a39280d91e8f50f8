// SPDX-License-Identifier: Apache-2.0
// The list of all stages, in order.
#pragma once

#include "backends/cuda/stages/01_global_neighbored.cuh"
#include "backends/cuda/stages/02_global_neighbored_less.cuh"
#include "backends/cuda/stages/03_global_interleaved.cuh"
#include "backends/cuda/stages/04_global_unroll.cuh"
#include "backends/cuda/stages/05_global_unroll_8_warp.cuh"
#include "backends/cuda/stages/06_shared_modulo.cuh"
#include "backends/cuda/stages/07_shared_mask.cuh"
#include "backends/cuda/stages/08_shared_strided.cuh"
#include "backends/cuda/stages/09_shared_sequential.cuh"
#include "backends/cuda/stages/10_shared_dynamic.cuh"
#include "backends/cuda/stages/11_add_on_load.cuh"
#include "backends/cuda/stages/12_unroll_last_warp.cuh"
#include "backends/cuda/stages/13_unroll_complete.cuh"
#include "backends/cuda/stages/14_atomic_block.cuh"
#include "backends/cuda/stages/15_sync_warp.cuh"
#include "backends/cuda/stages/16_warp_shuffle.cuh"
#include "backends/cuda/stages/17_cooperative_groups.cuh"
#include "backends/cuda/stages/18_grid_sync.cuh"
#include "backends/cuda/stages/19_grid_stride.cuh"
#include "backends/cuda/stages/20_vectorized.cuh"
#include "backends/cuda/stages/21_warp_redux.cuh"
#include "backends/cuda/stages/22_single_pass.cuh"
#include "backends/cuda/stages/23_bulk_copy.cuh"

namespace fanin::cuda {

template <class... Stages>
struct stage_list {
  static constexpr std::size_t size = sizeof...(Stages);
};

using all_stages =
    stage_list<global_neighbored, global_neighbored_less, global_interleaved, global_unroll<2>, global_unroll<4>,
               global_unroll<8>, global_unroll_8_warp, shared_modulo, shared_mask, shared_strided, shared_sequential,
               shared_dynamic, add_on_load, unroll_last_warp, unroll_complete, atomic_block, sync_warp, warp_shuffle,
               cooperative_groups_reduce, grid_sync, grid_stride, vectorized, warp_redux, single_pass, bulk_copy>;

}  // namespace fanin::cuda
