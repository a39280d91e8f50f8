// SPDX-License-Identifier: Apache-2.0
// Each reduction is one call of cub::DeviceReduce.
#pragma once

#include <cub/device/device_reduce.cuh>

#include "backends/cub/cub.hpp"
#include "backends/cub/operators.cuh"

namespace fanin::cub_backend {

template <class A>
class fold final : public any_order_fold<A> {
 public:
  using any_order_fold<A>::any_order_fold;
  void launch(const cuda::execution& where, const cuda::operands& data, std::uint64_t count,
              void* out) const override {
    with_states<A>(data, [&](auto begin, const auto& make) {
      const auto reduce = [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::TransformReduce(scratch, bytes, begin, static_cast<typename A::state*>(out), count,
                                                  merged<A>(), make, A::identity(), where.stream);
      };
      std::size_t bytes = 0;
      cuda::check(reduce(nullptr, bytes), "cub::DeviceReduce");
      if (bytes > where.scratch_bytes) throw out_of_memory("CUB asks for more scratch than a context holds");
      cuda::check(reduce(where.scratch, bytes), "cub::DeviceReduce");
    });
  }
};

template <class T>
const cuda::kernel_launcher* find_kernel(operation what, method how) {
  return find_reference<fold, T>(what, how);
}

}  // namespace fanin::cub_backend
