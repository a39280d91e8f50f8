// SPDX-License-Identifier: Apache-2.0
// The window of a call, elements outside of it, and sums when they are finished.
#pragma once

#include "backends/cuda/batch/group_sums.cuh"
#include "backends/cuda/batch/scaled_integer.cuh"
#include "backends/cuda/fold/add_to_result.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned window_threads = 1024, window_samples = 8, spill_threads = 256;
/// The threads of a block that writes results. The end of a wide sum reads 67 words, which takes long. If there are
/// few results, small blocks spread them over many multiprocessors; from 2^16 results on, larger blocks take no
/// longer.
constexpr unsigned result_threads(std::uint32_t groups) { return groups < 1u << 16 ? 32 : spill_threads; }
}  // namespace tuning

/// Looks at some elements. The window is up to a binade above the largest of them; and if there are several bins, the
/// kernel notes whether their keys ascend by bins. One block.
template <class T>
__global__ void __launch_bounds__(tuning::window_threads)
    choose_window(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                  const bin_map bins) {
  __shared__ unsigned largest;
  device_code::overlap_with_next_launch();
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  const std::uint64_t step = from.count / (tuning::window_threads * tuning::window_samples) + 1;
  constexpr unsigned of_infinity = 2 * detail::float_format<T>::high - 1;
  unsigned mine = 0;
  bool descends = false;
#pragma unroll
  for (unsigned k = 0; k < tuning::window_samples; ++k) {
    const std::uint64_t i = (k * tuning::window_threads + threadIdx.x) * step;
    if (i >= from.count) continue;
    const unsigned exponent = biased_exponent(from.at(i));
    if (exponent != of_infinity) mine = ::max(mine, exponent);
    if (bins.count == 1) continue;
    const std::uint64_t key = from.key(i), next = from.key(::min(i + step, from.count - 1));
    descends = descends || key >= to.groups || next >= to.groups ||
               bins.bin_of(static_cast<std::uint32_t>(key)) > bins.bin_of(static_cast<std::uint32_t>(next));
  }
  atomicMax(&largest, mine);
  const bool any_descends = __syncthreads_or(descends) != 0;
  const unsigned below = to.binades() - 2;
  if (threadIdx.x > 0) return;
  to.notes->lowest = ::min(::max(largest, below + 1) - below, of_infinity - below - 2);
  if (bins.count > 1) (any_descends ? to.notes->scattered : to.notes->in_order) = 1;
}

/// Clears the words of the windows below the first one, where they are needed.
template <class T>
__global__ void __launch_bounds__(tuning::spill_threads)
    clear_more_windows(const __grid_constant__ group_sums<T> to) {
  device_code::overlap_with_next_launch();
  if (!to.has_more_windows()) return;
  const auto count = static_cast<std::uint64_t>(to.word(window_count, 0) - to.word(1, 0));
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    to.word(1, 0)[i] = 0;
  }
}

/// Calls f(group, x) for the elements outside of the first window, which are listed, or if these are too many, for
/// the elements of the input outside of all windows.
template <class T, class F>
__device__ void for_each_spilled(const keyed_numbers<T>& from, const group_sums<T>& to, const F& f) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  if (!to.has_more_windows()) {
    for (std::uint64_t i = thread; i < to.notes->spill_count; i += threads) f(to.spills[i].group, to.spills[i].x);
    return;
  }
  const auto [lowest, binades] = to.binades_of(0, window_count - 1);
  for (std::uint64_t i = thread; i < from.count; i += threads) {
    const T x = from.at(i);
    if (x == 0 || biased_exponent(x) - lowest < binades) continue;
    const std::uint64_t key = from.key(i);
    if (key < to.groups) f(static_cast<std::uint32_t>(key), x);
  }
}

/// Notes -0 among results to which groups will be added, and NaN but the one that results have. Only such results
/// change if elements whose sum is 0 are added, so that marks have to tell whether the group has elements.
template <class Result, class T>
__device__ void note_results_that_zeros_change(const group_sums<T>& to, const batch_output& out) {
  using format = detail::float_format<Result>;
  const auto* const results = static_cast<const Result*>(out.results);
  bool found = false;
  for (std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; g < to.groups;
       g += std::uint64_t{gridDim.x} * blockDim.x) {
    const auto bits = detail::to_bits(results[g]);
    const bool is_nan = (bits & ~format::sign) > format::infinity;
    found = found || bits == format::sign || (is_nan && bits != format::quiet_nan);
  }
  if (found) to.notes->needs_marks = 1;
}

