// SPDX-License-Identifier: Apache-2.0
// The kernel that merges the states of each result and writes the value. A single result is a batch of one.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/fold/add_to_result.cuh"
#include "backends/cuda/fold/ending.hpp"
#include "backends/cuda/fold/merge_chunks.cuh"
#include "backends/cuda/presence/presence_counts.hpp"
#include "backends/cuda/runtime/words.cuh"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {

/// The states of a launch, which the kernel reads from batch_output::states.
struct state_source {
  state_form form;
  std::size_t stride;  ///< bytes from one state to the next
  const void* merged;  ///< null, or a state in which others are merged already
};

/// The use of merged states.
struct finish_target {
  ending end;
  unsigned word_bytes, words;  ///< a result consists of words of that size
  bool adds;                   ///< the states are added to the results
  bool takes_short_ends;       ///< values of a batch are written, which the ends of short sums give
  /// A result that is no part of a batch is a device_result. It has all `count` elements, unless `present` is not
  /// null.
  bool is_single;
  void* merged;         ///< null, or where merged states go in place of results
  std::int64_t* lanes;  ///< null, or where the lanes of a single exact sum over `count` elements go
  stand_in absent;
  std::uint64_t count;
  const presence_counts* present;
};

/// Whether the ends of short sums give the value of an operation.
inline bool has_short_end(const operation_row& row) {
  return power_of(row) > 0 || row.adds == summand::products || row.adds == summand::deviations;
}

/// The end of an operation whose results have numbers of the type `result`. `ended_as`: ended_as() of its recipe.
inline finish_target target_of(operation what, element_type type, element_type result, operation ended_as) {
  finish_target target{};
  const auto ddof = static_cast<unsigned>(least_count(ended_as) > 1 ? 1 : 0);
  target.takes_short_ends = has_short_end(row_of(what));
  const operation_row& row = row_of(ended_as);
  target.end = {ended_as, row.adds, row.value, ddof, result, format_of(result), rule_of(what, type)};
  with_result_type(what, result, [&]<class R>() {
    target.word_bytes = alignof(R);
    target.words = sizeof(R) / alignof(R);
  });
  return target;
}

namespace tuning {
inline constexpr int finish_threads = 128;
/// Blocks on a multiprocessor. The short ends of exact sums and of moments wait for one instruction after another,
/// and are found with few registers.
template <class M>
inline constexpr int finish_blocks = has_scaled<M> || has_moments<M> ? 8 : 1;
}  // namespace tuning

inline __device__ void store_value(const batch_output& out, const finish_target& target, std::uint64_t result,
                                   const finished_bits& value) {
  for (unsigned i = 0; i < target.words; ++i) {
    store_word(out.results, target.word_bytes, result * target.words + i, value.part[i]);
  }
}

/// Writes a value as a device_result, or as write_result() writes one of a type that it knows. A function of its own,
/// which all kernels call.
static __device__ __noinline__ void write_bits(const batch_output& out, const finish_target& target,
                                               std::uint64_t result, std::uint64_t present, finished_bits value) {
  if (target.is_single) {
    store_word(out.results, target.word_bytes, target.words, value.overflowed ? 1 : 0);
  } else if (takes_empty(out, result, present, value.overflowed)) {
    for (unsigned i = 0; i < target.words; ++i) value.part[i] = load_word(out.empty, target.word_bytes, i);
  } else if (out.sorted_places != nullptr && present >= out.least) {
    value.part[1] = out.sorted_places[out.group_offsets[result] + value.part[1]];
  }
  store_value(out, target, result, value);
}

/// Writes the number of a result of a batch.
inline __device__ void write_number(const batch_output& out, const finish_target& target, std::uint64_t result,
                                    std::uint64_t present, std::uint64_t bits) {
  if (present < out.least) return write_bits(out, target, result, present, bits_of_value(bits));
  store_word(out.results, target.word_bytes, result, bits);
}

/// An earlier result, a number of `bytes` bytes, as a number of type T. A float may have been a narrow one.
template <class T>
__device__ T earlier_result(const batch_output& out, unsigned bytes, std::uint64_t result) {
  T found;
  const auto read = [&]<class R>(R) { found = static_cast<const R*>(out.results)[result]; };
  if (std::is_same_v<T, float> && bytes == 1) {
    with_format<std::uint8_t>(out.result, read);
  } else if (std::is_same_v<T, float> && bytes == 2) {
    with_format<std::uint16_t>(out.result, read);
  } else {
    read(T());
  }
  return found;
}

