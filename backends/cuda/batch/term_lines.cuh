// SPDX-License-Identifier: Apache-2.0
// Exact sums of terms whose elements lie one after another, at any alignment: rows along the last axis, segments, and
// their chunks. A group of lanes folds several lines at once, as aligned vectors, since the order means nothing.
#pragma once

#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/merge_results.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int term_threads = 256, term_blocks = 2;  ///< threads in a block, blocks on a multiprocessor
/// How many lines a group folds at once, and how many vectors of each a lane loads and adds at once.
template <class A>
inline constexpr unsigned lines_at_once = accumulator::inputs_of<A>() == 2 ? 4 : 2;
inline constexpr unsigned vectors_of_line = 2;
}  // namespace tuning

/// The elements of a line, by their distances from an aligned vector.
template <class T>
struct term_line {
  const T* x;         ///< aligned
  const T* y;         ///< the second input: it may be at another distance from a vector
  unsigned from, to;  ///< the elements x[from], ..., x[to - 1]
  unsigned loaded;    ///< vectors that begin below x[loaded] are loaded; those behind end behind the input
  bool has_aligned_y;
};
template <class T>
__device__ term_line<T> line_of(const batch_elements& all, const batch_item& item, bool has_two) {
  const T* const x = static_cast<const T*>(all.x) + item.x + static_cast<std::int64_t>(item.begin);
  const auto skew = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T));
  term_line<T> line{x - skew, nullptr, skew, skew + static_cast<unsigned>(item.end - item.begin), 0, true};
  const auto whole = [](const void* from, const void* end) {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(end) - static_cast<const std::byte*>(from)) / 16 *
           vector<T>::size;
  };
  std::uint64_t loaded = whole(line.x, all.x_end);
  if (has_two) {
    line.y = static_cast<const T*>(all.y) + item.y + static_cast<std::int64_t>(item.begin) - skew;
    line.has_aligned_y = reinterpret_cast<std::uintptr_t>(line.y) % 16 == 0;
    if (line.has_aligned_y) loaded = ::min(loaded, whole(line.y, all.y_end));
  }
  line.loaded = static_cast<unsigned>(::min(loaded, std::uint64_t{line.to}));
  return line;
}

/// Line i of a launch.
__device__ inline batch_item line_item(const batch_elements& all, std::uint64_t i) {
  batch_item item;
  if (all.kind == layout::rows && all.kept <= 1) {
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks, begin = (i - row * all.chunks) * all.chunk;
    const auto place = static_cast<std::int64_t>(all.kept == 0 ? 0 : all.first + row);
    item = {all.first + row,
            begin,
            ::min(begin + all.chunk, all.length),
            place * all.axes[0].stride[0],
            place * all.axes[0].stride[1],
            0,
            i,
            all.chunks};
  } else if (all.kind != layout::rows && !all.only_long) {
    item = item_of_segment(all, all.first + i, i);
  } else {
    find_item(all, i, item);
  }
  return item;
}

/// The elements of a line's vector from x[at] on. What is no element of the line is `other`.
template <class T>
__device__ vector<T> vector_of_line(const term_line<T>& line, const T* x, bool aligned, unsigned at, T other) {
  constexpr unsigned size = vector<T>::size;
  vector<T> v;
#pragma unroll
  for (T& one : v.at) one = other;
  if (at >= line.loaded) return v;
  if (aligned) v = load(reinterpret_cast<const vector<T>*>(x + at));
  if (!aligned || at < line.from || at + size > line.to) {
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      const bool is_element = line.from <= at + i && at + i < line.to;
      if (!aligned && is_element) v.at[i] = __ldg(x + at + i);
      if (!is_element) v.at[i] = other;
    }
  }
  return v;
}

