// SPDX-License-Identifier: Apache-2.0
// Sums of a few vectors, element by element, each rounded once to the element's own type. A thread adds 16 bytes of
// each vector. Numbers are added in double, and the rounding errors of these additions in another double; where that
// one is rounded too, the exact accumulator adds the numbers again.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/exact/double_sum.cuh"

namespace fanin::cuda {

/// Vectors of `count` elements: `first`, and `rest_count` more that are `stride` bytes apart.
template <class T>
struct few_vectors {
  const T* first;
  const T* rest;
  unsigned rest_count;
  std::uint64_t stride;

  __device__ const T* at(unsigned i) const {
    return i == 0 ? first : reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(rest) + (i - 1) * stride);
  }
};

/// The sum of element i of every vector.
template <class T>
__device__ __noinline__ T accumulated(const few_vectors<T>& x, std::uint64_t i) {
  using N = computed_as<T>;
  exact_accumulator<N> sum;
#pragma unroll 1
  for (unsigned k = 0; k <= x.rest_count; ++k) sum.add(static_cast<N>(x.at(k)[i]));
  return sum.template round<T>();
}

/// x + y rounded once. The sum of two narrow floats as floats, rounded to their type, has the same bits, since a
/// float has at least twice their digits and two more [Figueroa 1995].
template <class T>
__device__ T sum_of_two(T x, T y) {
  using N = computed_as<T>;
  const N sum = static_cast<N>(x) + static_cast<N>(y);
  return sum == sum ? T(sum) : std::numeric_limits<T>::quiet_NaN();
}

/// N elements that are loaded at once.
template <class T, int N>
struct alignas(N * sizeof(T)) neighbours {
  T at[N];
};

/// Writes the elements i, ..., i + N - 1 of the sum of two vectors, and the elements of the next steps below
/// `limit`, up to Steps steps in all. Their loads are in flight together.
template <class T, int N, int Steps>
__device__ void write_sums_of_two(const few_vectors<T>& x, std::uint64_t i, std::uint64_t step, std::uint64_t limit,
                                  T* out) {
  neighbours<T, N> sums[Steps], more[Steps];
  for (int k = 0; k < Steps; ++k) {
    const std::uint64_t at = i + static_cast<unsigned>(k) * step;
    if (at >= limit) break;
    sums[k] = *reinterpret_cast<const neighbours<T, N>*>(x.first + at);
    more[k] = *reinterpret_cast<const neighbours<T, N>*>(x.rest + at);
  }
  for (int k = 0; k < Steps; ++k) {
    const std::uint64_t at = i + static_cast<unsigned>(k) * step;
    if (at >= limit) break;
    for (int e = 0; e < N; ++e) sums[k].at[e] = sum_of_two(sums[k].at[e], more[k].at[e]);
    *reinterpret_cast<neighbours<T, N>*>(out + at) = sums[k];
  }
}

/// Writes the elements i, ..., i + N - 1 of the sum.
template <class T, int N>
__device__ void write_sums(const few_vectors<T>& x, std::uint64_t i, T* out) {
  using elements = neighbours<T, N>;
  const auto load = [&](unsigned k) { return *reinterpret_cast<const elements*>(x.at(k) + i); };
  double_sum sums[N];
  const elements first = load(0);
  for (int e = 0; e < N; ++e) sums[e] = {static_cast<computed_as<T>>(first.at[e])};
#pragma unroll 2
  for (unsigned k = 1; k <= x.rest_count; ++k) {
    const elements more = load(k);
    for (int e = 0; e < N; ++e) sums[e].add(static_cast<computed_as<T>>(more.at[e]));
  }
  elements result;
  for (int e = 0; e < N; ++e) {
    result.at[e] = sums[e].is_exact() ? rounded_to<T>(sums[e]) : accumulated(x, i + static_cast<unsigned>(e));
  }
  *reinterpret_cast<elements*>(out + i) = result;
}

inline constexpr int vector_sum_threads = 512, vector_sum_steps = 4;

/// Writes `count` sums. From element `head` on, all vectors and the sums are at a boundary of 16 bytes.
template <class T, bool OfTwo>
__global__ void __launch_bounds__(vector_sum_threads)
    vector_sums_kernel(const few_vectors<T> x, std::uint64_t head, std::uint64_t count, T* out) {
  constexpr int width = 16 / sizeof(T);
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * vector_sum_threads + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * vector_sum_threads;
  const std::uint64_t vectors = (count - head) / width, others = count - vectors * width;
  if constexpr (OfTwo) {
    const std::uint64_t end = head + vectors * width;
    for (std::uint64_t v = begin; v < vectors; v += vector_sum_steps * step) {
      write_sums_of_two<T, width, vector_sum_steps>(x, head + v * width, step * width, end, out);
    }
    for (std::uint64_t i = begin; i < others; i += step) {
      write_sums_of_two<T, 1, 1>(x, i < head ? i : i + vectors * width, step, count, out);
    }
  } else {
    for (std::uint64_t v = begin; v < vectors; v += step) write_sums<T, width>(x, head + v * width, out);
    for (std::uint64_t i = begin; i < others; i += step) {
      write_sums<T, 1>(x, i < head ? i : i + vectors * width, out);
    }
  }
}

}  // namespace fanin::cuda