/// Gives a wide sum of 0 to each group of a spilled element. `adds`: groups will be added to results.
template <class T>
__global__ void __launch_bounds__(tuning::spill_threads)
    make_wide_sums(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                   const __grid_constant__ batch_output out, bool adds) {
  device_code::overlap_with_next_launch();
  if (adds && out.result == element_type::f64) note_results_that_zeros_change<double>(to, out);
  if (adds && out.result == element_type::f32) note_results_that_zeros_change<float>(to, out);
  for_each_spilled(from, to, [&](std::uint32_t group, T) {
    constexpr std::uint32_t claimed = group_sums<T>::number_mask;
    std::uint32_t* const mark = to.marks + group;
    if (device_code::load_relaxed(mark) != 0 || atomicCAS(mark, 0u, claimed) != 0) return;
    const unsigned number = atomicAdd(&to.notes->wide_sums, 1u);
    to.wide[number] = {};
    device_code::store_relaxed(mark, number + 1);
  });
}

/// Adds the spilled elements to the wide sums of their groups.
template <class T>
__global__ void __launch_bounds__(tuning::spill_threads)
    add_to_wide_sums(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to) {
  using format = detail::float_format<T>;
  device_code::overlap_with_next_launch();
  for_each_spilled(from, to, [&](std::uint32_t group, T x) {
    wide_sum<T>& sum = to.wide[to.marks[group] - 1];
    const auto bits = detail::to_bits(x), magnitude = bits & ~format::sign;
    const bool negative = (bits & format::sign) != 0;
    if (magnitude >= format::infinity) {
      atomicOr(&sum.special, magnitude > format::infinity ? 1u : negative ? 4u : 2u);
      return;
    }
    const auto [mantissa, exponent] = detail::unpack<T>(magnitude);
    const int position = exponent - format::low;
    auto shifted = static_cast<detail::uint128>(mantissa) << position % 32;
    for (unsigned long long* limb = sum.limb + position / 32; shifted != 0; ++limb, shifted >>= 32) {
      const auto part = static_cast<std::uint64_t>(shifted) & 0xffffffff;
      atomicAdd(limb, static_cast<unsigned long long>(negative ? 0 - part : part));
    }
  });
}

/// If elements or results need marks, marks the groups that have elements -0, and those that have other elements.
template <class T>
__global__ void __launch_bounds__(tuning::spill_threads)
    mark_groups(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to) {
  device_code::overlap_with_next_launch();
  if (to.notes->needs_marks == 0) return;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < from.count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t key = from.key(i);
    if (key >= to.groups) continue;
    std::uint32_t* const marks = to.marks + key;
    const std::uint32_t mark = detail::to_bits(from.at(i)) == detail::float_format<T>::sign
                                   ? group_sums<T>::has_minus_zero
                                   : group_sums<T>::has_number;
    if ((device_code::load_relaxed(marks) & mark) == 0) atomicOr(marks, mark);
  }
}

/// Whether kernels for numbers of type T also add squares.
template <class T>
inline constexpr bool has_squares = sizeof(T) == 8;

/// |sum| 2^exponent / count, rounded once to the format `to`, or if the value is a root, the root of |sum|
/// 2^exponent.
template <class T>
__device__ __noinline__ std::uint64_t rounded_window(detail::uint128 sum, int exponent, std::uint64_t count,
                                                     sum_value value, const detail::number_format& to) {
  const bool is_root = has_squares<T> && value == sum_value::root;
  if (is_root && exponent % 2 != 0) sum <<= 1, --exponent;
  std::uint32_t words[4];
#pragma unroll
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(sum), sum >>= 32;
  if (is_root) return detail::rounded_root<std::uint64_t>(words, exponent, false, to);
  // Less code runs if the compiler knows the format.
  const bool is_total = value == sum_value::total;
  if (is_total && to.digits == detail::float_format<T>::digits) {
    return detail::round_magnitude<T>(words, exponent, false);
  }
  return rounded_magnitude<std::uint64_t>(words, exponent, is_total ? 1 : count, to);
}

/// The sum of a group's elements in a window.
template <class T>
__device__ detail::int128 sum_of_window(const group_sums<T>& from, int window, std::uint64_t group) {
  return sum_of_words(from.word(window, 0), from.groups, group_window<T>::words, group);
}
/// The exponent of the unit of a window's sums.
template <class T>
__device__ int unit_of_window(const group_sums<T>& from, int window) {
  return static_cast<int>(from.binades_of(window, window).lowest + from.spare_bits) - 1 +
         detail::float_format<T>::low;
}

/// Whether all elements of a group with these marks are -0.
template <class T>
__device__ bool are_minus_zeros(std::uint32_t marks) {
  return (marks & group_sums<T>::has_minus_zero) != 0 && (marks & group_sums<T>::has_number) == 0;
}

