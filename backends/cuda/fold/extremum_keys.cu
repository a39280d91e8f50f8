// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/extremum_keys.hpp"

#include <limits>

#include <fanin/accumulator/ordered.hpp>
#include <fanin/catalog.hpp>
#include <fanin/cuda/fold_kernel.cuh>
#include <fanin/cuda/launch.cuh>
#include <fanin/device.hpp>

namespace fanin::cuda {
namespace {

template <class T>
__global__ void key_kernel(const device_result<T>* result, std::int64_t of_nan, std::int64_t* key) {
  device_code::overlap_with_next_launch();
  *key = accumulator::ordered(result->value, of_nan);
}
template <class T>
__global__ void value_of_key_kernel(const std::int64_t* key, device_result<T>* result) {
  device_code::overlap_with_next_launch();
  *result = {accumulator::of_ordered<T>(*key), 0};
}

}  // namespace

void enqueue_key(operation what, element_type type, const void* result, std::int64_t* key,
                 const device_code::execution& where) {
  using keys = std::numeric_limits<std::int64_t>;
  const std::int64_t of_nan = what == operation::min ? keys::min() : keys::max();  // beyond all numbers
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      device_code::launch_overlapped(where, 1, 1, 0, key_kernel<T>, static_cast<const device_result<T>*>(result),
                                     of_nan, key);
    }
  });
}

void enqueue_value_of_key(element_type type, const std::int64_t* key, void* result,
                          const device_code::execution& where) {
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      device_code::launch_overlapped(where, 1, 1, 0, value_of_key_kernel<T>, key,
                                     static_cast<device_result<T>*>(result));
    }
  });
}

}  // namespace fanin::cuda
