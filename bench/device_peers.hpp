// SPDX-License-Identifier: Apache-2.0
// Sums of device memory by CUB and Thrust.
#pragma once

#include <cstddef>

#include "base/cuda/handles.hpp"

namespace fanin::bench {

/// cub::DeviceReduce::Sum of up to `most` < 2^31 elements, with its temporary storage allocated in the constructor.
/// The result has the elements' type, so that sums of i32 wrap.
template <class T>
class cub_sum {
 public:
  explicit cub_sum(std::size_t most);
  void enqueue(const T* x, std::size_t count, T* result, cudaStream_t stream);

 private:
  std::size_t scratch_bytes_ = 0;
  cuda::device_memory scratch_;
};

/// thrust::reduce(x, x + count), which returns the value.
template <class T>
T thrust_sum(const T* x, std::size_t count, cudaStream_t stream);

}  // namespace fanin::bench
