// SPDX-License-Identifier: Apache-2.0
// Device memory for tests, and whether there is a device to test.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstring>
#include <span>
#include <vector>

#include <fanin/device.hpp>

#include "base/cuda/handles.hpp"
#include "tests/support/usable.hpp"

namespace fanin::test {

/// Whether a test that needs a device is to go on.
inline bool device_is_here() { return usable(find_backend("cuda")); }

/// Waits for the work on the context's stream.
inline void wait_for(const device_context& context) {
  cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
}

/// Elements on the device, `offset` elements behind a 256-byte boundary, between guard bytes.
template <class T>
class device_array {
 public:
  explicit device_array(std::span<const T> x, std::size_t offset = 0)
      : before_(guard + offset * sizeof(T)),
        count_(x.size()),
        image_(before_ + x.size_bytes() + guard, std::byte{0xff}),
        memory_(cuda::allocate_device(image_.size())) {
    if (!x.empty()) std::memcpy(image_.data() + before_, x.data(), x.size_bytes());
    cuda::check(cudaMemcpy(memory_.get(), image_.data(), image_.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  auto elements() const requires element<T> {
    return device_span<T>(reinterpret_cast<const T*>(memory_.get() + before_), count_);
  }
  T* data() const { return reinterpret_cast<T*>(memory_.get() + before_); }
  /// Whether elements and guards are as they were.
  bool untouched() const {
    std::vector<std::byte> now(image_.size());
    cuda::check(cudaMemcpy(now.data(), memory_.get(), now.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return now == image_;
  }

 private:
  static constexpr std::size_t guard = 256;  // 0xff: NaN, -1 or the largest value
  std::size_t before_;
  std::size_t count_;
  std::vector<std::byte> image_;
  cuda::device_memory memory_;
};

/// One value on the device.
template <class V>
class device_value {
 public:
  device_value() : memory_(cuda::allocate_device(sizeof(V))) {}
  V* get() const { return reinterpret_cast<V*>(memory_.get()); }
  V read() const {
    V value;
    cuda::check(cudaMemcpy(&value, memory_.get(), sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

 private:
  cuda::device_memory memory_;
};

/// The value that enqueue() leaves on the device.
inline scalar enqueued(operation what, const input_views& inputs, const options& chosen, device_context& context) {
  return with_result_type(what, default_result(what, inputs.type()), [&]<class R>() {
    const device_value<device_result<R>> result;
    enqueue(what, inputs, result.get(), context, chosen);
    wait_for(context);
    CHECK(result.read().overflowed == 0);
    return scalar(result.read().value);
  });
}

}  // namespace fanin::test
