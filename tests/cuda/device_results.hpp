// SPDX-License-Identifier: Apache-2.0
// Results of a batch in device memory, and batches whose offsets or keys are there.
#pragma once

#include <algorithm>

#include "tests/cuda/device_memory.hpp"
#include "tests/support/call.hpp"

namespace fanin::test {

/// Memory for `count` results between guard bytes.
template <class R>
class device_results_memory {
 public:
  explicit device_results_memory(std::size_t count) : memory_(std::vector<R>(count)), count_(count) {}
  operator results_view() const { return device_results<R>(memory_.data(), count_); }
  std::vector<R> read() const {
    std::vector<R> values(count_);
    cuda::check(cudaMemcpy(values.data(), memory_.data(), count_ * sizeof(R), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  device_array<R> memory_;
  std::size_t count_;
};

template <class R>
bool all_same(const std::vector<R>& a, const std::vector<R>& b) {
  return std::ranges::equal(a, b, [](const R& x, const R& y) { return same(scalar(x), scalar(y)); });
}

inline batch device_segments(const input_views& inputs, const device_array<std::int32_t>& offsets,
                             std::size_t count) {
  return segments(inputs, array_view(offsets.data(), count + 1, element_type::i32, memory::device));
}

template <class Key>
batch device_groups(const input_views& inputs, const device_array<Key>& keys, std::size_t count) {
  return groups(inputs, array_view(keys.data(), inputs.count(), type_of<Key>, memory::device), count);
}

}  // namespace fanin::test
