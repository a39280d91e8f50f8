// SPDX-License-Identifier: Apache-2.0
// Exact sums of terms whose elements lie one after another, at any alignment: rows along the last axis, segments, and
// their chunks. Lanes read aligned vectors, since the order means nothing.
#pragma once

#include <cuda_pipeline.h>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int term_threads = 128, term_blocks = 4;  ///< threads in a block, blocks on a multiprocessor
inline constexpr unsigned most_lines = 4;                  ///< lines of a group whose states are merged together
inline constexpr unsigned vectors_of_run = 4;              ///< vectors of a line that a lane copies ahead
/// Vectors whose elements a lane adds at once.
template <class A>
inline constexpr unsigned vectors_at_once = sizeof(typename A::element) == 1 ? 1
                                            : sizeof(typename A::element) == 4 && accumulator::inputs_of<A>() == 2
                                                ? 4
                                                : 2;
}  // namespace tuning

/// The elements of a line, by their distances from an aligned vector.
template <class T>
struct term_line {
  const T* x;         ///< aligned
  unsigned from, to;  ///< the elements x[from], ..., x[to - 1]
  unsigned loaded;    ///< vectors that begin below x[loaded] are loaded; those behind end behind the input
  term_line() = default;
  __device__ term_line(const batch_elements& all, const batch_item& item) {
    const T* const first = static_cast<const T*>(all.x) + item.x + static_cast<std::int64_t>(item.begin);
    from = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first) % 16 / sizeof(T));
    to = from + static_cast<unsigned>(item.end - item.begin);
    x = first - from;
    loaded = to;
    const T* const behind = x + std::uint64_t{(to + vector<T>::size - 1) / vector<T>::size} * vector<T>::size;
    if (static_cast<const void*>(behind) > all.x_end) loaded = (to - 1) / vector<T>::size * vector<T>::size;
  }
};

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

/// Replaces word i of those in registers.
template <class Word, int Registers>
__device__ void set_word(std::uint32_t (&x)[Registers], int i, Word to) {
  if constexpr (sizeof(Word) == 8) {
    x[2 * i] = static_cast<std::uint32_t>(to);
    x[2 * i + 1] = static_cast<std::uint32_t>(to >> 32);
  } else {
    constexpr int per_register = 4 / sizeof(Word), bits = 8 * sizeof(Word);
    const int shift = bits * (i % per_register);
    std::uint32_t& one = x[i / per_register];
    one = (one & ~(static_cast<std::uint32_t>(static_cast<Word>(~Word{0})) << shift)) | static_cast<std::uint32_t>(to)
                                                                                            << shift;
  }
}

/// A lane's vectors of a line, which are copied into shared memory: from x[at] on, each `stride` elements behind the
/// one before.
template <class A>
class term_run {
  using T = typename A::element;
  static constexpr unsigned vectors = tuning::vectors_of_run, threads = tuning::term_threads;
  static constexpr unsigned at_once = tuning::vectors_at_once<A>, size = vector<T>::size;

 public:
  using memory = uint4[vectors][threads];
  /// Begins to copy the vectors that the line has.
  __device__ void copy(memory& to_stage, const term_line<T>& line, unsigned at, unsigned stride) {
    at_ = at, from_ = line.from, to_ = line.loaded, stage_ = &to_stage;
#pragma unroll
    for (unsigned n = 0; n < vectors; ++n) {
      const unsigned first = at + n * stride;
      if (first < to_) __pipeline_memcpy_async(&to_stage[n][threadIdx.x], line.x + first, 16);
    }
  }
  /// Adds squares and numbers, after the copy.
  template <class F>
  __device__ void add(const element_rule& rule, unsigned stride, term_window<A>& window, const F& flush) const {
#pragma unroll 1
    for (unsigned n = 0; n < vectors && at_ + n * stride < to_; n += at_once) {
      const auto add_to = [&]<unsigned Vectors>(unsigned begin, const auto& f) {
        registers_of_words<T, size * Vectors> x;
#pragma unroll
        for (unsigned i = 0; i < Vectors; ++i) {
          std::memcpy(x + 4 * i, &(*stage_)[begin + i][threadIdx.x], sizeof(uint4));
        }
        const unsigned first = at_ + begin * stride;
        if (first < from_ || first + (Vectors - 1) * stride + size > to_) {
          keep_elements<Vectors>(x, first, stride, T{});
        }
        f(pairs_of_words<T, size * Vectors, true>(x, x, rule));
      };
      add_to.template operator()<at_once>(n, [&](const auto& pairs) {
        window.add(pairs, flush, [&](const auto& f) {
#pragma unroll 1
          for (unsigned i = 0; i < at_once; ++i) add_to.template operator()<1>(n + i, f);
        });
      });
    }
  }
  /// Adds the products with the elements of y at the same distances, which may be unaligned.
  template <class F>
  __device__ void add_products(const element_rule& rule, const T* y, unsigned stride, term_window<A>& window,
                               const F& flush) const {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(y) % 16 == 0;
#pragma unroll 1
    for (unsigned n = 0; n < vectors && at_ + n * stride < to_; ++n) {
      const unsigned first = at_ + n * stride;
      registers_of_words<T, size> x, other;
      std::memcpy(x, &(*stage_)[n][threadIdx.x], sizeof x);
      if (is_aligned && first >= from_ && first + size <= to_) {
        const uint4 of_y = __ldg(reinterpret_cast<const uint4*>(y + first));
        std::memcpy(other, &of_y, sizeof other);
      } else {
        for (std::uint32_t& one : other) one = 0;
#pragma unroll
        for (unsigned i = 0; i < size; ++i) {
          if (first + i >= from_ && first + i < to_) set_word<T>(other, i, __ldg(y + first + i));
        }
        keep_elements<1>(x, first, stride, T{});
        keep_elements<1>(other, first, stride, negative_zero_of<T>());
      }
      const pairs_of_words<T, size, false> pairs(x, other, rule);
      window.add(pairs, flush, [&](const auto& f) { f(pairs); });
    }
  }

