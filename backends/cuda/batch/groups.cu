// SPDX-License-Identifier: Apache-2.0
// The sort is CUB's radix sort of as many bits as the number of groups has. It moves elements of up to 8 bytes
// themselves; elements of 1 and 2 bytes only with keys of 16 bits. Other elements, pairs of elements, masks, and
// places for indices are gathered by their sorted places.
#include "backends/cuda/batch/groups.hpp"

#include <bit>
#include <limits>

#include <cub/device/device_radix_sort.cuh>

#include <fanin/cuda/check.cuh>
#include <fanin/error.hpp>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/presence/is_present.cuh"
#include "backends/cuda/runtime/words.cuh"

namespace fanin::cuda {
namespace {

constexpr unsigned group_threads = 256;

/// Writes each key, or in place of one of no group their number, and the place of its element if `places` is not
/// null. Keys of no group are noted if `status` is not null.
__global__ void __launch_bounds__(group_threads)
    read_keys(const void* __restrict__ keys, unsigned key_bytes, std::uint64_t count, std::uint32_t groups,
              std::uint32_t first_outside_key, bool drops_others, const group_numbers read, std::uint32_t* places,
              batch_status* status) {
  constexpr int at_once = 4;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * group_threads;
  unsigned long long first_outside = 0, outside = 0;
  for (std::uint64_t i0 = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; i0 < count;
       i0 += at_once * stride) {
    std::uint64_t key[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = ::min(i0 + k * stride, count - 1);
      key[k] = load_word(keys, key_bytes, i);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = i0 + k * stride;
      if (i >= count) break;
      const bool is_in_group = key[k] < first_outside_key;  // negative keys are large
      read.set(i, is_in_group ? static_cast<std::uint32_t>(key[k]) : groups);
      if (places != nullptr) places[i] = static_cast<std::uint32_t>(i);
      if (!is_in_group && outside++ == 0) first_outside = i;
    }
  }
  if (outside == 0 || status == nullptr) return;
  if (drops_others) {
    atomicAdd(&status->absent, outside);
  } else {
    atomicMax(&status->bad_index, ~first_outside);
  }
}

/// The number of sorted keys below each group, and below the number of groups.
__global__ void __launch_bounds__(group_threads)
    find_offsets(const group_numbers sorted_keys, std::uint32_t count, std::uint32_t groups, std::uint32_t* offsets) {
  for (std::uint64_t group = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; group <= groups;
       group += std::uint64_t{gridDim.x} * group_threads) {
    std::uint32_t low = 0, high = count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (sorted_keys(middle) < group) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[group] = low;
  }
}

template <class Word>
__device__ void copy_word(const void* from, std::uint32_t place, void* to, std::uint64_t i) {
  static_cast<Word*>(to)[i] = static_cast<const Word*>(from)[place];
}

/// Copies an element of so many bytes.
__device__ void copy_element(std::size_t bytes, const void* from, std::uint32_t place, void* to, std::uint64_t i) {
  switch (bytes) {
    case 1:
      return copy_word<std::uint8_t>(from, place, to, i);
    case 2:
      return copy_word<std::uint16_t>(from, place, to, i);
    case 4:
      return copy_word<std::uint32_t>(from, place, to, i);
    case 8:
      return copy_word<std::uint64_t>(from, place, to, i);
    default:
      return copy_word<uint4>(from, place, to, i);
  }
}

/// Copies the elements, and their entries in the mask, to their places in the order of keys. Null arrays are left
/// out.
__global__ void __launch_bounds__(group_threads)
    gather(const std::uint32_t* __restrict__ sorted_places, std::uint64_t count, std::size_t element_bytes,
           const void* __restrict__ x, void* sorted_x, const void* __restrict__ y, void* sorted_y,
           const mask_view mask, std::uint8_t* sorted_mask) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * group_threads + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * group_threads) {
    const std::uint32_t place = sorted_places[i];
    copy_element(element_bytes, x, place, sorted_x, i);
    if (y != nullptr) copy_element(element_bytes, y, place, sorted_y, i);
    if (sorted_mask != nullptr) sorted_mask[i] = is_in_mask(mask, place) ? 1 : 0;
  }
}

unsigned blocks_of(const execution& where, std::uint64_t threads) {
  return blocks_for(where, (threads - 1) / group_threads + 1);
}

}  // namespace

key_sort::key_sort(const array_view& index, std::size_t groups, std::size_t value_bytes)
    : index_(index),
      groups_(groups),
      value_bytes_(value_bytes),
      has_short_keys_(fits_short_keys(groups) && value_bytes < 8) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  if (index.count > most || groups > most) {
    throw unsupported("cuda reduces at most 2^32 - 2 elements to as many groups in one call");
  }
}

void key_sort::sort(const arrays& to, const void* values, std::size_t& scratch_bytes, cudaStream_t stream) const {
  const int bits = std::bit_width(groups_);
  const auto sort_with = [&]<class Key, class Value>(Key, Value) {
    check(cub::DeviceRadixSort::SortPairs(to.sort_scratch, scratch_bytes, static_cast<const Key*>(to.keys.data),
                                          static_cast<Key*>(to.sorted_keys.data), static_cast<const Value*>(values),
                                          static_cast<Value*>(to.sorted_values), index_.count, 0, bits, stream),
          "cub::DeviceRadixSort");
  };
  if (value_bytes_ == 8) return sort_with(std::uint32_t(), std::uint64_t());
  if (!has_short_keys_) return sort_with(std::uint32_t(), std::uint32_t());
  if (value_bytes_ == 4) return sort_with(std::uint16_t(), std::uint32_t());
  if (value_bytes_ == 2) return sort_with(std::uint16_t(), std::uint16_t());
  sort_with(std::uint16_t(), std::uint8_t());
}

