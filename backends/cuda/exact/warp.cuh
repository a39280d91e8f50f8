// SPDX-License-Identifier: Apache-2.0
// Folds of one value of each thread of a warp.
#pragma once

#include <nv/target>

namespace fanin::cuda {

/// The largest x of the warp's threads, in every thread.
__device__ inline unsigned warp_max(unsigned x) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_max_sync(0xffffffffu, x);),
                    (for (unsigned distance = 16; distance > 0;
                          distance /= 2) { x = ::max(x, __shfl_xor_sync(0xffffffffu, x, distance)); } return x;))
}

/// The sum of the warp's x, in every thread.
__device__ inline int warp_sum(int x) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_add_sync(0xffffffffu, x);),
                    (for (unsigned distance = 16; distance > 0;
                          distance /= 2) { x += __shfl_xor_sync(0xffffffffu, x, distance); } return x;))
}

/// The bits that are set in any x of the warp's threads, in every thread.
__device__ inline unsigned warp_or(unsigned x) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_or_sync(0xffffffffu, x);),
                    (for (unsigned distance = 16; distance > 0;
                          distance /= 2) { x |= __shfl_xor_sync(0xffffffffu, x, distance); } return x;))
}

}  // namespace fanin::cuda
