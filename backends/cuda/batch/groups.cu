// SPDX-License-Identifier: Apache-2.0
// The sort is CUB's radix sort of as many bits as the number of groups has. It moves elements of 4 and 8 bytes
// themselves. Other elements, pairs of elements, masks, and places for indices are gathered by their sorted places.
#include "backends/cuda/batch/groups.hpp"

#include <bit>
#include <limits>

#include <cub/device/device_radix_sort.cuh>

#include <fanin/cuda/check.cuh>
#include <fanin/error.hpp>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/presence/is_present.cuh"

namespace fanin::cuda {
namespace {

constexpr unsigned group_threads = 256;

/// Writes each key, or in place of one of no group their number, and the place of its element if `places` is not
/// null.
template <class Key>
__global__ void __launch_bounds__(group_threads)
    read_keys(const Key* keys, std::uint64_t count, std::uint32_t groups, bool drops_others, std::uint32_t* read,
              std::uint32_t* places, batch_status* status) {
  unsigned long long first_outside = 0, outside = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * group_threads) {
    const auto key = static_cast<std::uint64_t>(keys[i]);  // negative keys are large
    const bool is_in_group = key < groups;
    read[i] = is_in_group ? static_cast<std::uint32_t>(key) : groups;
    if (places != nullptr) places[i] = static_cast<std::uint32_t>(i);
    if (!is_in_group && outside++ == 0) first_outside = i;
  }
  if (outside == 0) return;
  if (drops_others) {
    atomicAdd(&status->absent, outside);
  } else {
    atomicMax(&status->bad_index, ~first_outside);
  }
}

/// The number of sorted keys below each group, and below the number of groups.
__global__ void __launch_bounds__(group_threads) find_offsets(const std::uint32_t* sorted_keys, std::uint32_t count,
                                                              std::uint32_t groups, std::uint32_t* offsets) {
  for (std::uint64_t group = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; group <= groups;
       group += std::uint64_t{gridDim.x} * group_threads) {
    std::uint32_t low = 0, high = count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (sorted_keys[middle] < group) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[group] = low;
  }
}

/// Copies the elements, and their entries in the mask, to their places in the order of keys. Null arrays are left
/// out.
template <class Word>
__global__ void __launch_bounds__(group_threads)
    gather(const std::uint32_t* sorted_places, std::uint64_t count, const Word* x, Word* sorted_x, const Word* y,
           Word* sorted_y, const mask_view mask, std::uint8_t* sorted_mask) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * group_threads) {
    const std::uint32_t place = sorted_places[i];
    sorted_x[i] = x[place];
    if (y != nullptr) sorted_y[i] = y[place];
    if (sorted_mask != nullptr) sorted_mask[i] = is_in_mask(mask, place) ? 1 : 0;
  }
}

/// Calls f(Word()), where Word has the size of an element.
template <class F>
void with_word(std::size_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f(std::uint8_t());
    case 2:
      return f(std::uint16_t());
    case 4:
      return f(std::uint32_t());
    case 8:
      return f(std::uint64_t());
    case 16:
      return f(uint4());
  }
}

/// Calls f(Key()), where Key is the type of the keys. i64 and u64 have the same Key.
template <class F>
void with_key(element_type type, const F& f) {
  if (byte_size(type) == 8) return f(std::uint64_t());
  if (type == element_type::i32) return f(std::int32_t());
  f(std::uint32_t());
}

}  // namespace

group_sort::group_sort(const request& request, const batch& groups)
    : groups_(groups), element_bytes_(byte_size(groups.inputs.type())) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  if (groups.inputs.count() > most || groups.result_count > most) {
    throw unsupported("cuda reduces at most 2^32 - 2 elements to as many groups in one call");
  }
  const input_views& inputs = groups.inputs;
  is_indexed_ = row_of(request.what).form == result_form::indexed;
  sorts_elements_ =
      inputs.size() == 1 && !inputs.mask() && !is_indexed_ && (element_bytes_ == 4 || element_bytes_ == 8);
}

