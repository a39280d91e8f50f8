// SPDX-License-Identifier: Apache-2.0
// The input as vectors of 16 bytes, for the stages from 20 on.
#pragma once

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

inline constexpr unsigned loads_in_flight = 4;  ///< of 16 bytes, by each thread

template <class T>
struct alignas(16) vector_of {
  T x[16 / sizeof(T)];
};

/// The whole vectors of the input, and how many elements lie before and after them.
template <class T>
struct vector_part {
  const vector_of<T>* vectors;
  std::uint64_t count;
  unsigned head, tail;
};

template <class A>
__device__ vector_part<typename A::element> vectors_of(const stage_arguments<A>& a) {
  using vector = vector_of<typename A::element>;
  const auto part = steps::peel(reinterpret_cast<std::uintptr_t>(a.data), a.count, sizeof(typename A::element));
  return {reinterpret_cast<const vector*>(a.data + part.head), part.vectors, part.head, part.tail};
}

template <class A>
__device__ void add_vector(typename A::state& s, const vector_of<typename A::element>& v) {
#pragma unroll
  for (const auto x : v.x) A::add(s, x);
}

/// The elements before the first vector and after the last one, one for each of the block's first threads.
template <class A>
__device__ void add_ends(typename A::state& s, const stage_arguments<A>& a,
                         const vector_part<typename A::element>& part) {
  if (threadIdx.x < part.head) A::add(s, a.data[threadIdx.x]);
  if (threadIdx.x < part.tail) A::add(s, a.data[a.count - part.tail + threadIdx.x]);
}

}  // namespace fanin::cuda
