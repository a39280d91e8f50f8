// SPDX-License-Identifier: Apache-2.0
#include "bench/device_peers.hpp"

#include <cstdint>

#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>
#include <cub/device/device_reduce.cuh>

namespace fanin::bench {

template <class T>
cub_sum<T>::cub_sum(std::size_t most) {
  const T* const x = nullptr;
  T* const result = nullptr;
  cuda::check(cub::DeviceReduce::Sum(nullptr, scratch_bytes_, x, result, static_cast<int>(most)),
              "cub::DeviceReduce::Sum");
  scratch_ = cuda::allocate_device(scratch_bytes_);
}

template <class T>
void cub_sum<T>::enqueue(const T* x, std::size_t count, T* result, cudaStream_t stream) {
  cuda::check(cub::DeviceReduce::Sum(scratch_.get(), scratch_bytes_, x, result, static_cast<int>(count), stream),
              "cub::DeviceReduce::Sum");
}

template <class T>
T thrust_sum(const T* x, std::size_t count, cudaStream_t stream) {
  return thrust::reduce(thrust::cuda::par.on(stream), x, x + count);
}

template class cub_sum<float>;
template class cub_sum<double>;
template class cub_sum<std::int32_t>;
template float thrust_sum(const float*, std::size_t, cudaStream_t);
template double thrust_sum(const double*, std::size_t, cudaStream_t);
template std::int32_t thrust_sum(const std::int32_t*, std::size_t, cudaStream_t);

}  // namespace fanin::bench