void group_sort::sort(void* scratch, std::size_t& scratch_bytes, const arrays& to, cudaStream_t stream) const {
  const std::uint64_t count = groups_.inputs.count();
  const int bits = std::bit_width(groups_.result_count);
  const auto sort_with = [&]<class Value>(const Value* values, Value* sorted) {
    check(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, to.keys, to.sorted_keys, values, sorted, count, 0,
                                          bits, stream),
          "cub::DeviceRadixSort");
  };
  const void* const x = groups_.inputs[0].data;
  if (!sorts_elements_) {
    sort_with(to.places, to.sorted_places);
  } else if (element_bytes_ == 4) {
    sort_with(static_cast<const std::uint32_t*>(x), static_cast<std::uint32_t*>(to.x));
  } else {
    sort_with(static_cast<const std::uint64_t*>(x), static_cast<std::uint64_t*>(to.x));
  }
}

group_sort::arrays group_sort::take_from(scratch_pieces& scratch) const {
  const std::size_t count = groups_.inputs.count(), each = count * sizeof(std::uint32_t);
  arrays to{};
  to.keys = scratch.take<std::uint32_t>(each);
  to.sorted_keys = scratch.take<std::uint32_t>(each);
  if (!sorts_elements_) {
    to.places = scratch.take<std::uint32_t>(each);
    to.sorted_places = scratch.take<std::uint32_t>(each);
  }
  to.offsets = scratch.take<std::uint32_t>((groups_.result_count + 1) * sizeof(std::uint32_t));
  to.x = scratch.take<void>(count * element_bytes_);
  if (groups_.inputs.size() == 2) to.y = scratch.take<void>(count * element_bytes_);
  if (groups_.inputs.mask()) to.mask = scratch.take<void>(count);
  sort(nullptr, to.sort_scratch_bytes, to, nullptr);
  to.sort_scratch = scratch.take<void>(to.sort_scratch_bytes);
  return to;
}

std::size_t group_sort::scratch_bytes() const {
  scratch_pieces none;
  take_from(none);
  return none.taken_bytes();
}

void group_sort::enqueue(scratch_pieces& scratch, const execution& where, batch_elements& all,
                         batch_output& out) const {
  const input_views& inputs = groups_.inputs;
  const std::uint64_t count = inputs.count();
  const auto groups = static_cast<std::uint32_t>(groups_.result_count);
  arrays to = take_from(scratch);
  const auto blocks = [&](std::uint64_t threads) { return blocks_for(where, (threads - 1) / group_threads + 1); };
  if (count > 0) {
    with_key(groups_.index.type, [&]<class Key>(Key) {
      read_keys<<<blocks(count), group_threads, 0, where.stream>>>(static_cast<const Key*>(groups_.index.data), count,
                                                                   groups, groups_.drops_others, to.keys, to.places,
                                                                   out.status);
    });
    sort(to.sort_scratch, to.sort_scratch_bytes, to, where.stream);
    if (!sorts_elements_) {
      with_word(element_bytes_, [&]<class Word>(Word) {
        gather<<<blocks(count), group_threads, 0, where.stream>>>(
            to.sorted_places, count, static_cast<const Word*>(inputs[0].data), static_cast<Word*>(to.x),
            static_cast<const Word*>(inputs[1].data), static_cast<Word*>(to.y), inputs.mask(),
            static_cast<std::uint8_t*>(to.mask));
      });
    }
  }
  find_offsets<<<blocks(groups + std::uint64_t{1}), group_threads, 0, where.stream>>>(
      to.sorted_keys, static_cast<std::uint32_t>(count), groups, to.offsets);
  check(cudaGetLastError(), "launching a sort of groups");

  const std::size_t bytes = count * element_bytes_;
  all.x = to.x;
  all.y = to.y != nullptr ? to.y : to.x;
  all.x_end = static_cast<const std::byte*>(all.x) + bytes;
  all.y_end = static_cast<const std::byte*>(all.y) + bytes;
  if (to.mask != nullptr) all.mask = {to.mask, 0, mask_form::bytes};
  all.offsets = to.offsets;
  all.has_wide_offsets = false;
  all.keys = to.sorted_keys;
  if (is_indexed_) {
    out.sorted_places = to.sorted_places;
    out.group_offsets = to.offsets;
  }
}

}  // namespace fanin::cuda
