// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/extremum_keys.hpp"

#include <fanin/catalog.hpp>
#include <fanin/cuda/fold_kernel.cuh>
#include <fanin/cuda/launch.cuh>
#include <fanin/device.hpp>

#include "backends/cuda/fold/extremum_keys.cuh"

namespace fanin::cuda {
namespace {

/// Calls f.operator()<T>() for the type T of real numbers.
template <class F, std::size_t... I>
__device__ void with_real(element_type type, const F& f, std::index_sequence<I...>) {
  const auto call = [&]<class T>() {
    if constexpr (!complex_number<T>) {
      if (type == type_of<T>) f.template operator()<T>();
    }
  };
  (call.template operator()<fanin::detail::element_at<I>>(), ...);
}
template <class F>
__device__ void with_real(element_type type, const F& f) {
  with_real(type, f, std::make_index_sequence<element_count>());
}

__global__ void key_kernel(element_type type, const void* result, bool smallest, std::int64_t* key) {
  device_code::overlap_with_next_launch();
  with_real(type, [&]<class T>() { *key = key_of(static_cast<const device_result<T>*>(result)->value, smallest); });
}
__global__ void value_of_key_kernel(element_type type, const std::int64_t* key, void* result) {
  device_code::overlap_with_next_launch();
  with_real(type, [&]<class T>() {
    *static_cast<device_result<T>*>(result) = {accumulator::of_ordered<T>(*key), 0};
  });
}

__global__ void candidate_kernel(element_type type, const void* result, bool smallest, std::uint64_t count,
                                 candidate* out) {
  device_code::overlap_with_next_launch();
  with_real(type, [&]<class T>() {
    const indexed<T> found = static_cast<const device_result<indexed<T>>*>(result)->value;
    *out = {key_of(found.value, smallest), found.index, count};
  });
}
__global__ void first_candidate_kernel(element_type type, const candidate* all, std::size_t number, bool smallest,
                                       void* result) {
  device_code::overlap_with_next_launch();
  const candidate first = first_of(all, number, smallest);
  with_real(type, [&]<class T>() {
    *static_cast<device_result<indexed<T>>*>(result) = {{accumulator::of_ordered<T>(first.key), first.index}, 0};
  });
}

}  // namespace

void enqueue_key(operation what, element_type type, const void* result, std::int64_t* key,
                 const device_code::execution& where) {
  device_code::launch_overlapped(where, 1, 1, 0, key_kernel, type, result, row_of(what).seeks == extremity::least,
                                 key);
}

void enqueue_value_of_key(element_type type, const std::int64_t* key, void* result,
                          const device_code::execution& where) {
  device_code::launch_overlapped(where, 1, 1, 0, value_of_key_kernel, type, key, result);
}

void enqueue_candidate(operation what, element_type type, const void* result, std::uint64_t count, std::int64_t* out,
                       const device_code::execution& where) {
  device_code::launch_overlapped(where, 1, 1, 0, candidate_kernel, type, result,
                                 row_of(what).seeks == extremity::least, count, reinterpret_cast<candidate*>(out));
}

void enqueue_first_candidate(operation what, element_type type, const std::int64_t* candidates, std::size_t number,
                             void* result, const device_code::execution& where) {
  device_code::launch_overlapped(where, 1, 1, 0, first_candidate_kernel, type,
                                 reinterpret_cast<const candidate*>(candidates), number,
                                 row_of(what).seeks == extremity::least, result);
}

}  // namespace fanin::cuda