/// The exact sum of a group that has elements.
template <class T>
__device__ __noinline__ exact_accumulator<T> state_of_group(const group_sums<T>& from, std::uint64_t group) {
  const std::uint32_t marks = from.marks[group], number = marks & group_sums<T>::number_mask;
  typename wide_sum<T>::sum::words words{};
  unsigned special = 0;
  if (number != 0) {
    const wide_sum<T>& wide = from.wide[number - 1];
    special = wide.special;
    std::int64_t carry = 0;
#pragma unroll 8
    for (int i = 0; i < wide_sum<T>::sum::limb_count; ++i) {
      const std::int64_t total = static_cast<std::int64_t>(wide.limb[i]) + carry;
      words[i] = static_cast<std::uint32_t>(total);
      carry = total >> 32;
    }
  }
  const bool numbers = !are_minus_zeros<T>(marks);
  auto state = exact_accumulator<T>::restore(words, numbers, special);
  if (!numbers) return state;
  const int used = from.has_more_windows() ? window_count : 1;
#pragma unroll 1
  for (int w = 0; w < used; ++w) state.add_scaled(sum_of_window(from, w, group), unit_of_window(from, w));
  return state;
}

/// The value of an exact sum of `count` elements.
template <class T>
__device__ __noinline__ std::uint64_t rounded_state(const exact_accumulator<T>& state, std::uint64_t count,
                                                    sum_value value, const detail::number_format& to) {
  if (value == sum_value::mean) return state.template mean<std::uint64_t>(count, to);
  const bool is_root = has_squares<T> && value == sum_value::root;
  if (!is_root || !state.finite()) return state.template round<std::uint64_t>(to);
  typename wide_sum<T>::sum::words squares;
  state.total().split(squares);
  return detail::rounded_root<std::uint64_t>(squares, detail::float_format<T>::low, false, to);
}

/// The value of a group as bits of the format `to`, and the number of its elements if they are counted.
struct value_of_group {
  std::uint64_t bits, count;
};
template <class T>
__device__ value_of_group finished_group(const group_sums<T>& from, std::uint64_t group, sum_value value,
                                         const detail::number_format& to) {
  const std::uint64_t count = from.counts != nullptr ? from.counts[group] : 0;
  const std::uint32_t marks = from.marks[group];
  if (are_minus_zeros<T>(marks)) return {to.sign, count};
  if (value == sum_value::mean && count == 0) return {0, 0};
  if ((marks & group_sums<T>::number_mask) != 0 || from.has_more_windows()) {
    return {rounded_state(state_of_group(from, group), count, value, to), count};
  }
  const detail::int128 sum = sum_of_window(from, 0, group);
  if (sum == 0) return {0, count};
  const bool negative = sum < 0;
  const auto size = negative ? -static_cast<detail::uint128>(sum) : static_cast<detail::uint128>(sum);
  return {rounded_window<T>(size, unit_of_window(from, 0), count, value, to) | (negative ? to.sign : 0), count};
}

/// Whether a group may change the result to which it is added. A group without marks changes none if its sum is 0.
template <class T>
__device__ bool may_change_result(const group_sums<T>& from, std::uint64_t group) {
  bool found = from.marks[group] != 0;
  const int used = from.has_more_windows() ? window_count : 1;
  for (int w = 0; w < used && !found; ++w) found = sum_of_window(from, w, group) != 0;
  return found;
}

/// Adds a group of elements in the first window to a result that is 0 or near the window. Returns true if the group
/// is done. False leaves the group to its state, also where the new result is 0, whose sign needs the state.
__device__ inline bool add_window(const group_sums<float>& from, std::uint64_t group, const batch_output& out) {
  constexpr unsigned most_places = 30;
  float& result = static_cast<float*>(out.results)[group];
  // All loads are here, so that none waits for another.
  const std::uint32_t marks = from.marks[group];
  const float earlier = result;
  const detail::int128 elements = sum_of_window(from, 0, group);
  if (marks != 0 || from.has_more_windows()) return false;
  if (!takes_elements(out, elements != 0)) return true;
  const unsigned exponent = biased_exponent(earlier), place = exponent - from.notes->lowest;
  const bool is_near = place < most_places && exponent < 2 * detail::float_format<float>::high - 1;
  if (earlier != 0 && !is_near) return false;
  const detail::int128 sum = elements + (earlier != 0 ? in_units(earlier, place, 0, true) : 0);
  const auto narrow = static_cast<std::int64_t>(sum);
  if (sum == 0 || narrow != sum) return false;
  // The unit is a subnormal number or more: so the product is rounded only if it is infinite.
  result = std::ldexp(static_cast<float>(narrow), unit_of_window(from, 0));
  return true;
}

/// Adds a group to its result.
template <class T, class R>
__device__ __noinline__ void add_group(const group_sums<T>& from, std::uint64_t group, const batch_output& out) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>) {
    if (add_window(from, group, out)) return;
  }
  if (!takes_elements(out, may_change_result(from, group))) return;
  auto state = state_of_group(from, group);
  add_to_result<recipe<operation::sum, method::exact, T>, R>(out, group, 1, state);
}

}  // namespace fanin::cuda