/// Adds a lane's vectors of Lines lines, from x[at] on; the next one is `stride` elements behind.
template <class A, bool Pairs, unsigned Lines, class T = typename A::element>
__device__ void fold_lines(const batch_elements& all, const term_line<T>* line, unsigned at, unsigned stride,
                           typename A::state* s) {
  constexpr unsigned vectors = tuning::vectors_of_line;
  vector<T> x[Lines][vectors], y[Pairs ? Lines : 1][vectors];
#pragma unroll
  for (unsigned k = 0; k < Lines; ++k) {
#pragma unroll
    for (unsigned n = 0; n < vectors; ++n) {
      x[k][n] = vector_of_line(line[k], line[k].x, true, at + n * stride, negative_zero_of<T>());
      if constexpr (Pairs) {
        y[k][n] = vector_of_line(line[k], line[k].y, line[k].has_aligned_y, at + n * stride, T{});
      }
    }
  }
#pragma unroll
  for (unsigned k = 0; k < Lines; ++k) {
    if (at < line[k].loaded) A::merge(s[k], fold_vectors<A>(all, x[k], Pairs ? y[k] : x[k]));
  }
}

/// Groups of `group_size` lanes, a power of two up to 32, fold the lines of a batch.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::term_threads, tuning::term_blocks)
    term_lines_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr bool may_have_two = accumulator::inputs_of<A>() == 2;
  constexpr unsigned size = vector<T>::size, lines = tuning::lines_at_once<A>, vectors = tuning::vectors_of_line;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32, lane_of_group = lane % group_size, groups = 32 / group_size;
  const std::uint64_t items = item_count(all), warps = std::uint64_t{gridDim.x} * (tuning::term_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::term_threads / 32) + threadIdx.x / 32;
  const bool has_two = may_have_two && !all.rule.squares;
  const bool finds_long = all.kind != layout::rows && !all.only_long;
  const auto is_long = [&](const batch_item& item) { return finds_long && item.end > all.most_short; };
  std::uint64_t longest = 0;
  for (std::uint64_t first = warp * groups * lines; first < items; first += warps * groups * lines) {
    term_line<T> line[lines];
    typename A::state s[lines];
    unsigned most = 0;
#pragma unroll
    for (unsigned k = 0; k < lines; ++k) {
      const std::uint64_t i = first + k * groups + lane / group_size;
      batch_item item{};
      if (i < items) item = line_item(all, i);
      if (finds_long && i < items) {
        longest = ::max(longest, item.end);
        const segment_place place = place_of_segment(all, item.result);
        if (is_left_to_others(all, item.result, place, write.status, lane_of_group == 0)) item.end = 0;
      }
      line[k] = line_of<T>(all, item, has_two);
      most = ::max(most, line[k].loaded);
      s[k] = A::identity();
    }
    const unsigned stride = group_size * size;
#pragma unroll 1
    for (unsigned at = lane_of_group * size; at < most; at += stride * vectors) {
      if constexpr (may_have_two) {
        if (has_two) {
          fold_lines<A, true, lines / 2>(all, line, at, stride, s);
          fold_lines<A, true, lines / 2>(all, line + lines / 2, at, stride, s + lines / 2);
          continue;
        }
      }
      fold_lines<A, false, lines>(all, line, at, stride, s);
    }
#pragma unroll
    for (unsigned k = 0; k < lines; ++k) {
      // The input ends within the last vector.
#pragma unroll 1
      for (unsigned i = ::max(line[k].loaded, line[k].from) + lane_of_group; i < line[k].to; i += group_size) {
        if constexpr (may_have_two) {
          A::add(s[k], read<A>(all, line[k].x[i]), read<A>(all, (has_two ? line[k].y : line[k].x)[i]));
        } else {
          A::add(s[k], read<A>(all, line[k].x[i]));
        }
      }
    }
    const results_of_lane mine = merge_results<A>(s, group_size, lane_of_group);
#pragma unroll 1
    for (unsigned k = 0; k < mine.count; ++k) {
      const std::uint64_t i = first + (mine.first + k) * groups + lane / group_size;
      if (mine.exist && i < items) {
        const batch_item item = line_item(all, i);
        if (!is_long(item)) write(item, 0, s[0]);
      }
#pragma unroll
      for (unsigned next = 0; next + 1 < lines; ++next) s[next] = s[next + 1];
    }
  }
  if (finds_long) note_longest(longest, write.status);
}

}  // namespace fanin::cuda
