// SPDX-License-Identifier: Apache-2.0
// Finds the elements of an item, which is a chunk of a result, from the number of the item.
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/exact/warp.cuh"

namespace fanin::cuda {

/// The elements begin, ..., end - 1 of a result. Its element 0 is at the offset of each input.
struct batch_item {
  std::uint64_t result;
  std::uint64_t begin, end;
  std::int64_t x, y, mask;
  std::uint64_t state;   ///< the index of its state among the states of all items
  std::uint64_t chunks;  ///< the chunks of the result
};

/// A quotient. The code of a division of 64 bits is long, and most divisions have 32 bits.
static __device__ __noinline__ std::uint64_t long_quotient(std::uint64_t x, std::uint64_t by) { return x / by; }
__device__ inline std::uint64_t quotient(std::uint64_t x, std::uint64_t by) {
  return (x | by) >> 32 == 0 ? static_cast<unsigned>(x) / static_cast<unsigned>(by) : long_quotient(x, by);
}

/// The logarithm of a power of two.
__device__ inline unsigned log2_of(unsigned power) {
  return static_cast<unsigned>(__ffs(static_cast<int>(power)) - 1);
}

/// The offsets of a place on axes.
struct axis_offsets {
  std::int64_t x = 0, y = 0, mask = 0;
  __device__ void add(const array_axis& axis, std::int64_t i) {
    x += i * axis.stride[0];
    y += i * axis.stride[1];
    mask += i * axis.mask_stride;
  }
  /// The last of the `count` axes runs fastest.
  __device__ void add_all(const array_axis* axes, unsigned count, std::uint64_t place) {
#pragma unroll 1
    for (unsigned a = count; a-- > 1;) {
      const std::uint64_t size = axes[a].count, next = quotient(place, size);
      add(axes[a], static_cast<std::int64_t>(place - next * size));
      place = next;
    }
    if (count > 0) add(axes[0], static_cast<std::int64_t>(place));
  }
};
/// The offset of a row on the kept axes of a batch. A function of its own: divisions take long code.
static __device__ __noinline__ std::int64_t offset_on_axes(const batch_elements& all, std::uint64_t row) {
  axis_offsets at;
  at.add_all(all.axes, all.kept, row);
  return at.x;
}
__device__ inline std::int64_t offset_of_row(const batch_elements& all, std::uint64_t row) {
  if (all.kept > 1) return offset_on_axes(all, row);
  return all.kept == 0 ? 0 : static_cast<std::int64_t>(row) * all.axes[0].stride[0];
}
/// Chunk `chunk` of row `row` of the launch.
__device__ inline batch_item chunk_of_row(const batch_elements& all, std::uint64_t row, std::uint64_t chunk) {
  batch_item item;
  item.result = all.first + row;
  axis_offsets at;
  at.add_all(all.axes, all.kept, item.result);
  item.x = at.x;
  item.y = at.y;
  item.mask = at.mask;
  item.chunks = all.chunks;
  item.state = row * all.chunks + chunk;
  if (all.chunks == 1) {
    item.begin = 0;
    item.end = all.length;
  } else {
    const std::uint64_t size = all.chunk;
    item.begin = chunk * size;
    item.end = item.begin + size < all.length ? item.begin + size : all.length;
  }
  return item;
}

__device__ inline std::uint64_t offset_at(const batch_elements& all, std::uint64_t i) {
  return all.has_wide_offsets ? static_cast<const std::uint64_t*>(all.offsets)[i]
                              : static_cast<const std::uint32_t*>(all.offsets)[i];
}

/// The first offset and the length of a segment; 0 elements, and false, unless its offsets ascend within the array.
struct segment_place {
  std::uint64_t begin, length;
  bool valid;
};
__device__ inline segment_place place_of_segment(const batch_elements& all, std::uint64_t segment) {
  const std::uint64_t begin = offset_at(all, segment), end = offset_at(all, segment + 1);
  const bool valid = begin <= end && end <= all.count;
  return {valid ? begin : 0, valid ? end - begin : 0, valid};
}

__device__ inline std::uint64_t long_chunks(const batch_elements& all) {
  return all.longs->counts & ((1ull << long_segments::chunk_bits) - 1);
}
__device__ inline std::uint64_t long_count(const batch_elements& all) {
  return all.longs->counts >> long_segments::chunk_bits;
}

__device__ inline std::uint64_t item_count(const batch_elements& all) {
  if (all.kind == layout::rows) return all.results * all.chunks;
  return all.only_long ? long_chunks(all) : all.results;
}

__device__ inline batch_item item_of_segment(const batch_elements& all, std::uint64_t segment, std::uint64_t state) {
  const segment_place place = place_of_segment(all, segment);
  const auto at = static_cast<std::int64_t>(place.begin);
  return {segment, 0, place.length, at, at, at, state, 1};
}

/// Chunk i of the chunks of all long segments. It belongs to entry `entry`.
__device__ inline batch_item chunk_of_long(const batch_elements& all, std::uint64_t entry, std::uint64_t i) {
  const long_segments::entry& segment = all.entries[entry];
  const std::uint64_t length = segment.length, size = chunk_elements(length, all.least_chunk);
  const std::uint64_t begin = (i - segment.first_chunk) * size;
  const auto at = static_cast<std::int64_t>(segment.begin);
  return {segment.segment, begin, ::min(begin + size, length), at, at, at, i, chunk_count(length, all.least_chunk)};
}
/// The entry of the long segment that has chunk i.
__device__ inline std::uint64_t entry_of_chunk(const batch_elements& all, std::uint64_t i) {
  std::uint64_t low = 0, high = long_count(all);
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (all.entries[middle].first_chunk <= i ? low : high) = middle;
  }
  return low;
}
/// Item i, of chunks of rows in the order of the rows. A function of its own: it is long, and all kernels call it.
static __device__ __noinline__ void find_item(const batch_elements& all, std::uint64_t i, batch_item& item) {
  if (all.kind == layout::rows) {
    const std::uint64_t row = all.chunks == 1 ? i : quotient(i, all.chunks);
    item = chunk_of_row(all, row, i - row * all.chunks);
  } else {
    item = all.only_long ? chunk_of_long(all, entry_of_chunk(all, i), i) : item_of_segment(all, all.first + i, i);
  }
}
/// Notes that a segment is long or not valid.
static __device__ __noinline__ void note_segment(const batch_elements& all, std::uint64_t segment,
                                                 batch_status* status) {
  const segment_place place = place_of_segment(all, segment);
  if (!place.valid) atomicMax(&status->bad_index, ~static_cast<unsigned long long>(segment));
  if (place.length <= all.most_short) return;
  constexpr int bits = long_segments::chunk_bits;
  const unsigned long long drawn =
      atomicAdd(&all.longs->counts, (1ull << bits) + chunk_count(place.length, all.least_chunk));
  all.entries[drawn >> bits] = {segment, drawn & ((1ull << bits) - 1), place.begin, place.length, 0};
}
/// Notes which threads of a warp have a segment that is long or not valid.
static __device__ __noinline__ void note_segments(const batch_elements& all, std::uint64_t segment,
                                                  segment_place place, batch_status* status) {
  if (!place.valid) atomicMax(&status->bad_index, ~static_cast<unsigned long long>(segment));
  const bool is_long = place.length > all.most_short;
  const auto chunks = is_long ? static_cast<unsigned>(chunk_count(place.length, all.least_chunk)) : 0;
  const unsigned warp_thread = threadIdx.x % 32, longs = __ballot_sync(0xffffffffu, is_long);
  unsigned before = chunks;  // the chunks of this thread and of the threads below
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, before, distance);
    if (warp_thread >= distance) before += below;
  }
  constexpr int bits = long_segments::chunk_bits;
  unsigned long long drawn = 0;
  if (warp_thread == 31 && longs != 0) {
    drawn = atomicAdd(&all.longs->counts, (static_cast<unsigned long long>(__popc(longs)) << bits) + before);
  }
  drawn = __shfl_sync(0xffffffffu, drawn, 31);
  const std::uint64_t first = (drawn & ((1ull << bits) - 1)) + before - chunks;
  const auto entry =
      static_cast<unsigned>(drawn >> bits) + static_cast<unsigned>(__popc(longs & ((1u << warp_thread) - 1)));
  if (is_long) all.entries[entry] = {segment, first, place.begin, place.length, 0};
  for (unsigned left = longs; left != 0; left &= left - 1) {
    const auto of = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
    const std::uint64_t first_of = __shfl_sync(0xffffffffu, first, of);
    const unsigned chunks_of = __shfl_sync(0xffffffffu, chunks, of), entry_of = __shfl_sync(0xffffffffu, entry, of);
    for (unsigned chunk = warp_thread; chunk < chunks_of; chunk += 32)
      all.entry_of_chunk[first_of + chunk] = entry_of;
  }
}
/// Whether another launch folds the segment. The one thread that `tells` notes the segment in the batch's status.
__device__ inline bool is_left_to_others(const batch_elements& all, std::uint64_t segment, const segment_place& place,
                                         batch_status* status, bool tells) {
  const bool is_long = place.length > all.most_short;
  if (tells && (is_long || !place.valid)) note_segment(all, segment, status);
  return is_long;
}
/// Notes the longest segment that this thread has seen. All threads of the warp call it, once.
__device__ inline void note_longest(std::uint64_t longest, batch_status* status) {
  const unsigned most = warp_max(static_cast<unsigned>(::min(longest, std::uint64_t{~0u})));
  if (most == 0 || static_cast<unsigned>(::min(longest, std::uint64_t{~0u})) != most) return;
  if (longest > *static_cast<volatile unsigned long long*>(&status->longest)) {
    atomicMax(&status->longest, static_cast<unsigned long long>(longest));
  }
}
/// Notes ~result unless an earlier result is noted. An atomic operation of each thread would make all threads wait
/// for one word. So a thread reads the note first.
__device__ inline void note_first(unsigned long long& noted, std::uint64_t result) {
  const unsigned long long mine = ~static_cast<unsigned long long>(result);
  if (*const_cast<const volatile unsigned long long*>(&noted) < mine) atomicMax(&noted, mine);
}
/// Whether `empty` is the result of `present` elements. Notes a result that does not fit, or has too few elements.
__device__ inline bool takes_empty(const batch_output& out, std::uint64_t result, std::uint64_t present,
                                   bool overflowed) {
  const bool has_value = present >= out.least;
  if (!has_value && out.has_empty) return true;
  if (!has_value || overflowed) note_first(has_value ? out.status->overflowed : out.status->too_few, result);
  return false;
}

}  // namespace fanin::cuda
