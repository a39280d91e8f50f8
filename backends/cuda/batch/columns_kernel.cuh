// SPDX-License-Identifier: Apache-2.0
// Results of any strides, and with elements that do not take part. Neighbouring threads fold neighbouring results, so
// that their loads meet where rows lie along another axis than the last one; other threads of the block fold the
// other slots of the same results.
#pragma once

#include <variant>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_products.cuh"
#include "backends/cuda/presence/is_present.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned column_threads = 512;
/// Vectors of elements that a thread adds at once.
template <class A>
inline constexpr unsigned vectors_of_part = !folds_terms<A> || sizeof(typename A::element) < 4 ? 1 : 2;
/// Slots of a chunk that a thread folds, with up to 32 elements in flight. If states are wide, one state is for a
/// whole chunk, or for all slots of a thread if the order means nothing.
template <class A>
inline constexpr unsigned slots_of_thread = sizeof(typename A::state) > 16 && !adds_first_words<A> ? 1
                                            : sizeof(typename A::element) >= 4                     ? 4
                                                                                                   : 2;
template <class A>
inline constexpr int column_blocks = is_wide_state(sizeof(typename A::state)) || folds_terms<A> ||
                                             (adds_first_words<A> && sizeof(typename A::state) > 32)
                                         ? 1
                                         : 2;
}  // namespace tuning

/// Whether x is no NaN that is left out.
template <class T>
__device__ bool is_number(const T& x, std::uint64_t largest_number) {
  if constexpr (complex_number<T>) {
    return is_number(x.real(), largest_number) && is_number(x.imag(), largest_number);
  } else {
    word_for<T> bits;
    std::memcpy(&bits, &x, sizeof x);
    return is_at_most(bits, static_cast<word_for<T>>(largest_number));
  }
}

/// Elements that are added at once, loaded one by one from places that are a stride apart.
template <class A>
class column_part {
  using T = typename A::element;
  static constexpr bool pairs = accumulator::inputs_of<A>() == 2;
  static constexpr unsigned vectors = tuning::vectors_of_part<A>, of_vector = vector<T>::size;
  /// Whether elements are loaded without a branch, and the last element in place of those behind it. Other
  /// accumulators need fewer registers with a branch.
  static constexpr bool loads_all = folds_terms<A> || adds_first_words<A>;

 public:
  static constexpr int size = vectors * of_vector;

  __device__ void load(const batch_elements& all, const array_axis& along, const batch_item& item, std::uint64_t j) {
    position_ = item.begin + j * size;
    const auto i = static_cast<std::int64_t>(position_);
    count_ = position_ < item.end ? static_cast<int>(::min(item.end - position_, std::uint64_t{size})) : 0;
    const T* const x = static_cast<const T*>(all.x) + item.x + i * along.stride[0];
    const T* const y = static_cast<const T*>(all.y) + item.y + i * along.stride[1];
    const bool has_two = pairs && !(folds_terms<A> && all.rule.squares);
    if (loads_all && count_ == 0) return;
#pragma unroll
    for (int k = 0; k < size; ++k) {
      if (!loads_all && k >= count_) continue;
      const int place = loads_all ? ::min(k, count_ - 1) : k;
      x_[k / of_vector].at[k % of_vector] = x[place * along.stride[0]];
      if constexpr (pairs) {
        if (has_two) y_[k / of_vector].at[k % of_vector] = y[place * along.stride[1]];
      }
    }
  }
  __device__ void add_to(const batch_elements& all, typename A::state& s) const {
    if constexpr (pairs) {
#pragma unroll
      for (int k = 0; k < size; ++k) {
        if (k < count_) add_at<A>(s, position_ + k, read<A>(all, x_[0].at[k]), read<A>(all, y_[0].at[k]));
      }
    } else {
      add_whole_or_some<A>(all, s, x_[0], count_, position_);
    }
  }
  template <class F>
  __device__ void add_to(const batch_elements& all, const array_axis& along, const batch_item& item,
                         term_window<A>& window, const F& flush) const {
    if (count_ == 0) return;
    const auto each = [&](const auto& f) {
#pragma unroll 1
      for (int k = 0; k < count_; ++k) {
        const auto i = static_cast<std::int64_t>(position_) + k;
        const auto x = read<A>(all, static_cast<const T*>(all.x)[item.x + i * along.stride[0]]);
        const auto y = read<A>(all, static_cast<const T*>(all.y)[item.y + i * along.stride[1]]);
        f(pair_of_numbers<typename A::number>(x, y));
      }
    };
    registers_of_words<T, size> x, y;
    pack(x_, A::sums::adds_numbers ? negative_zero_of<T>() : T{}, x);
    if constexpr (pairs) {
      if (!all.rule.squares) {
        pack(y_, negative_zero_of<T>(), y);
        return window.add(pairs_of_words<T, size, false>(x, y, all.rule), flush, each);
      }
    }
    window.add(pairs_of_words<T, size, true>(x, x, all.rule), flush, each);
  }

