// SPDX-License-Identifier: Apache-2.0
// A batch as kernels walk it. The order of additions within a result depends on the number of its elements alone.
// A result of more than chunk_elements() is cut into chunks. The vectors of a chunk, of 16 bytes each, are dealt
// out to 32 slots. The states of the slots are merged by halving their number, and so are the states of the
// chunks.
#pragma once

#include <cstdint>

#include <fanin/batch.hpp>
#include <fanin/compiler.hpp>

#include "backends/cuda/batch/group_numbers.hpp"
#include "backends/cuda/keys.hpp"

namespace fanin::cuda {

inline constexpr unsigned chunk_slots = 32;
inline constexpr std::uint64_t most_chunks = 2048;
/// Whether a state is wide, as the states of exact accumulators are. One thread then folds a whole chunk.
FANIN_HOST_DEVICE constexpr bool is_wide_state(std::size_t bytes) { return bytes > 64; }
constexpr std::uint64_t least_chunk_of(std::size_t state_bytes) { return is_wide_state(state_bytes) ? 256 : 4096; }

/// The elements in each chunk, but the last, of a result of `length` elements: `least`, or else a multiple of it.
FANIN_HOST_DEVICE FANIN_NOINLINE constexpr std::uint64_t chunk_elements(std::uint64_t length, std::uint64_t least) {
  return length <= least * most_chunks ? least : (length - 1) / (least * most_chunks) * least + least;
}
/// The number of chunks of a result of `length` elements, at least 1.
FANIN_HOST_DEVICE FANIN_NOINLINE constexpr std::uint64_t chunk_count(std::uint64_t length, std::uint64_t least) {
  return length <= least ? 1 : (length - 1) / chunk_elements(length, least) + 1;
}

/// Whether kernels round exact sums of T to T themselves, where the caller wants that. Formats of 8 bits have no NaN
/// left that could mark a result.
template <class T>
inline constexpr bool is_rounded_in_batches = narrow_float<T> && sizeof(T) == 2;

/// The facts that kernels find out about a batch. They are in device memory, and 0 before the kernels run. Where none
/// is read afterwards, they may be those of an earlier batch.
struct batch_status {
  /// ~i for the first result i that overflowed, or that has too few elements, or 0.
  unsigned long long overflowed, too_few;
  /// ~i for the first segment i whose offsets are wrong, or the first key i that is of no group, or 0.
  unsigned long long bad_index;
  unsigned long long longest;  ///< the elements of the longest segment
  unsigned long long absent;   ///< elements that did not take part
  unsigned long long unfit;    ///< the call in which a state of few words did not fit last (scaled_sum.cuh)
};

/// The segments that one launch finds and leaves to a second launch. These are the segments of several chunks. If
/// there is a kernel for short segments, these are all segments that are not short.
struct long_segments {
  static constexpr int chunk_bits = 40;
  static constexpr std::uint64_t most = (std::uint64_t{1} << (64 - chunk_bits)) - 1;  ///< segments that are counted
  /// The number of segments in the bits from chunk_bits up, and the number of their chunks below. So one atomic
  /// operation counts both.
  unsigned long long counts;
  struct entry {
    std::uint64_t segment, first_chunk, begin, length;
    unsigned folded_chunks;  ///< the warp that folds the last chunk may merge the states of all
  };
};

/// The elements of the results first, ..., first + results - 1.
struct batch_elements {
  const void* x;
  const void* y;      ///< equal to x if the operation has one input
  const void* x_end;  ///< behind the last element that belongs to a result
  const void* y_end;
  layout kind;
  bool partial;  ///< elements may be absent
  std::uint64_t first, results;
  std::uint64_t least_chunk;  ///< the most elements of a result of one chunk

  /// The next members describe rows. The axes have the order that batch::axes has: kept ones come first.
  std::uint64_t length, chunk, chunks;
  unsigned kept, reduced;
  array_axis axes[most_axes];

  /// The next members describe segments of an array of `count` elements.
  const void* offsets;
  bool has_wide_offsets;  ///< offsets have 64 bits
  std::uint64_t count;
  std::uint64_t most_short;  ///< the most elements of a segment that is not left to the second launch
  long_segments* longs;
  long_segments::entry* entries;
  unsigned* entry_of_chunk;  ///< for each chunk of a long segment, where short segments have their own kernel
  bool only_long;            ///< the chunks of long segments are folded, otherwise the other segments

  mask_view mask;
  std::uint64_t largest_number;  ///< presence_rule
  element_rule rule;

  group_numbers keys;  ///< of each element, if groups are sorted
};

/// The memory for the results, or for the states of their chunks.
struct batch_output {
  /// Null, or memory for the states of all chunks, in the order of the results, and for the numbers of their elements
  /// that take part. If only long segments are folded, the chunks are the chunks of long segments.
  void* states;
  std::uint64_t* present;
  /// Null, or memory for the states of the chunks of long segments whose kernel merges these states itself.
  void* partials;
  /// Memory for states of exact accumulators, for sums that do not fit into the few words of the states in
  /// `states`.
  void* exact_states;
  /// Memory for the results, from result 0 on. Their type is a result type of the operation.
  void* results;
  bool has_type_of_elements;  ///< results have the elements' type, though their default type is wider
  element_type result;        ///< the type of a result's number
  sum_value value;            ///< what becomes of sums
  element_rule rule;
  std::uint64_t least;  ///< elements that have a value
  /// These two are not null for groups whose results have indices. They are the places of elements in the input,
  /// in the order of keys, and the number of elements before each group.
  const std::uint32_t* sorted_places;
  const std::uint32_t* group_offsets;
  bool has_empty;  ///< `empty` is the result of too few elements
  alignas(16) std::byte empty[32];
  batch_status* status;
  unsigned long long call;  ///< the number of this call among those of the context, from 1 on
};

}  // namespace fanin::cuda
