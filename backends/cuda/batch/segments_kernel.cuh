// SPDX-License-Identifier: Apache-2.0
// Lines at any alignment, whose elements all take part: segments, and rows along the last axis that begin anywhere. A
// warp copies neighbouring lines into shared memory, where groups of threads fold short ones, and all threads
// of the warp together longer ones. What does not fit there is folded where it lies, and so are the chunks of long
// lines.
#pragma once

#include <bit>

#include <cuda_pipeline.h>

#include <fanin/cuda/atomic.cuh>

#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/row_parts.cuh"
#include "backends/cuda/batch/warp_lines.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int segment_threads = 256;
inline constexpr unsigned stage_vectors = 256;  ///< vectors of a warp in shared memory
template <class A>
inline constexpr int segment_blocks = fills_registers<A> ? 3 : 4;  ///< blocks on a multiprocessor
}  // namespace tuning

/// The most elements of a segment that fits into a warp's shared memory at any alignment.
template <class T>
inline constexpr std::uint64_t most_short_segment = (tuning::stage_vectors * 16 - 128) / sizeof(T);

/// Loads the vector at any place in shared memory, from the aligned vectors around it: with single words, threads
/// that load vectors of neighbouring lines would want the same banks.
template <class T>
__device__ vector<T> shared_vector(const std::byte* from) {
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 16);
  const auto* const aligned = reinterpret_cast<const uint4*>(from - shift);
  uint4 second{};
  if (shift != 0) second = aligned[1];
  return vector_at<T>(aligned[0], second, shift);
}

/// Copies the elements x[0], ..., x[count - 1] into `stage`, at the same distance from a vector's boundary, which is
/// returned in bytes. All threads of the warp call it.
template <class T>
__device__ unsigned stage_elements(uint4* stage, const T* x, unsigned count, const void* end, unsigned warp_thread) {
  const auto address = reinterpret_cast<std::uintptr_t>(x);
  const unsigned skew = static_cast<unsigned>(address % 128);
  const auto* const aligned = reinterpret_cast<const uint4*>(address - skew);
  const unsigned wanted = (skew + count * static_cast<unsigned>(sizeof(T)) + 15) / 16;
  const auto whole = static_cast<unsigned>(
      ::min(std::uint64_t{wanted}, (reinterpret_cast<std::uintptr_t>(end) - (address - skew)) / 16));
  __syncwarp();
  for (unsigned j = skew / 16 + warp_thread; j < whole; j += 32) __pipeline_memcpy_async(stage + j, aligned + j, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (whole < wanted) {  // the input ends within the last vector
    const unsigned first = whole * 16 <= skew ? 0 : (whole * 16 - skew) / static_cast<unsigned>(sizeof(T));
    for (unsigned i = first + warp_thread; i < count; i += 32) {
      reinterpret_cast<T*>(reinterpret_cast<std::byte*>(stage) + skew)[i] = x[i];
    }
  }
  __syncwarp();
  return skew;
}

/// Segments whose elements a warp has in shared memory, from `elements` on. If `staged` has the thread's bit,
/// `length` elements of the thread's segment are there from `at` on.
template <class T>
struct staged_segments {
  const T* elements;
  unsigned staged, at, length;
  unsigned count;  ///< the elements of all segments
};

/// The first element of a launch's segment i or of its row i, and how many there are.
__device__ inline segment_place place_of_line(const batch_elements& all, std::uint64_t i) {
  if (all.kind != layout::rows) return place_of_segment(all, all.first + i);
  return {static_cast<std::uint64_t>(offset_of_row(all, all.first + i)), all.length, true};
}

/// Goes through the segments or rows, `per_warp`, up to 32, of a warp at a time. Short ones are staged, and what
/// fold(staged, state) has found for a thread's line is written; long segments are noted.
template <class A, class Write, class Fold>
__device__ void fold_staged(const batch_elements& all, unsigned per_warp, uint4* stage, const Write& write,
                            Fold fold) {
  using T = typename A::element;
  constexpr unsigned bytes = tuning::stage_vectors * 16;
  const unsigned warp_thread = threadIdx.x % 32, warps_of_block = blockDim.x / 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * warps_of_block;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / 32;
  std::uint64_t longest = 0;
  for (std::uint64_t first = warp * per_warp; first < all.results; first += warps * per_warp) {
    const std::uint64_t i = first + warp_thread;
    const bool exists = warp_thread < per_warp && i < all.results;
    segment_place place{0, 0, true};
    if (exists) place = place_of_line(all, i);
    longest = ::max(longest, place.length);
    const bool is_long = all.kind != layout::rows && place.length > all.most_short;
    if (__any_sync(0xffffffffu, is_long || !place.valid)) note_segments(all, all.first + i, place, write.status);
    typename A::state mine = A::identity();
    unsigned left = __ballot_sync(0xffffffffu, exists && !is_long && place.length > 0);
    while (left != 0) {
      const unsigned head = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      const std::uint64_t begin = __shfl_sync(0xffffffffu, place.begin, head);
      const T* const x = static_cast<const T*>(all.x) + static_cast<std::int64_t>(begin);
      const auto room = (bytes - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(x) % 128)) / sizeof(T);
      const bool fits =
          (left >> warp_thread & 1) != 0 && place.begin >= begin && place.begin - begin + place.length <= room;
      staged_segments<T> now;
      now.staged = __ballot_sync(0xffffffffu, fits);
      left &= ~now.staged;
      now.at = fits ? static_cast<unsigned>(place.begin - begin) : 0;
      now.length = fits ? static_cast<unsigned>(place.length) : 0;
      now.count = warp_max(now.at + now.length);
      const unsigned skew = stage_elements<T>(stage, x, now.count, all.x_end, warp_thread);
      now.elements = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(stage) + skew);
      fold(now, mine);
    }
    if (exists && !is_long) write({all.first + i, 0, place.length, 0, 0, 0, i, 1}, 0, mine);
  }
  if (all.kind != layout::rows) note_longest(longest, write.status);
}