 private:
  /// Replaces what is no element of the line in its vectors from x[first] on.
  template <unsigned Vectors>
  __device__ void keep_elements(registers_of_words<T, size * Vectors>& x, unsigned first, unsigned stride,
                                T other) const {
#pragma unroll
    for (unsigned i = 0; i < size * Vectors; ++i) {
      const unsigned place = first + i / size * stride + i % size;
      if (place < from_ || place >= to_) set_word<T>(x, i, other);
    }
  }
  const memory* stage_;
  unsigned at_, from_, to_;  ///< elements from_, ..., to_ - 1 are the line's
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
__global__ void __launch_bounds__(tuning::term_threads, tuning::term_blocks)
    term_lines_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr bool may_have_two = accumulator::inputs_of<A>() == 2;
  using run = term_run<A>;
  constexpr unsigned size = vector<T>::size, warps_of_block = tuning::term_threads / 32;
  __shared__ typename run::memory stages[2];
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
    unsigned k = 0, at = 0;
    bool has_rests = false;
    term_line<T> line;
    const T* y = nullptr;  // the second input's elements are as far behind it as those of the line behind line.x
    const auto set_line = [&](const batch_item& item) {
      line = term_line<T>(all, item);
      y = static_cast<const T*>(all.y) + item.y + static_cast<std::int64_t>(item.begin) - line.from;
    };
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
        set_line(item);
        has_rests |= line.loaded < line.to;
        at = lane_of_group * size;
        if (at < line.loaded) return;
      }
    };
#pragma unroll 1
    for (unsigned l = 0; l < lines; ++l) states.store(l, lane, A::identity());
    find_line();
    run next;
    unsigned stage = 0;
    const auto copy_next = [&] {
      if (k < lines) next.copy(stages[stage], line, at, stride);
      __pipeline_commit();
      stage ^= 1;
    };
    copy_next();
    term_window<A> window;
    bool has_state = false;
#pragma unroll 1
    while (k < lines) {
      const run now = next;
      const unsigned of_line = k;
      const T* const of_y = y;
      at += stride * tuning::vectors_of_run;
      if (at >= line.loaded) ++k, find_line();
      copy_next();
      __pipeline_wait_prior(1);
      const auto flush = [&](state s) {
        if (has_state) A::merge(s, states.load(of_line, lane));
        states.store(of_line, lane, s);
        has_state = true;
      };
      if constexpr (may_have_two) {
        if (has_two) now.add_products(all.rule, of_y, stride, window, flush);
      }
      if (!has_two) now.add(all.rule, stride, window, flush);
      if (k != of_line) {
        window.close(flush);
        has_state = false;
      }
    }
    __syncwarp();
    if (__any_sync(0xffffffffu, has_rests)) {  // The input ends within the last vector of a line.
#pragma unroll 1
      for (k = 0; k < lines; ++k) {
        if (item_of(k) >= items) continue;
        const batch_item item = line_item(all, item_of(k));
        if (finds_long && item.end > all.most_short) continue;
        set_line(item);
#pragma unroll 1
        for (unsigned i = ::max(line.loaded, line.from) + lane_of_group; i < line.to; i += group_size) {
          state s = states.load(k, lane);
          if constexpr (may_have_two) {
            A::add(s, read<A>(all, line.x[i]), read<A>(all, (has_two ? y : line.x)[i]));
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
    state s = A::identity();
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
