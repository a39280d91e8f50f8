// SPDX-License-Identifier: Apache-2.0
// Results whose elements lie one after another and all take part. These are rows along the last axis, and
// segments. A group of threads folds a result. If a result has more vectors than the group has threads, all threads
// of a warp fold it.
#pragma once

#include <variant>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/row_parts.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int line_threads = 256, line_blocks = 3;  ///< threads in a block, blocks on a multiprocessor
/// The number of vectors that a thread loads before it adds the first one, for one long result and for several short
/// results.
inline constexpr int vectors_of_long = 4, vectors_of_short = 2;
/// The most vectors of a short result that a thread adds, if the order does not matter: merging large states takes
/// longer than adding vectors.
template <class A>
inline constexpr unsigned turns_of_short = A::order_free && sizeof(typename A::state) >= 16 ? 8 : 1;
}  // namespace tuning

/// The offset of element 0 of a result, and the end of the elements to fold.
struct line_place {
  std::int64_t x, y;
  std::uint64_t end;
};

/// A vector of each input, or at the end of a line the elements that are left.
template <class A, bool Pairs = accumulator::inputs_of<A>() == 2>
class part_of_line {
  using T = typename A::element;
  static constexpr int size = vector<T>::size;

 public:
  /// The elements from `position` on.
  __device__ void load(const batch_elements& all, const line_place& line, std::uint64_t position) {
    count_ = position < line.end ? static_cast<int>(::min(line.end - position, std::uint64_t{size})) : 0;
    x_.load(static_cast<const T*>(all.x) + line.x + static_cast<std::int64_t>(position), count_, all.x_end);
    if constexpr (Pairs) {
      y_.load(static_cast<const T*>(all.y) + line.y + static_cast<std::int64_t>(position), count_, all.y_end);
    }
  }
  __device__ void add_to(const batch_elements& all, typename A::state& s, std::uint64_t position) const {
    if constexpr (Pairs) {
      const auto x = read_all<A>(all, x_.get().at), y = read_all<A>(all, y_.get().at);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        if (i < count_) add_at<A>(s, position + i, x.at[i], y.at[i]);
      }
    } else {
      add_whole_or_some<A>(all, s, x_.get(), count_, position);
    }
  }

 private:
  int count_;
  part_of_row<T> x_;
  [[no_unique_address]] std::conditional_t<Pairs, part_of_row<T>, std::monostate> y_;
};

/// A thread's state of every 32nd vector of an item, from vector `warp_thread` on.
template <class A>
__device__ typename A::state fold_in_thread(const batch_elements& all, const batch_item& item, unsigned warp_thread) {
  const line_place line{item.x, item.y, item.end};
  constexpr int at_once = tuning::vectors_of_long / static_cast<int>(accumulator::inputs_of<A>());
  constexpr std::uint64_t size = vector<typename A::element>::size, stride = chunk_slots * size;
  typename A::state s = A::identity();
#pragma unroll 1
  for (std::uint64_t i = item.begin + warp_thread * size; i < line.end; i += at_once * stride) {
    part_of_line<A> part[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) part[k].load(all, line, i + k * stride);
#pragma unroll
    for (int k = 0; k < at_once; ++k) part[k].add_to(all, s, i + k * stride);
  }
  return s;
}