/// All threads of the warp fold the segments that have a bit in `wide`, one after another.
template <class A>
__device__ void fold_wide(const batch_elements& all, const staged_segments<typename A::element>& now, unsigned wide,
                          unsigned warp_thread, typename A::state& mine) {
  using T = typename A::element;
  using line = form_in_lines<A>;
  constexpr unsigned size = vector<T>::size;
#pragma unroll 1
  for (; wide != 0; wide &= wide - 1) {
    const unsigned segment = static_cast<unsigned>(__ffs(static_cast<int>(wide)) - 1);
    const T* const there = now.elements + __shfl_sync(0xffffffffu, now.at, segment);
    const unsigned length = __shfl_sync(0xffffffffu, now.length, segment);
    typename line::state s = line::identity();
#pragma unroll 2
    for (unsigned of_row = 0; of_row < length; of_row += 32 * size) {
      const unsigned j = ::min(of_row + warp_thread * size, length);
      const vector<T> v = shared_vector<T>(reinterpret_cast<const std::byte*>(there + j));
      add_some<line>(all, s, v, static_cast<int>(length - j), j);
    }
    s = shuffle_from(fold_warp<line>(s), 0);
    if (warp_thread == segment) mine = state_of_line<A>(s);
  }
}

/// Writes the state of a chunk to `partials`. In the warp that does so for the last chunk of a result, returns true,
/// and the merge of all its chunks' states in the warp's first thread. All threads of the warp call it; `s` is the
/// first thread's.
template <class A, class State = typename A::state>
__device__ bool merge_chunks(State* partials, long_segments::entry& entry, const batch_item& item, State& s,
                             unsigned warp_thread) {
  bool last = false;
  if (warp_thread == 0) {
    partials[item.state] = s;
    last = count_up_to(&entry.folded_chunks, item.chunks - 1);
  }
  if (!__any_sync(0xffffffffu, last)) return false;
  __syncwarp();
  s = A::identity();
  for_each_strided<sizeof(State) <= 8 ? 8 : 4>(partials + entry.first_chunk, warp_thread, item.chunks, 32,
                                               [&](const State& other) { A::merge(s, other); });
  s = merge_threads<A>(s, 32);
  return true;
}

/// Chunk i of the rows or the long segments of a launch.
__device__ inline batch_item chunk_of_line(const batch_elements& all, std::uint64_t i) {
  if (all.kind != layout::rows) return chunk_of_long(all, all.entry_of_chunk[i], i);
  if (all.chunks == 1) {
    const auto x = static_cast<std::int64_t>(place_of_line(all, i).begin);
    return {all.first + i, 0, all.length, x, x, x, i, 1};
  }
  batch_item item;
  find_item(all, i, item);
  return item;
}

