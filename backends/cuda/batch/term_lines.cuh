// SPDX-License-Identifier: Apache-2.0
// Exact sums of terms whose elements lie one after another, at any alignment: rows along the last axis, segments, and
// their chunks. Lanes read aligned vectors, since the order means nothing.
#pragma once

#include <variant>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int term_threads = 128;  ///< threads in a block
/// Blocks on a multiprocessor.
template <class A>
inline constexpr int term_blocks = sizeof(typename A::element) == 2 && accumulator::inputs_of<A>() == 2 ? 3 : 4;
inline constexpr unsigned most_lines = 4;  ///< lines of a group whose states are merged together
/// Vectors of a line that a lane adds at once, while it loads the next ones.
template <class T>
inline constexpr unsigned vectors_of_run = sizeof(T) == 1 ? 1 : 2;
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

/// A lane's next vectors. Vectors of the second input are loaded if there is one.
template <class T, bool Pairs>
struct term_run {
  static constexpr unsigned vectors = tuning::vectors_of_run<T>;
  vector<T> x[vectors];
  [[no_unique_address]] std::conditional_t<Pairs, vector<T>[vectors], std::monostate> y;
  __device__ void load(const term_line<T>& line, unsigned at, unsigned stride) {
#pragma unroll
    for (unsigned n = 0; n < vectors; ++n) {
      x[n] = vector_of_line(line, line.x, true, at + n * stride, negative_zero_of<T>());
      if constexpr (Pairs) {
        if (line.y != nullptr) y[n] = vector_of_line(line, line.y, line.has_aligned_y, at + n * stride, T{});
      }
    }
  }
  /// Adds the products, of fewer vectors at once if there are many elements.
  template <class A>
  __device__ void add_pairs(const element_rule& rule, typename A::state& s) const requires(Pairs) {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (unsigned n = 0; n < vectors; ++n) A::merge(s, A::of_pairs(x[n].at, y[n].at, rule));
    } else {
      A::merge(s, A::of_pairs(elements_of_vectors(x).at, elements_of_vectors(y).at, rule));
    }
  }
};

/// States of a warp's lanes in shared memory, of several lines for each lane.
template <class State>
class states_of_warp {
  static_assert(sizeof(State) % 4 == 0);
  static constexpr unsigned words = sizeof(State) / 4, slots = tuning::most_lines * 32;

 public:
  using memory = unsigned[words * slots];
  __device__ explicit states_of_warp(memory& of_warp) : memory_(of_warp) {}
  __device__ void store(unsigned line, unsigned lane, const State& s) {
    unsigned word[words];
    std::memcpy(word, &s, sizeof s);
#pragma unroll
    for (unsigned i = 0; i < words; ++i) memory_[i * slots + line * 32 + lane] = word[i];
  }
  __device__ State load(unsigned line, unsigned lane) const {
    unsigned word[words];
#pragma unroll
    for (unsigned i = 0; i < words; ++i) word[i] = memory_[i * slots + line * 32 + lane];
    State s;
    std::memcpy(&s, word, sizeof s);
    return s;
  }

 private:
  memory& memory_;
};

/// Groups of `group_size` lanes, a power of two up to 32, fold the lines of a batch, several of them one after
/// another. A lane's vectors of all its lines are one sequence, so that lanes with short lines do not wait for
/// others.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::term_threads, tuning::term_blocks<A>)
    term_lines_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr bool may_have_two = accumulator::inputs_of<A>() == 2;
  using run = term_run<T, may_have_two>;
  constexpr unsigned size = vector<T>::size, warps_of_block = tuning::term_threads / 32;
  __shared__ typename states_of_warp<state>::memory memory[warps_of_block];
  overlap_with_next_launch();
  states_of_warp<state> states(memory[threadIdx.x / 32]);
  const unsigned lane = threadIdx.x % 32, lane_of_group = lane % group_size, groups = 32 / group_size;
  const unsigned lines = ::min(group_size, tuning::most_lines), stride = group_size * size;
  const std::uint64_t items = item_count(all), warps = std::uint64_t{gridDim.x} * warps_of_block;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / 32;
  const bool has_two = may_have_two && !all.rule.squares;
  const bool finds_long = all.kind != layout::rows && !all.only_long;
  std::uint64_t longest = 0;
  for (std::uint64_t first = warp * groups * lines; first < items; first += warps * groups * lines) {
    const auto item_of = [&](unsigned k) { return first + k * groups + lane / group_size; };
    term_line<T> line{};
    unsigned k = 0, at = 0;
    bool has_rests = false;
    // Goes to the lane's first vector of line k, or of the first one after it that has any.
    const auto find_line = [&] {
      for (; k < lines; ++k) {
        if (item_of(k) >= items) continue;
        batch_item item = line_item(all, item_of(k));
        if (finds_long) {
          longest = ::max(longest, item.end);
          const segment_place place = place_of_segment(all, item.result);
          if (is_left_to_others(all, item.result, place, write.status, lane_of_group == 0)) item.end = 0;
        }
        line = line_of<T>(all, item, has_two);
        has_rests |= line.loaded < line.to;
        at = lane_of_group * size;
        if (at < line.loaded) return;
      }
    };
#pragma unroll 1
    for (unsigned l = 0; l < lines; ++l) states.store(l, lane, A::identity());
    find_line();
    run next;
    if (k < lines) next.load(line, at, stride);
    state s = A::identity();
#pragma unroll 1
    while (k < lines) {
      const run now = next;
      const unsigned of_line = k;
      at += stride * run::vectors;
      if (at >= line.loaded) ++k, find_line();
      if (k < lines) next.load(line, at, stride);
      bool is_added = false;
      if constexpr (may_have_two) {
        is_added = has_two;
        if (has_two) now.template add_pairs<A>(all.rule, s);
      }
      if (!is_added) A::merge(s, A::of_words(elements_of_vectors(now.x).at, all.rule));
      if (k != of_line) {
        states.store(of_line, lane, s);
        s = A::identity();
      }
    }
    __syncwarp();
    if (__any_sync(0xffffffffu, has_rests)) {  // The input ends within the last vector of a line.
#pragma unroll 1
      for (k = 0; k < lines; ++k) {
        if (item_of(k) >= items) continue;
        const batch_item item = line_item(all, item_of(k));
        if (finds_long && item.end > all.most_short) continue;
        line = line_of<T>(all, item, has_two);
#pragma unroll 1
        for (unsigned i = ::max(line.loaded, line.from) + lane_of_group; i < line.to; i += group_size) {
          s = states.load(k, lane);
          if constexpr (may_have_two) {
            A::add(s, read<A>(all, line.x[i]), read<A>(all, (has_two ? line.y : line.x)[i]));
          } else {
            A::add(s, read<A>(all, line.x[i]));
          }
          states.store(k, lane, s);
        }
      }
      __syncwarp();
    }
    // Neighbouring lanes merge the states of a line, each those of as many lanes as there are lines.
    const unsigned per_line = group_size / lines, of_line = lane_of_group / per_line;
    s = A::identity();
#pragma unroll 1
    for (unsigned l = lane % per_line; l < group_size; l += per_line) {
      A::merge(s, states.load(of_line, lane - lane_of_group + l));
    }
#pragma unroll 1
    for (unsigned distance = per_line / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
    if (lane % per_line == 0 && item_of(of_line) < items) {
      const batch_item item = line_item(all, item_of(of_line));
      if (!finds_long || item.end <= all.most_short) write(item, 0, s);
    }
    __syncwarp();
  }
  if (finds_long) note_longest(longest, write.status);
}

}  // namespace fanin::cuda
