// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/presence/presence.hpp"

#include <algorithm>

#include <fanin/cuda/check.cuh>

namespace fanin::cuda {
namespace {

constexpr unsigned threads = 256, blocks_per_multiprocessor = 4, in_flight = 8;

/// Elements as words of type U, and their mask.
template <class U>
struct words {
  const U* x;
  const U* y;  ///< null for operations of one input
  mask_view mask;
  std::uint64_t count;
  U largest_number;

  __device__ bool is_number(U bits) const { return (bits & static_cast<U>(~U{0}) >> 1) <= largest_number; }
  __device__ bool is_in_mask(std::uint64_t i) const {
    if (mask.data == nullptr) return true;
    const auto* const entries = static_cast<const std::uint8_t*>(mask.data);
    const std::uint64_t place = mask.first + i;
    return mask.form == mask_form::bytes ? entries[place] != 0 : (entries[place / 8] >> place % 8 & 1) != 0;
  }
  __device__ U y_at(std::uint64_t i) const { return y != nullptr ? y[i] : U{0}; }
  __device__ bool takes_part(std::uint64_t i) const { return is_number(x[i]) && is_number(y_at(i)) && is_in_mask(i); }
};

template <class U>
words<U> words_of(const presence_rule& rule, const input_views& inputs) {
  return {static_cast<const U*>(inputs[0].data), inputs.size() == 2 ? static_cast<const U*>(inputs[1].data) : nullptr,
          inputs.mask(), inputs.count(), static_cast<U>(rule.largest_number)};
}

template <class U>
__global__ void __launch_bounds__(threads) find_first(const words<U> from, unsigned long long* first) {
  const std::uint64_t turn = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < from.count; i += turn) {
    if (*static_cast<volatile unsigned long long*>(first) < i) return;
    if (!from.takes_part(i)) continue;
    atomicMin(first, static_cast<unsigned long long>(i));
    return;
  }
}

/// What stands for absent elements: *other, or if that is null, the bits.
template <class U>
struct stand_ins {
  const U* other;
  U for_x, for_y;
};

template <class U>
__global__ void __launch_bounds__(threads)
    copy_present(const words<U> from, const stand_ins<U> absent, U* x, U* y, unsigned long long* total) {
  __shared__ unsigned found_in_block;
  if (threadIdx.x == 0) found_in_block = 0;
  __syncthreads();
  const U for_x = absent.other != nullptr ? *absent.other : absent.for_x;
  unsigned found = 0;
  const std::uint64_t tile = threads * in_flight, turn = gridDim.x * tile;
  for (std::uint64_t begin = blockIdx.x * tile + threadIdx.x; begin < from.count; begin += turn) {
    // All loads come before the tests, and these before the stores: they are in flight together.
    bool there[in_flight];
    U of_x[in_flight], of_y[in_flight];
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) {
      const std::uint64_t i = begin + k * threads;
      there[k] = i < from.count;
      if (!there[k]) continue;
      of_x[k] = from.x[i];
      of_y[k] = from.y_at(i);
      there[k] = from.is_in_mask(i);
    }
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) {
      const std::uint64_t i = begin + k * threads;
      if (i >= from.count) continue;
      const bool present = there[k] && from.is_number(of_x[k]) && from.is_number(of_y[k]);
      found += present ? 1 : 0;
      x[i] = present ? of_x[k] : for_x;
      if (from.y != nullptr) y[i] = present ? of_y[k] : absent.for_y;
    }
  }
  atomicAdd(&found_in_block, found);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(found_in_block));
}

unsigned grid(const execution& where, std::uint64_t count, unsigned in_block) {
  const std::uint64_t most = static_cast<std::uint64_t>(where.multiprocessors) * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + in_block - 1) / in_block, 1, most));
}

template <class F>
void with_word(std::size_t bytes, F f) {
  if (bytes == 1) return f(std::uint8_t());
  if (bytes == 2) return f(std::uint16_t());
  if (bytes == 4) return f(std::uint32_t());
  f(std::uint64_t());
}

}  // namespace

void enqueue_first_present(const execution& where, const presence_rule& rule, const input_views& inputs,
                           std::uint64_t* first) {
  with_word(rule.element_bytes, [&]<class U>(U) {
    find_first<U><<<grid(where, inputs.count(), threads), threads, 0, where.stream>>>(
        words_of<U>(rule, inputs), reinterpret_cast<unsigned long long*>(first));
  });
  check(cudaGetLastError(), "launching the search for an element that takes part");
}

void enqueue_copy_present(const execution& where, const presence_rule& rule, const input_views& inputs,
                          const void* other, void* x, void* y, std::uint64_t* present) {
  with_word(rule.element_bytes, [&]<class U>(U) {
    const stand_ins<U> absent{static_cast<const U*>(other), static_cast<U>(rule.in_place[0][0]),
                              static_cast<U>(rule.in_place[1][0])};
    copy_present<U><<<grid(where, inputs.count(), threads * in_flight), threads, 0, where.stream>>>(
        words_of<U>(rule, inputs), absent, static_cast<U*>(x), static_cast<U*>(y),
        reinterpret_cast<unsigned long long*>(present));
  });
  check(cudaGetLastError(), "launching a copy of the elements that take part");
}

}  // namespace fanin::cuda