key_sort::arrays key_sort::take_from(scratch_pieces& scratch, bool of_places) const {
  const std::size_t key_bytes = has_short_keys_ ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  arrays to{};
  to.keys = {scratch.take<void>(index_.count * key_bytes), has_short_keys_};
  to.sorted_keys = {scratch.take<void>(index_.count * key_bytes), has_short_keys_};
  if (of_places) to.places = scratch.take<std::uint32_t>(index_.count * sizeof(std::uint32_t));
  to.sorted_values = scratch.take<void>(index_.count * value_bytes_);
  to.offsets = scratch.take<std::uint32_t>((groups_ + 1) * sizeof(std::uint32_t));
  arrays measured{};
  sort(measured, nullptr, to.sort_scratch_bytes, nullptr);
  to.sort_scratch = scratch.take<void>(to.sort_scratch_bytes);
  return to;
}

void key_sort::enqueue(const arrays& to, const void* values, bool drops_others, const execution& where,
                       batch_status* status) const {
  const auto count = static_cast<std::uint32_t>(index_.count), groups = static_cast<std::uint32_t>(groups_);
  if (count > 0) {
    read_keys<<<blocks_of(where, count), group_threads, 0, where.stream>>>(
        index_.data, static_cast<unsigned>(byte_size(index_.type)), count, groups,
        first_key_of_no_group(index_.type, groups), drops_others, to.keys, to.places, status);
    std::size_t scratch_bytes = to.sort_scratch_bytes;
    sort(to, values != nullptr ? values : to.places, scratch_bytes, where.stream);
  }
  find_offsets<<<blocks_of(where, groups + std::uint64_t{1}), group_threads, 0, where.stream>>>(to.sorted_keys, count,
                                                                                                groups, to.offsets);
  check(cudaGetLastError(), "launching a sort of groups");
}

void widen_keys(const batch& groups, std::uint32_t* to, const execution& where) {
  const auto in_groups = static_cast<std::uint32_t>(groups.result_count);
  const array_view& keys = groups.index;
  if (keys.count == 0) return;
  read_keys<<<blocks_of(where, keys.count), group_threads, 0, where.stream>>>(
      keys.data, static_cast<unsigned>(byte_size(keys.type)), keys.count, in_groups,
      first_key_of_no_group(keys.type, in_groups), true, {to, false}, nullptr, nullptr);
  check(cudaGetLastError(), "launching a copy of keys");
}

group_sort::group_sort(const request& request, const batch& groups)
    : groups_(groups),
      element_bytes_(byte_size(groups.inputs.type())),
      is_indexed_(row_of(request.what).form == result_form::indexed),
      sorts_elements_(groups.inputs.size() == 1 && !groups.inputs.mask() && !is_indexed_ && element_bytes_ <= 8 &&
                      (element_bytes_ >= 4 || fits_short_keys(groups.result_count))),
      keys_(groups.index, groups.result_count, sorts_elements_ ? element_bytes_ : sizeof(std::uint32_t)) {}

group_sort::arrays group_sort::take_from(scratch_pieces& scratch) const {
  const std::size_t count = groups_.inputs.count();
  arrays to{};
  to.of_keys = keys_.take_from(scratch, !sorts_elements_);
  to.x = sorts_elements_ ? to.of_keys.sorted_values : scratch.take<void>(count * element_bytes_);
  if (groups_.inputs.size() == 2) to.y = scratch.take<void>(count * element_bytes_);
  if (groups_.inputs.mask()) to.mask = scratch.take<void>(count);
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
  const arrays to = take_from(scratch);
  const auto* const sorted_places = static_cast<const std::uint32_t*>(to.of_keys.sorted_values);
  keys_.enqueue(to.of_keys, sorts_elements_ ? inputs[0].data : nullptr, groups_.drops_others, where, out.status);
  if (count > 0 && !sorts_elements_) {
    gather<<<blocks_of(where, count), group_threads, 0, where.stream>>>(
        sorted_places, count, element_bytes_, inputs[0].data, to.x, inputs[1].data, to.y, inputs.mask(),
        static_cast<std::uint8_t*>(to.mask));
    check(cudaGetLastError(), "launching a sort of groups");
  }

  const std::size_t bytes = count * element_bytes_;
  all.x = to.x;
  all.y = to.y != nullptr ? to.y : to.x;
  all.x_end = static_cast<const std::byte*>(all.x) + bytes;
  all.y_end = static_cast<const std::byte*>(all.y) + bytes;
  if (to.mask != nullptr) all.mask = {to.mask, 0, mask_form::bytes};
  all.offsets = to.of_keys.offsets;
  all.has_wide_offsets = false;
  all.keys = to.of_keys.sorted_keys;
  if (is_indexed_) {
    out.sorted_places = sorted_places;
    out.group_offsets = to.of_keys.offsets;
  }
}

}  // namespace fanin::cuda