/// A warp folds each chunk of long segments, or of rows.
template <class A, class Write>
__device__ void fold_chunks(const batch_elements& all, const Write& write) {
  using T = typename A::element;
  using state = typename A::state;
  const bool is_rows = all.kind == layout::rows;
  const unsigned warp_thread = threadIdx.x % 32;
  const std::uint64_t items = is_rows ? all.results * all.chunks : long_chunks(all);
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::segment_threads / 32);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * (tuning::segment_threads / 32) + threadIdx.x / 32; i < items;
       i += warps) {
    state s;
    {
      const batch_item item = chunk_of_line(all, i);
      s = fold_slot<A>(all, static_cast<const T*>(all.x) + item.x + item.begin,
                       static_cast<unsigned>(item.end - item.begin), item.begin, all.x_end, warp_thread);
    }
    s = merge_threads<A>(s, 32);
    __syncwarp();  // The item is read again, so that it takes no registers in between.
    batch_item item = chunk_of_line(all, i);
    locate_by_warp<A>(all, s, static_cast<const T*>(all.x) + item.x, item.end, warp_thread);
    if (!adds_vectors<A> && !is_rows && write.partials != nullptr && item.chunks > 1) {  // Others may not fit.
      long_segments::entry& entry = all.entries[all.entry_of_chunk[i]];
      if (!merge_chunks<A>(static_cast<state*>(write.partials), entry, item, s, warp_thread)) continue;
      item = item_of_segment(all, item.result, i);
    }
    if (warp_thread == 0) write(item, 0, s);
  }
}

/// Folds the chunks of long lines of exact sums, whose short ones have another kernel.
template <adds_vectors A, class Write>
__global__ void __launch_bounds__(tuning::segment_threads, 3)
    long_segments_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  overlap_with_next_launch();
  fold_chunks<A>(all, write);
}

/// A group of up to `group_size` threads, 1, 2, 4 or 8, folds a line of up to 4 vectors for each thread. With
/// `group_size` 0 a warp folds each chunk of long lines.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::segment_threads, tuning::segment_blocks<A>)
    segments_kernel(const __grid_constant__ batch_elements all, unsigned group_size, unsigned per_warp,
                    const __grid_constant__ Write write) {
  using T = typename A::element;
  using line = form_in_lines<A>;
  using state = typename line::state;
  constexpr unsigned size = vector<T>::size, states = A::order_free ? 1 : 4;
  __shared__ uint4 stages[tuning::segment_threads / 32][tuning::stage_vectors + 2];  // Vectors may begin at the end.
  overlap_with_next_launch();
  if (group_size == 0) return fold_chunks<A>(all, write);
  if constexpr (packs_places<A>) static_assert(most_short_segment<T> < line::places);
  const unsigned warp_thread = threadIdx.x % 32, most_bits = log2_of(group_size);
  // Half of the threads swap neighbouring vectors, so that lines of equal length do not want the same banks.
  const unsigned swap = warp_thread / 4 % 2;
  fold_staged<A>(all, per_warp, stages[threadIdx.x / 32], write, [&](const staged_segments<T>& now, auto& mine) {
    // Groups are as small as the longest line allows, since each turn and each merge takes as long as a vector. The
    // compiler divides by the size of a group again in each turn, and so bits are shifted in place of that.
    const unsigned threads = (warp_max(now.length) + 4 * size - 1) / (4 * size);
    const unsigned bits = threads <= 1 ? 0 : ::min(static_cast<unsigned>(std::bit_width(threads - 1)), most_bits);
    const unsigned of_group = 1u << bits, groups = 32 >> bits, most = 4 * size << bits;
    const unsigned group_thread = warp_thread & (of_group - 1);
    const unsigned wide = __ballot_sync(0xffffffffu, now.length > most), narrow = now.staged & ~wide;
#pragma unroll 1
    for (unsigned turn = 0; turn < of_group; ++turn) {
      if ((narrow >> turn * groups & (~0u >> (32 - groups))) == 0) continue;
      const unsigned segment = turn * groups + (warp_thread >> bits);
      const T* const there = now.elements + __shfl_sync(0xffffffffu, now.at, segment);
      unsigned length = __shfl_sync(0xffffffffu, now.length, segment);
      if (length > most) length = 0;
      state s[states];
#pragma unroll
      for (state& one : s) one = line::identity();
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (!__any_sync(0xffffffffu, ((k & ~1u) * size << bits) < length)) continue;
        const unsigned j = ::min((group_thread + ((k ^ swap) << bits)) * size, length);
        const vector<T> v = shared_vector<T>(reinterpret_cast<const std::byte*>(there + j));
        add_some<line>(all, s[k % states], v, static_cast<int>(length - j), j);
      }
      if constexpr (states == 4) {
        line::merge(s[0], s[2]);
        line::merge(s[1], s[3]);
        const state odd = swap != 0 ? s[0] : s[1];
        if (swap != 0) s[0] = s[1];
        line::merge(s[0], odd);
      }
#pragma unroll
      for (unsigned distance = 4; distance > 0; distance /= 2) {
        if (distance < of_group) line::merge(s[0], shuffle_down(s[0], distance));
      }
      const state merged = shuffle_from(s[0], warp_thread << bits);
      if (warp_thread >> (5 - bits) == turn && (narrow >> warp_thread & 1) != 0) mine = state_of_line<A>(merged);
    }
    fold_wide<A>(all, now, wide, warp_thread, mine);
  });
}

}  // namespace fanin::cuda
