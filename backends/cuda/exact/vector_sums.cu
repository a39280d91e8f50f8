// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/exact/vector_sums.hpp"

#include <algorithm>

#include <fanin/catalog.hpp>
#include <fanin/cuda/check.cuh>

#include "backends/cuda/exact/vector_sums.cuh"

namespace fanin::cuda {
namespace {

/// The elements before the first boundary of 16 bytes that all vectors share; all elements if they share none.
template <class T>
std::uint64_t head_of(const vector_sums& sums) {
  const auto offset = [](const void* x) { return reinterpret_cast<std::uintptr_t>(x) % 16; };
  const bool share = offset(sums.first) == offset(sums.out) && sums.stride % 16 == 0 &&
                     (sums.rest_count == 0 || offset(sums.rest) == offset(sums.out));
  return share ? std::min<std::uint64_t>((16 - offset(sums.out)) % 16 / sizeof(T), sums.count) : sums.count;
}

template <class T, bool OfTwo>
void launch(const vector_sums& sums, const device_code::execution& where, bool beside) {
  const auto multiprocessors = static_cast<std::uint64_t>(where.multiprocessors);
  const std::uint64_t most = beside ? (multiprocessors + 1) / 2 : multiprocessors * 4;
  const std::uint64_t threads = sums.count / (16 / sizeof(T)) + 16;
  const auto blocks =
      static_cast<unsigned>(std::min<std::uint64_t>((threads + vector_sum_threads - 1) / vector_sum_threads, most));
  const few_vectors<T> x{static_cast<const T*>(sums.first), static_cast<const T*>(sums.rest), sums.rest_count,
                         sums.stride};
  vector_sums_kernel<T, OfTwo>
      <<<blocks, vector_sum_threads, 0, where.stream>>>(x, head_of<T>(sums), sums.count, static_cast<T*>(sums.out));
  device_code::check(cudaGetLastError(), "launching sums of vectors");
}

}  // namespace

void enqueue_vector_sums(const vector_sums& sums, const device_code::execution& where, bool beside) {
  if (sums.count == 0) return;
  with_element(sums.type, [&]<class T>() {
    if constexpr (floating<T> && sizeof(T) > 1) {
      sums.rest_count == 1 ? launch<T, true>(sums, where, beside) : launch<T, false>(sums, where, beside);
    }
  });
}

}  // namespace fanin::cuda