 private:
  /// Puts elements into registers. `other` goes to places without an element.
  __device__ void pack(const vector<T> (&from)[vectors], T other, registers_of_words<T, size>& to) const {
    T x[size];
#pragma unroll
    for (int k = 0; k < size; ++k) x[k] = k < count_ ? from[k / of_vector].at[k % of_vector] : other;
    std::memcpy(to, x, sizeof x);
  }
  vector<T> x_[vectors];
  [[no_unique_address]] std::conditional_t<pairs, vector<T>[vectors], std::monostate> y_;
  std::uint64_t position_;
  int count_;
};

/// The window in which A adds terms, if it does.
template <class A>
using term_window_of = typename std::conditional_t<folds_terms<A>, std::type_identity<term_window<A>>,
                                                   std::type_identity<std::monostate>>::type;

/// The state of every `slots`th vector of an item, from vector `slot` on. The axes may be any, and elements may be
/// absent. `absent` counts these.
template <class A>
__device__ typename A::state fold_one_by_one(const batch_elements& all, const batch_item& item, unsigned slot,
                                             unsigned slots, unsigned& absent) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size;
  typename A::state s = A::identity();
  std::uint64_t i = item.begin + std::uint64_t{slot} * size;
#pragma unroll 1
  while (i < item.end) {
    axis_offsets at{item.x, item.y, item.mask};
    if (all.kind == layout::rows) {
      at.add_all(all.axes + all.kept, all.reduced, i);
    } else {
      const auto distance = static_cast<std::int64_t>(i);
      at.x += distance, at.y += distance, at.mask += distance;
    }
    const T x = static_cast<const T*>(all.x)[at.x];
    bool present = is_in_mask(all.mask, static_cast<std::uint64_t>(at.mask)) && is_number(x, all.largest_number);
    if constexpr (accumulator::inputs_of<A>() == 2) {
      const T y = static_cast<const T*>(all.y)[at.y];
      present = present && is_number(y, all.largest_number);
      if (present) add_at<A>(s, i, read<A>(all, x), read<A>(all, y));
    } else {
      if (present) add_at<A>(s, i, read<A>(all, x));
    }
    if (!present) ++absent;
    if (++i % size == 0) i += std::uint64_t{slots - 1} * size;
  }
  return s;
}