/// A group of `group_size` threads, a power of two up to 32, folds a line. A thread has up to turns_of_short vectors.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::line_threads, tuning::line_blocks)
    lines_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                 const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr int at_once = tuning::vectors_of_short;
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32, bits = log2_of(group_size),
                 group_thread = warp_thread & (group_size - 1), groups = 32 >> bits;
  const std::uint64_t items = item_count(all), warps = std::uint64_t{gridDim.x} * (tuning::line_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::line_threads / 32) + threadIdx.x / 32;
  const bool is_rows = all.kind == layout::rows, only_long = !is_rows && all.only_long;
  const std::uint64_t at_once_by_group = std::uint64_t{group_size} * vector<T>::size;
  const std::uint64_t most = at_once_by_group * tuning::turns_of_short<A>;  // elements that a group folds
  const bool only_by_warp = only_long || (is_rows && (all.kept > 1 || all.length > most));
  const std::int64_t x_stride = all.axes[0].stride[0], y_stride = all.axes[0].stride[1];  // the strides of rows
  std::uint64_t longest = 0;
  const unsigned at_turn = groups * (only_by_warp ? 1 : at_once);
  for (std::uint64_t first = warp * at_turn; first < items; first += warps * at_turn) {
    unsigned for_warp = 0;  // bit k: all threads of the warp fold item k of this thread's group
    if (only_by_warp) {
      for_warp = 1;
    } else {
      typename A::state s[at_once];
      part_of_line<A> part[at_once];
      unsigned mine = 0;  // bit k: the group folds its item k
      line_place line[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::uint64_t i = first + static_cast<unsigned>(k) * groups + (warp_thread >> bits),
                            result = all.first + i;
        line[k] = {static_cast<std::int64_t>(result) * x_stride, static_cast<std::int64_t>(result) * y_stride, 0};
        bool is_ours = i < items;
        if (is_ours && is_rows) line[k].end = all.length;
        if (is_ours && !is_rows) {
          const segment_place place = place_of_segment(all, result);
          longest = ::max(longest, place.length);
          line[k] = {static_cast<std::int64_t>(place.begin), static_cast<std::int64_t>(place.begin), place.length};
          is_ours = !is_left_to_others(all, result, place, write.status, group_thread == 0);
        }
        const bool fits = line[k].end <= most;
        if (is_ours) (fits ? mine : for_warp) |= 1u << k;
        if (!is_ours || !fits) line[k].end = 0;
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) s[k] = A::identity();
      std::uint64_t position = std::uint64_t{group_thread} * vector<T>::size;
#pragma unroll 1
      for (unsigned turn = 0; turn < tuning::turns_of_short<A>; ++turn, position += at_once_by_group) {
        if (turn > 0 && position >= ::max(line[0].end, line[at_once - 1].end)) break;
#pragma unroll
        for (int k = 0; k < at_once; ++k) part[k].load(all, line[k], position);
#pragma unroll
        for (int k = 0; k < at_once; ++k) part[k].add_to(all, s[k], position);
      }
#pragma unroll 1
      for (unsigned distance = group_size / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int k = 0; k < at_once; ++k) A::merge(s[k], shuffle_down(s[k], distance));
      }
#pragma unroll 1
      for (unsigned k = 0; k < at_once; ++k) {
        const std::uint64_t i = first + k * groups + (warp_thread >> bits);
        if (group_thread == 0 && (mine >> k & 1) != 0) {
          const std::uint64_t length = is_rows ? all.length : place_of_segment(all, all.first + i).length;
          write({all.first + i, 0, length, 0, 0, 0, i, 1}, 0, s[0]);
        }
#pragma unroll
        for (int other = 0; other + 1 < at_once; ++other) s[other] = s[other + 1];
      }
    }
    unsigned with_any = warp_or(for_warp);
#pragma unroll 1
    for (unsigned k = 0; with_any != 0; with_any /= 2, ++k) {
      unsigned heads = __ballot_sync(0xffffffffu, group_thread == 0 && (for_warp >> k & 1) != 0);
#pragma unroll 1
      for (; heads != 0; heads &= heads - 1) {
        const unsigned head = static_cast<unsigned>(__ffs(static_cast<int>(heads)) - 1);
        batch_item item;
        find_item(all, first + k * groups + (head >> bits), item);
        const auto s = merge_threads<A>(fold_in_thread<A>(all, item, warp_thread), 32);
        if (warp_thread == 0) write(item, 0, s);
      }
    }
  }
  if (!is_rows && !only_long) note_longest(longest, write.status);
}

}  // namespace fanin::cuda
