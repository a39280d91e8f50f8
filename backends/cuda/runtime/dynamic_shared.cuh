// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory of a block.
#pragma once

namespace fanin::cuda {

/// The block's dynamic shared memory, whose size the launch chose.
template <class State>
__device__ State* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return reinterpret_cast<State*>(bytes);
}

}  // namespace fanin::cuda
