// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/extremum_keys.hpp"

#include <fanin/catalog.hpp>
#include <fanin/cuda/fold_kernel.cuh>
#include <fanin/cuda/launch.cuh>
#include <fanin/device.hpp>

#include "backends/cuda/fold/extremum_keys.cuh"

namespace fanin::cuda {
namespace {

template <class T>
__global__ void key_kernel(const device_result<T>* result, bool smallest, std::int64_t* key) {
  device_code::overlap_with_next_launch();
  *key = key_of(result->value, smallest);
}
template <class T>
__global__ void value_of_key_kernel(const std::int64_t* key, device_result<T>* result) {
  device_code::overlap_with_next_launch();
  *result = {accumulator::of_ordered<T>(*key), 0};
}

template <class T>
__global__ void candidate_kernel(const device_result<indexed<T>>* result, bool smallest, std::uint64_t count,
                                 candidate* out) {
  device_code::overlap_with_next_launch();
  *out = {key_of(result->value.value, smallest), result->value.index, count};
}
template <class T>
__global__ void first_candidate_kernel(const candidate* all, std::size_t number, bool smallest,
                                       device_result<indexed<T>>* result) {
  device_code::overlap_with_next_launch();
  const candidate first = first_of(all, number, smallest);
  *result = {{accumulator::of_ordered<T>(first.key), first.index}, 0};
}

}  // namespace

void enqueue_key(operation what, element_type type, const void* result, std::int64_t* key,
                 const device_code::execution& where) {
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      device_code::launch_overlapped(where, 1, 1, 0, key_kernel<T>, static_cast<const device_result<T>*>(result),
                                     what == operation::min, key);
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

void enqueue_candidate(operation what, element_type type, const void* result, std::uint64_t count, std::int64_t* out,
                       const device_code::execution& where) {
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      device_code::launch_overlapped(where, 1, 1, 0, candidate_kernel<T>,
                                     static_cast<const device_result<indexed<T>>*>(result), what == operation::argmin,
                                     count, reinterpret_cast<candidate*>(out));
    }
  });
}

void enqueue_first_candidate(operation what, element_type type, const std::int64_t* candidates, std::size_t number,
                             void* result, const device_code::execution& where) {
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      device_code::launch_overlapped(where, 1, 1, 0, first_candidate_kernel<T>,
                                     reinterpret_cast<const candidate*>(candidates), number,
                                     what == operation::argmin, static_cast<device_result<indexed<T>>*>(result));
    }
  });
}

}  // namespace fanin::cuda