/// The block has `width` threads for neighbouring results, and so for each slot, or each turn of slots_of_thread
/// slots.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::column_threads, tuning::column_blocks<A>)
    columns_kernel(const __grid_constant__ batch_elements all, unsigned width, const __grid_constant__ Write write) {
  using state = typename A::state;
  constexpr bool wide = is_wide_state(sizeof(state));
  constexpr unsigned mine = wide ? 1 : tuning::slots_of_thread<A>, states = adds_first_words<A> ? 1 : mine;
  overlap_with_next_launch();
  const unsigned column = threadIdx.x % width, slot = threadIdx.x / width, slots = blockDim.x / width;
  const bool is_rows = all.kind == layout::rows, is_linear = !all.partial && (!is_rows || all.reduced <= 1);
  array_axis along;  // the elements of a result, if they lie on one axis
  if (is_rows && all.reduced == 1) {
    along = all.axes[all.kept];
  } else {
    along.stride.fill(1);
  }
  const std::uint64_t items = is_rows ? all.results : item_count(all);
  const std::uint64_t tiles = (items + width - 1) / width, turns = is_rows ? tiles * all.chunks : tiles;
  std::uint64_t longest = 0;
  for (std::uint64_t turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const std::uint64_t i = (is_rows ? turn % tiles : turn) * width + column;
    batch_item item{};
    bool elsewhere = i >= items;
    if (!elsewhere) {
      find_item(all, is_rows ? i * all.chunks + turn / tiles : i, item);
      if (!is_rows && !all.only_long) {
        const segment_place place = place_of_segment(all, item.result);
        longest = ::max(longest, place.length);
        elsewhere = is_left_to_others(all, item.result, place, write.status, slot == 0);
      }
    }
    if (elsewhere) item.begin = item.end = 0;
    state s[states];
    unsigned absent = 0;
#pragma unroll
    for (state& one : s) one = A::identity();
    if (is_linear) {
      constexpr unsigned run = column_part<A>::size;
      const std::uint64_t runs = (item.end - item.begin + run - 1) / run;
      term_window_of<A> window;
      const auto flush = [&](const state& more) { A::merge(s[0], more); };
#pragma unroll 1
      for (std::uint64_t j = slot; j < runs; j += mine * slots) {
        column_part<A> part[mine];
#pragma unroll
        for (unsigned k = 0; k < mine; ++k) part[k].load(all, along, item, j + k * slots);
#pragma unroll
        for (unsigned k = 0; k < mine; ++k) {
          if constexpr (folds_terms<A>) {
            part[k].add_to(all, along, item, window, flush);
          } else {
            part[k].add_to(all, s[k % states]);
          }
        }
      }
      if constexpr (folds_terms<A>) window.close(flush);
    } else {
#pragma unroll 1
      for (unsigned k = 0; k < mine; ++k) {
        const state one = fold_one_by_one<A>(all, item, slot + k * slots, mine * slots, absent);
        if constexpr (states < mine) A::merge(s[0], one);
#pragma unroll
        for (unsigned other = 0; other < states && states == mine; ++other) {
          if (other == k) s[other] = one;
        }
      }
    }
#pragma unroll
    for (unsigned distance = states / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (unsigned k = 0; k < distance; ++k) A::merge(s[k], s[k + distance]);
    }
    if constexpr (!wide) {
      alignas(16) __shared__ std::byte memory[tuning::column_threads / 2 * sizeof(state)];
      __shared__ unsigned absent_of[tuning::column_threads];
      state* const others = reinterpret_cast<state*>(memory);
      if (slots > 1 && all.partial) {
        if (slot == 0) absent_of[column] = 0;
        __syncthreads();
        if (absent > 0) atomicAdd(&absent_of[column], absent);
      }
      for (unsigned distance = slots / 2; distance > 0; distance /= 2) {
        if (slot >= distance && slot < 2 * distance) others[(slot - distance) * width + column] = s[0];
        __syncthreads();
        if (slot < distance) A::merge(s[0], others[slot * width + column]);
        __syncthreads();
      }
      if (slots > 1 && all.partial) absent = absent_of[column];
    }
    if (slot == 0 && !elsewhere) write(item, absent, s[0]);
    if (slots > 1 && all.partial) __syncthreads();
  }
  if (!is_rows && !all.only_long) note_longest(longest, write.status);
}

}  // namespace fanin::cuda
