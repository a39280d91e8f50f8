// An array cut into whole 16-byte vectors, the first at a cache line's begin, and the few elements around them.
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cuda/fold/accumulators.cuh"

namespace fanin::cuda {

template <class T>
struct alignas(16) vector {
  static constexpr int size = 16 / sizeof(T);
  T at[size];
};

template <class T>
struct peeled_array {
  const T* head;
  const vector<T>* body;
  const T* tail;
  unsigned head_count;
  unsigned tail_count;
  std::uint64_t vectors;

  peeled_array(const T* x, std::uint64_t count) : head(x) {
    constexpr std::uint64_t line = 128;
    const std::uint64_t to_boundary = (line - reinterpret_cast<std::uintptr_t>(x) % line) % line / sizeof(T);
    head_count = static_cast<unsigned>(to_boundary < count ? to_boundary : count);
    body = reinterpret_cast<const vector<T>*>(x + head_count);
    vectors = (count - head_count) / vector<T>::size;
    tail = x + head_count + vectors * vector<T>::size;
    tail_count = static_cast<unsigned>(count - head_count - vectors * vector<T>::size);
  }
};

/// A thread's states: one for each element of a vector, so that a vector's additions do not wait for each other.
template <class A>
class vector_fold {
 public:
  using T = typename A::element;
  using state = typename A::state;

  __device__ vector_fold() {
#pragma unroll
    for (state& s : lanes_) s = A::identity();
  }
  __device__ void add(const vector<T>& v) {
#pragma unroll
    for (int i = 0; i < vector<T>::size; ++i) A::add(lanes_[i], v.at[i]);
  }
  /// The elements outside of the vectors: the first threads of block 0 take one of each end.
  __device__ void add_ends(const peeled_array<T>& x) {
    if (blockIdx.x != 0) return;
    if (threadIdx.x < x.head_count) A::add(lanes_[0], x.head[threadIdx.x]);
    if (threadIdx.x < x.tail_count) A::add(lanes_[0], x.tail[threadIdx.x]);
  }
  __device__ state total() {
#pragma unroll
    for (int step = vector<T>::size / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < step; ++i) A::merge(lanes_[i], lanes_[i + step]);
    }
    return lanes_[0];
  }
  static constexpr int most_end_adds = 2;
  static constexpr int merge_levels = vector<T>::size == 4 ? 2 : 1;

 private:
  state lanes_[vector<T>::size];
};

template <class T>
__device__ vector<T> load(const vector<T>* from) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(from));
  vector<T> v;
  std::memcpy(&v, &words, sizeof v);
  return v;
}

}  // namespace fanin::cuda
