// SPDX-License-Identifier: Apache-2.0
// Merging the states of the chunks of a result, by threads of a warp.
#pragma once

#include <cstdint>
#include <type_traits>

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/elements.hpp"

namespace fanin::cuda {

/// The elements of chunk k that take part, in a batch.
inline __device__ std::uint64_t present_of(const batch_output& out, std::uint64_t k) {
  return out.present != nullptr ? out.present[k] : 0;
}

/// The chunks from number `first` on of a result. `threads` neighbouring threads of a warp merge the chunks, and the
/// caller is thread `thread` of them. Thread 0 writes the result.
struct chunks_of_result {
  std::uint64_t first, count;
  unsigned thread, threads;
  bool is_mine;
};

template <class M>
inline constexpr bool has_wide_states = is_wide_state(sizeof(typename M::state));
/// Merges a state into `s`. A function of its own if states are wide: its code is long.
template <class M, class State>
__device__ __noinline__ void merge_wide(typename M::state& s, const State& other) {
  if constexpr (std::is_same_v<State, typename M::state>) {
    M::merge(s, other);
  } else {
    M::merge(s, static_cast<typename M::state>(other));
  }
}
/// Merges the wide state of the thread that is `distance` above into `s`.
template <class M>
__device__ __noinline__ void merge_wide_shifted(typename M::state& s, unsigned distance) {
  M::merge(s, device_code::shuffle_down(s, distance));
}

/// Calls merge_chunk(k) for all chunks k, which merges the wide state of the chunk into `s`. In the first of the
/// threads `s` is then the merge of all states, and `present` is the number of their elements.
template <class M, class MergeChunk>
__device__ void merge_wide_chunks(typename M::state& s, std::uint64_t& present, const batch_output& out,
                                  const chunks_of_result& chunks, const MergeChunk& merge_chunk) {
  present = 0;
#pragma unroll 1
  for (std::uint64_t k = chunks.first + chunks.thread; k < chunks.first + chunks.count; k += chunks.threads) {
    merge_chunk(k);
    present += present_of(out, k);
  }
#pragma unroll 1
  for (unsigned distance = chunks.threads / 2; distance > 0; distance /= 2) {
    merge_wide_shifted<M>(s, distance);
    present += device_code::shuffle_down(present, distance);
  }
}

/// Merges the states state_of(k) of all chunks k into `s`, and adds up the numbers of their elements, in the first
/// of the threads.
template <class M, class StateOf>
__device__ void merge_chunks(typename M::state& s, std::uint64_t& present, const batch_output& out,
                             const chunks_of_result& chunks, const StateOf& state_of) {
  if constexpr (has_wide_states<M>) {
    merge_wide_chunks<M>(s, present, out, chunks, [&](std::uint64_t k) { merge_wide<M>(s, state_of(k)); });
  } else {
    using state = std::remove_cvref_t<decltype(state_of(0))>;
    struct chunk {
      state found;
      std::uint64_t present;
    };
    constexpr unsigned at_once = sizeof(state) <= 16 ? 8 : 1;
    present = 0;
    device_code::for_each_loaded<at_once>(
        [&](std::uint64_t k) -> chunk {
          return {state_of(chunks.first + k), present_of(out, chunks.first + k)};
        },
        chunks.thread, chunks.count, chunks.threads,
        [&](const chunk& one, std::uint64_t) {
          M::merge(s, static_cast<typename M::state>(one.found));
          present += one.present;
        });
#pragma unroll 1
    for (unsigned distance = chunks.threads / 2; distance > 0; distance /= 2) {
      M::merge(s, device_code::shuffle_down(s, distance));
      present += device_code::shuffle_down(present, distance);
    }
  }
}

/// Merges the exact sum of a state that fits into `s`. Its code is long.
template <class M, class P>
__device__ __noinline__ void merge_scaled(typename M::state& s, const typename P::state& sum, std::uint64_t present) {
  M::merge(s, P::template total<typename M::state>(sum, present));
}

}  // namespace fanin::cuda