/// Adds elements whose state is `s` to a result.
template <class M>
__device__ void add_elements(const batch_output& out, const finish_target& target, std::uint64_t result,
                             std::uint64_t present, typename M::state& s) {
  if constexpr (is_keyed<M>) {
    add_keys_to_result<M>(out, result, present, s);
  } else {
    constexpr method how = served_by<M>::how;
    with_operation<typename M::element, how>(target.end.what, ends_with<M>(), [&](auto one) {
      using Recipe = decltype(one);
      if constexpr (row_of(Recipe::what).takes_results) {
        if constexpr (how != method::exact) {
          with_unrounded<Recipe>(target.end.result,
                                 [&]<class R>(R) { add_to_result<Recipe, R>(out, result, present, s); });
        } else if (takes_elements(out, present)) {
          with_exact_number<Recipe>(target.end.result, [&]<class R>(R) {
            const auto& all = with_result_added<Recipe>(s, earlier_result<R>(out, target.word_bytes, result));
            store_value(out, target, result,
                        exact_bits<recipe<Recipe::what, how, R>>(all, present + 1, target.end.to));
          });
        }
      }
    });
  }
}

template <class State>
inline constexpr bool has_lanes = false;
template <class T, int Power>
inline constexpr bool has_lanes<basic_exact_accumulator<T, Power>> = true;
/// Writes the lanes of an exact sum. A merged state of a batch does not count its elements.
template <class State>
__device__ __noinline__ void write_lanes(const State& s, const finish_target& target) {
  s.to_lanes(std::span<std::int64_t, State::lane_count>(target.lanes, State::lane_count));
  std::int64_t* const counters = target.lanes + State::sum_type::limb_count;
  counters[0] = static_cast<std::int64_t>(target.count);
  counters[1] = 0;
}

/// Ends a result whose merged state is `s`, as the target says. `present` is the number of its elements, in a batch.
template <class M>
__device__ void end_result(const batch_output& out, const finish_target& target, std::uint64_t result,
                           std::uint64_t present, typename M::state& s) {
  if (target.merged != nullptr) {
    static_cast<typename M::state*>(target.merged)[result] = s;
    return;
  }
  if constexpr (has_lanes<typename M::state>) {
    if (target.lanes != nullptr) return write_lanes(s, target);
  }
  presence_counts found{0, present};
  std::uint64_t count = present;
  if (target.is_single) {
    found = target.present != nullptr ? *target.present : presence_counts{0, target.count};
    if (found.present == 0) s = M::identity();  // zeros that stand for elements have a sign
    count = finished_count(target.absent, target.count, found.present);
  }
  if (target.adds) return add_elements<M>(out, target, result, count, s);
  finished_bits value = finished_value<M>(s, count, target.end);
  if constexpr (requires { s.index; }) {
    if (found.present > 0) value.part[1] += found.first;
  }
  write_bits(out, target, result, count, value);
}

/// Merges states of few words. Returns true if the result is written, otherwise the exact sum is merged into `s`.
template <class M, class P = scaled_t<M>>
__device__ bool finish_scaled(typename M::state& s, std::uint64_t& present, const batch_output& out,
                              const finish_target& target, const chunks_of_result& chunks, std::uint64_t result) {
  const auto* const states = static_cast<const typename P::state*>(out.states);
  typename P::state sum = P::identity();
  merge_chunks<P>(
      sum, present, out, chunks, [&](std::uint64_t k) -> const auto& { return states[k]; });
  const bool fits = chunks.thread > 0 || (sum.fits() && present <= P::most_elements);
  const bool all_fit = __all_sync(~0u, fits);
  if (all_fit && target.takes_short_ends) {
    if (chunks.is_mine) write_bits(out, target, result, present, scaled_bits<M>(sum, present, target.end));
    return true;
  }
  if (all_fit) {
    if (chunks.is_mine) merge_scaled<M, P>(s, sum, present);
  } else {
    const auto* const exact = static_cast<const typename M::state*>(out.exact_states);
    merge_wide_chunks<M>(s, present, out, chunks, [&](std::uint64_t k) {
      states[k].fits() ? merge_scaled<M, P>(s, states[k], out.present[k]) : merge_wide<M>(s, exact[k]);
    });
  }
  return false;
}

/// Merges the states of chunks and ends the result. All threads of the warp call it. Not inlined: there are two
/// calls.
template <class M>
__device__ __noinline__ void finish_chunks(const batch_output& out, const state_source& from,
                                           const finish_target& target, const chunks_of_result& chunks,
                                           std::uint64_t result) {
  typename M::state s = M::identity();
  std::uint64_t present = 0;
  bool is_merged = false;
  if constexpr (has_scaled<M>) {
    if (from.form == state_form::scaled) {
      if (finish_scaled<M>(s, present, out, target, chunks, result)) return;
      is_merged = true;
    }
  }
  if (!is_merged) {
    const auto* const states = static_cast<const std::byte*>(out.states);
    if (from.merged != nullptr) s = *static_cast<const typename M::state*>(from.merged);
    with_state<M>(from.form, [&]<class State>() {
      merge_chunks<M>(s, present, out, chunks, [&](std::uint64_t k) -> const State& {
        return *reinterpret_cast<const State*>(states + k * from.stride);
      });
    });
  }
  if (chunks.is_mine) end_result<M>(out, target, result, present, s);
}

