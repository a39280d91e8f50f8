// SPDX-License-Identifier: Apache-2.0
// Each reduction is one call of thrust::transform_reduce, which runs the kernels of cub/launch.cuh.
#pragma once

// Lengths have 64 bits here. Without this macro, Thrust compiles its kernels for lengths of 32 bits too.
#define THRUST_FORCE_64_BIT_OFFSET_TYPE

#include <thrust/execution_policy.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform_reduce.h>

#include "backends/cub/launch.cuh"
#include "backends/thrust/thrust.hpp"

namespace fanin::thrust_backend {

/// Allocates from a context's scratch for one call of Thrust. Memory that Thrust frees is not used again in that
/// call.
class scratch_allocator {
 public:
  using value_type = char;
  explicit scratch_allocator(const cuda::execution& where)
      : next_(static_cast<char*>(where.scratch)), end_(next_ + where.scratch_bytes) {}
  char* allocate(std::ptrdiff_t bytes) {
    constexpr std::ptrdiff_t boundary = 256;
    const std::ptrdiff_t rounded = (bytes + boundary - 1) / boundary * boundary;
    if (rounded > end_ - next_) throw out_of_memory("Thrust asks for more scratch than a context holds");
    return std::exchange(next_, next_ + rounded);
  }
  void deallocate(char*, std::size_t) {}

 private:
  char* next_;
  char* end_;
};

template <class A>
class fold final : public cub_backend::any_order_fold<A> {
 public:
  using cub_backend::any_order_fold<A>::any_order_fold;
  void launch(const cuda::execution& where, const cuda::operands& data, std::uint64_t count,
              void* out) const override {
    scratch_allocator allocator(where);
    try {
      cub_backend::with_states<A>(data, [&](auto begin, const auto& make) {
        const typename A::state total =
            thrust::transform_reduce(thrust::cuda::par(allocator).on(where.stream), begin, begin + count, make,
                                     A::identity(), cub_backend::merged<A>());
        cuda::check(cudaMemcpyAsync(out, &total, sizeof total, cudaMemcpyDefault, where.stream), "cudaMemcpyAsync");
        cuda::check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");  // until then `total` is read
      });
    } catch (const thrust::system_error& failure) {
      static_cast<void>(cudaGetLastError());
      throw device_error(std::string("thrust::transform_reduce: ") + failure.what());
    }
  }
};

template <class T>
const cuda::kernel_launcher* find_kernel(operation what, method how) {
  return cub_backend::find_reference<fold, T>(what, how);
}

}  // namespace fanin::thrust_backend
