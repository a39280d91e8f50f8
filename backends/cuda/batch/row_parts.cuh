// SPDX-License-Identifier: Apache-2.0
// Up to one vector's elements from contiguous memory, at any alignment. The aligned vectors that contain the
// elements are loaded, so many loads are in flight before the first one is used.
#pragma once

#include <fanin/cuda/vectors.cuh>

namespace fanin::cuda {

using namespace device_code;

/// The vector that begins `shift` bytes, a multiple of an element's, behind the first of two neighbours of 16 bytes.
template <class T>
__device__ vector<T> vector_at(const uint4& first, const uint4& second, unsigned shift) {
  unsigned w[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  if (shift != 0) {
    if ((shift & 8) != 0) {
#pragma unroll
      for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
    }
    if constexpr (sizeof(T) <= 4) {
      if ((shift & 4) != 0) {
#pragma unroll
        for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
      }
    }
    if constexpr (sizeof(T) <= 2) {
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], 8 * (shift & 3));
    }
  }
  vector<T> v;
  std::memcpy(&v, w, sizeof v);
  return v;
}

template <class T>
class part_of_row {
  static constexpr int size = vector<T>::size;

 public:
  /// Loads `count` elements of an array that ends at `end`. They are at most as many as a vector has.
  __device__ void load(const T* x, int count, const void* end) {
    const auto address = reinterpret_cast<std::uintptr_t>(x);
    const auto* const aligned = reinterpret_cast<const uint4*>(address & ~std::uintptr_t{15});
    shift_ = static_cast<unsigned>(address % 16);
    if (count <= 0) return;
    const bool needs_second = shift_ + static_cast<unsigned>(count) * sizeof(T) > 16;
    if (static_cast<const void*>(aligned + (needs_second ? 2 : 1)) <= end) {
      first_ = __ldg(aligned);
      if (needs_second) second_ = __ldg(aligned + 1);
    } else {
      shift_ = 0;
      T at[size];
#pragma unroll
      for (int i = 0; i < size; ++i) at[i] = i < count ? x[i] : T{};
      std::memcpy(&first_, at, sizeof first_);
    }
  }
  __device__ vector<T> get() const { return vector_at<T>(first_, second_, shift_); }

 private:
  uint4 first_, second_;
  unsigned shift_;
};

/// Elements of 16 bytes, which are aligned.
template <class T>
requires(sizeof(T) == 16) class part_of_row<T> {
 public:
  __device__ void load(const T* x, int count, const void*) {
    if (count > 0) v_ = device_code::load(reinterpret_cast<const vector<T>*>(x));
  }
  __device__ vector<T> get() const { return v_; }

 private:
  vector<T> v_;
};

}  // namespace fanin::cuda