/// Writes the result of a few chunks, which the caller merges alone. Returns false, and does nothing, if a state does
/// not fit.
template <class M, class P = scaled_t<M>>
__device__ bool finish_alone(const batch_output& out, const finish_target& target, std::uint64_t first,
                             std::uint64_t count, std::uint64_t result) {
  const auto* const states = static_cast<const typename P::state*>(out.states) + first;
  typename P::state sum = states[0];
  std::uint64_t present = out.present[first];
#pragma unroll 1
  for (std::uint64_t k = 1; k < count; ++k) {
    P::merge(sum, states[k]);
    present += out.present[first + k];
  }
  if (!sum.fits() || present > P::most_elements) return false;
  write_number(out, target, result, present, scaled_bits<M>(sum, present, target.end).part[0]);
  return true;
}

/// Writes a result of the moments in state k. Returns false, and does nothing, if doubles do not decide the result.
template <class M>
__device__ bool finish_moments(const batch_output& out, const state_source& from, const finish_target& target,
                               std::uint64_t k, std::uint64_t result) {
  typename M::state s;
  with_state<M>(from.form, [&]<class State>() {
    const std::byte* const place = static_cast<const std::byte*>(out.states) + k * from.stride;
    s = static_cast<typename M::state>(*reinterpret_cast<const State*>(place));
  });
  const std::uint64_t present = out.present[k];
  std::uint64_t bits;
  if (!decide_by_doubles(s, present, target.end, bits)) return false;
  write_number(out, target, result, present, bits);
  return true;
}

/// Writes the results of long segments. A single thread writes a result of few chunks. All threads of a
/// warp together write a result of many chunks.
template <class M>
__device__ void finish_long(const batch_elements& all, const batch_output& out, const state_source& from,
                            const finish_target& target) {
  constexpr unsigned few = 4, warps_of_block = tuning::finish_threads / 32;
  const unsigned thread = threadIdx.x % 32;
  const std::uint64_t results = long_count(all), warps = std::uint64_t{gridDim.x} * warps_of_block;
  const std::uint64_t per_warp = ::min(results / warps + 1, std::uint64_t{32});
  std::uint64_t begin = (std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / 32) * per_warp;
  for (; begin < results; begin += warps * per_warp) {
    std::uint64_t result = 0, first = 0, chunks = 0;
    bool is_done = true;
    if (thread < per_warp && begin + thread < results) {
      const long_segments::entry& mine = all.entries[begin + thread];
      result = mine.segment;
      first = mine.first_chunk;
      chunks = chunk_count(mine.length, all.least_chunk);
      is_done = chunks <= few && finish_alone<M>(out, target, first, chunks, result);
    }
    for (unsigned left = __ballot_sync(~0u, !is_done); left != 0; left &= left - 1) {
      const unsigned of = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      finish_chunks<M>(out, from, target,
                       {__shfl_sync(~0u, first, of), __shfl_sync(~0u, chunks, of), thread, 32, thread == 0},
                       __shfl_sync(~0u, result, of));
    }
  }
}

/// Ends a single result, or results of batches as enqueue_finish_each() says. `group_size` threads, a power of two
/// up to 32, merge the chunks of a result.
template <class M>
__global__ void __launch_bounds__(tuning::finish_threads, tuning::finish_blocks<M>)
    finish_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ batch_output out,
                  const __grid_constant__ state_source from, const __grid_constant__ finish_target target,
                  unsigned group_size) {
  device_code::overlap_with_next_launch();
  if constexpr (has_scaled<M>) {
    if (all.only_long && target.takes_short_ends) return finish_long<M>(all, out, from, target);
  }
  const std::uint64_t results = all.only_long ? long_count(all) : all.results;
  const unsigned thread = threadIdx.x % group_size, at_turn = blockDim.x / group_size;
  for (std::uint64_t turn = blockIdx.x; turn * at_turn < results; turn += gridDim.x) {
    const std::uint64_t i = turn * at_turn + threadIdx.x / group_size;
    std::uint64_t result = all.first + i, first = i, chunks = 1;
    bool is_result = i < results;
    if (!is_result) {
    } else if (all.kind == layout::rows) {
      first = i * all.chunks;
      chunks = all.chunks;
    } else if (all.only_long) {
      result = all.entries[i].segment;
      first = all.entries[i].first_chunk;
      chunks = chunk_count(all.entries[i].length, all.least_chunk);
    } else {
      is_result = place_of_segment(all, result).length <= all.most_short;
    }
    if constexpr (has_scaled<M>) {
      if (group_size == 1 && is_result && from.form == state_form::scaled && target.takes_short_ends) {
        is_result = !finish_alone<M>(out, target, first, chunks, result);
      }
      if (!__any_sync(~0u, is_result)) continue;
    } else if constexpr (has_moments<M>) {
      const bool is_direct = group_size == 1 && target.takes_short_ends;
      if (is_direct && is_result) is_result = !finish_moments<M>(out, from, target, i, result);
      if (is_direct && !__any_sync(~0u, is_result)) continue;
    }
    finish_chunks<M>(out, from, target, {first, is_result ? chunks : 0, thread, group_size, is_result && thread == 0},
                     result);
  }
}

}  // namespace fanin::cuda
