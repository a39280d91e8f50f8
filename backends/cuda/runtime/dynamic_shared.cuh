// Shared memory that a launch sizes.
#pragma once

namespace fanin::cuda {

/// The shared memory whose size the launch chose.
template <class State>
__device__ State* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return reinterpret_cast<State*>(bytes);
}

}  // namespace fanin::cuda
