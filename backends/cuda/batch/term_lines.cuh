// SPDX-License-Identifier: Apache-2.0
// Exact sums of terms, or of numbers, whose elements lie one after another, at any alignment: rows along the last
// axis, segments, and their chunks. Threads read aligned vectors, since the order means nothing.
#pragma once

#include <cuda_pipeline.h>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int term_threads = 128;  ///< threads in a block
inline constexpr int term_blocks = 4;     ///< on a multiprocessor
/// Vectors of a line that a thread loads at once.
template <class T>
inline constexpr unsigned vectors_of_run = sizeof(T) == 4 ? 8 : 4;
}  // namespace tuning

/// The elements of a line, by their distances from an aligned vector.
template <class T>
struct term_line {
  const T* x;         ///< aligned
  unsigned from, to;  ///< the elements x[from], ..., x[to - 1]
  unsigned loaded;    ///< vectors that begin below x[loaded] are loaded; any other ends behind the input
  /// The elements x[to], ..., x[to + tail - 1] follow. They take the place of the elements in front of x[from], so
  /// that a line off a boundary has no more vectors than an aligned one.
  unsigned tail;
  bool is_tail_loaded;  ///< the vector of the tail ends within the input
  term_line() = default;
  __device__ term_line(const batch_elements& all, const batch_item& item, bool may_have_tail) {
    const T* const first = static_cast<const T*>(all.x) + item.x + static_cast<std::int64_t>(item.begin);
    from = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first) % 16 / sizeof(T));
    to = from + static_cast<unsigned>(item.end - item.begin);
    x = first - from;
    const unsigned whole = to / vector<T>::size * vector<T>::size;
    const bool ends_behind = whole != to && static_cast<const void*>(x + whole + vector<T>::size) > all.x_end;
    loaded = ends_behind ? whole : to;
    tail = may_have_tail && to - whole <= from && whole > from ? to - whole : 0;
    is_tail_loaded = !ends_behind;
    if (tail > 0) loaded = to = whole;
  }
  __device__ unsigned count() const { return to - from + tail; }
};

/// Line i of a launch. Without `has_two` it has no offset of a second input.
__device__ inline batch_item line_item(const batch_elements& all, std::uint64_t i, bool has_two) {
  batch_item item;
  if (all.kind == layout::rows && (all.kept <= 1 || !has_two)) {
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks, begin = (i - row * all.chunks) * all.chunk;
    const auto place = static_cast<std::int64_t>(all.kept == 0 ? 0 : all.first + row);
    item = {all.first + row,
            begin,
            ::min(begin + all.chunk, all.length),
            offset_of_row(all, all.first + row),
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

/// Vectors of a line in registers, each `stride` elements behind the one before. What is no element of the line is
/// +0, or -0 with Negative.
template <class T, unsigned Vectors, bool Negative>
class line_vectors {
  static constexpr unsigned size = vector<T>::size;

 public:
  registers_of_words<T, size * Vectors> word;

  __device__ void load(const T* x, const term_line<T>& line, unsigned first, unsigned stride) {
    bool is_partial = false;
#pragma unroll
    for (unsigned n = 0; n < Vectors; ++n) {
      const unsigned at = first + n * stride;
      uint4 v = {fill(0), fill(1), fill(2), fill(3)};
      if (at < line.loaded) v = __ldg(reinterpret_cast<const uint4*>(x + at));
      std::memcpy(word + 4 * n, &v, sizeof v);
      is_partial |= at < line.to && (at < line.from || at + size > line.to);
    }
    if (!is_partial) return;
#pragma unroll
    for (unsigned n = 0; n < Vectors; ++n) {
      const unsigned at = first + n * stride;
      if (at >= line.to) continue;
      if (at >= line.loaded) load_one_by_one(word + 4 * n, x, at, line.from, line.to);
      const int begin = static_cast<int>(line.from - at), end = static_cast<int>(line.to - at);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const std::uint32_t kept = bits_from(begin, r) & ~bits_from(end, r);
        word[4 * n + r] = (word[4 * n + r] & kept) | (fill(r) & ~kept);
      }
    }
    if (first == 0 && line.tail > 0) add_tail(x, line);
  }
  /// Begins to copy whole vectors to the thread's part of a stage.
  using stage = uint4[Vectors][tuning::term_threads];
  static __device__ void copy(stage& to, const T* x, unsigned stride) {
#pragma unroll
    for (unsigned n = 0; n < Vectors; ++n, x += stride) __pipeline_memcpy_async(&to[n][threadIdx.x], x, 16);
    __pipeline_commit();
  }
  /// Takes the vectors of a copy, after which at most one other was begun.
  __device__ void take(const stage& from, bool is_last) {
    is_last ? __pipeline_wait_prior(0) : __pipeline_wait_prior(1);
#pragma unroll
    for (unsigned n = 0; n < Vectors; ++n) std::memcpy(word + 4 * n, &from[n][threadIdx.x], 16);
  }
  /// Loads elements that are aligned in another way than the elements of `line`.
  __device__ void load_apart(const T* y, const term_line<T>& line, unsigned first, unsigned stride) {
#pragma unroll
    for (unsigned n = 0; n < Vectors; ++n) load_one_by_one(word + 4 * n, y, first + n * stride, line.from, line.to);
  }

 private:
  /// Loads the elements from `begin` to `end` - 1 of the vector x[at], ....
  static __device__ void load_one_by_one(std::uint32_t* words, const T* x, unsigned at, unsigned begin,
                                         unsigned end) {
    T some[size];
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      some[i] = Negative ? negative_zero_of<T>() : T{};
      if (at + i >= begin && at + i < end) some[i] = __ldg(x + at + i);
    }
    std::memcpy(words, some, sizeof some);
  }
  /// Writes the tail of the line to the beginning of the first vector.
  __device__ void add_tail(const T* x, const term_line<T>& line) {
    std::uint32_t of_tail[4];
    if (line.is_tail_loaded) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(x + line.to));
      std::memcpy(of_tail, &v, sizeof v);
    } else {
      load_one_by_one(of_tail, x, line.to, line.to, line.to + line.tail);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const std::uint32_t others = bits_from(static_cast<int>(line.tail), r);
      word[r] = (of_tail[r] & ~others) | (word[r] & others);
    }
  }
  /// The bits of register r of those from element `first` on, which may lie outside.
  static __device__ std::uint32_t bits_from(int first, int r) {
    const int bit = 8 * static_cast<int>(sizeof(T)) * first - 32 * r;
    return static_cast<std::uint32_t>(~std::uint64_t{0} << ::min(::max(bit, 0), 32));
  }
  /// Register r, if all of its elements are filled in.
  static __device__ constexpr std::uint32_t fill(int r) {
    if (!Negative) return 0;
    return sizeof(T) < 8 ? static_cast<std::uint32_t>(upper_bits<T>) : r % 2 == 0 ? 0 : 1u << 31;
  }
};

/// States of the threads of a block in shared memory.
template <class State>
class states_of_threads {
  static_assert(sizeof(State) % 4 == 0);
  static constexpr unsigned words = sizeof(State) / 4;

 public:
  using memory = unsigned[words][tuning::term_threads];
  __device__ explicit states_of_threads(memory& of_block) : memory_(of_block) {}
  __device__ void store(const State& s) {
    unsigned word[words];
    std::memcpy(word, &s, sizeof s);
#pragma unroll
    for (unsigned i = 0; i < words; ++i) memory_[i][threadIdx.x] = word[i];
  }
  __device__ State load() const {
    unsigned word[words];
#pragma unroll
    for (unsigned i = 0; i < words; ++i) word[i] = memory_[i][threadIdx.x];
    State s;
    std::memcpy(&s, word, sizeof s);
    return s;
  }

 private:
  memory& memory_;
};

/// The largest x of a group's threads, in each of them.
__device__ inline int most_of_group(int x, unsigned group_size) {
#pragma unroll 1
  for (unsigned distance = 1; distance < group_size; distance *= 2) x = ::max(x, shuffle_xor(x, distance));
  return x;
}
/// Merges the sums of the threads of a group. Every thread of the group gets the merged sums. Sums of squares alone
/// have no signs.
template <class Sums>
__device__ void merge_sums(Sums& sums, unsigned group_size, bool have_signs) {
#pragma unroll 1
  for (unsigned distance = 1; distance < group_size; distance *= 2) {
    sums.change_each([&](std::uint64_t& one) { one += shuffle_xor(one, distance); });
    if (have_signs) sums.signs &= shuffle_xor(sums.signs, distance);
  }
}

/// Groups of `group_size` threads, a power of two up to 32, fold `lines` lines of a batch one after another, where
/// `lines` is at most `group_size`. All threads of a group add terms in the same units, so that their sums are merged
/// as integers, unless some did not fit. Then one thread for each line makes the state.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::term_threads, tuning::term_blocks)
    term_lines_kernel(const __grid_constant__ batch_elements all, unsigned group_size, unsigned lines,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  using sums = typename A::sums;
  constexpr bool may_have_two = accumulator::inputs_of<A>() == 2;
  constexpr unsigned size = vector<T>::size, warps_of_block = tuning::term_threads / 32;
  constexpr unsigned vectors = tuning::vectors_of_run<T>, half = vectors / 2, whole_warp = 0xffffffffu;
  using run = line_vectors<T, vectors, sums::adds_numbers>;
  struct merged {
    sums of_threads;
    int unit;
  };
  // A thread has the sums of one line, or the state.
  union line_memory {
    typename states_of_threads<merged>::memory sums;
    typename states_of_threads<state>::memory states;
  };
  __shared__ typename run::stage stages[2];
  __shared__ line_memory of_lines;
  __shared__ typename states_of_threads<state>::memory rare_memory;
  overlap_with_next_launch();
  states_of_threads<state> rare(rare_memory), rare_found(of_lines.states);
  states_of_threads<merged> found(of_lines.sums);
  const unsigned warp_thread = threadIdx.x % 32, bits = log2_of(group_size),
                 group_thread = warp_thread & (group_size - 1), groups = 32 >> bits;
  const unsigned stride = group_size * size;
  const std::uint64_t items = item_count(all), warps = std::uint64_t{gridDim.x} * warps_of_block;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / 32;
  const bool has_two = may_have_two && !all.rule.squares;
  const bool finds_long = all.kind != layout::rows && !all.only_long;
  std::uint64_t longest = 0;
  term_window<A> window;
  window.restart(0);
  bool has_unit = false;
  for (std::uint64_t first = warp * groups * lines; first < items; first += warps * groups * lines) {
    const auto item_of = [&](unsigned k) { return first + k * groups + (warp_thread >> bits); };
    unsigned k = 0, begin = 0;  // the group's line, and where its next vectors are
    term_line<T> line;
    const T* y = nullptr;  // the second input: line.x[i] belongs to y[i]
    // Goes to line k, or to the first one after it that has any elements.
    const auto find_line = [&] {
      for (begin = 0; k < lines; ++k) {
        if (item_of(k) >= items) continue;
        batch_item item = line_item(all, item_of(k), has_two);
        if (finds_long) {
          longest = ::max(longest, item.end);
          const segment_place place = place_of_segment(all, item.result);
          if (is_left_to_others(all, item.result, place, write.status, group_thread == 0)) continue;
        }
        if (item.begin == item.end) continue;
        line = term_line<T>(all, item, !has_two);
        y = static_cast<const T*>(all.y) + item.y + static_cast<std::int64_t>(item.begin) - line.from;
        return;
      }
      line.from = line.to = line.loaded = line.tail = 0;
    };
    const auto place_of = [&](unsigned n) { return begin + group_thread * size + n * stride; };
    // Calls f(pairs) for N vectors of the thread from vector n on.
    const auto with_pairs = [&]<unsigned N>(unsigned n, const auto& f) {
      line_vectors<T, N, sums::adds_numbers> of_x;
      of_x.load(line.x, line, place_of(n), stride);
      if constexpr (may_have_two) {
        if (has_two) {
          line_vectors<T, N, true> of_y;
          if (reinterpret_cast<std::uintptr_t>(y) % 16 == 0) {
            of_y.load(y, line, place_of(n), stride);
          } else {
            of_y.load_apart(y, line, place_of(n), stride);
          }
          return f(pairs_of_words<T, size * N, false, A>(of_x.word, of_y.word, all.rule));
        }
      }
      f(pairs_of_words<T, size * N, true, A>(of_x.word, of_x.word, all.rule));
    };
    bool has_rare = false, has_rare_found = false, has_found = false;
    unsigned ahead = 0, stage = 0;  // runs that are being copied, the first one to stages[stage]
    const auto flush = [&](state s) {
      if (has_rare) A::merge(s, rare.load());
      rare.store(s);
      has_rare = true;
    };
    find_line();
    bool are_left = __any_sync(whole_warp, k < lines);
    while (are_left) {
      unsigned unfit = 0;  // bits of the vectors that do not fit
      if (!window.has_room(vectors * size)) window.close(flush);
      if (!has_two) {
        run x;
        if (ahead > 0) {
          x.take(stages[stage], ahead == 1);
          --ahead;
          stage ^= 1;
        } else {
          x.load(line.x, line, place_of(0), stride);
        }
        for (; ahead < 2; ++ahead) {
          const unsigned next = place_of((ahead + 1) * vectors);
          if (__any_sync(whole_warp, next < line.from || next + (vectors - 1) * stride + size > line.loaded)) break;
          run::copy(stages[(stage + ahead) % 2], line.x + next, stride);
        }
        const pairs_of_words<T, size * vectors, true, A> pairs(x.word, x.word, all.rule);
        if (!has_unit) window.restart(most_of_group(window.unit_for(pairs), group_size));
        has_unit = true;
        if (k < lines) unfit = window.add(pairs) ? 0 : ~0u;
      } else if constexpr (may_have_two) {
#pragma unroll 1
        for (unsigned n = 0; n < vectors; n += half) {
          with_pairs.template operator()<half>(n, [&](const auto& pairs) {
            if (k < lines && !window.add(pairs)) unfit |= ((1u << half) - 1) << n;
          });
        }
      }
      const bool ends = k < lines && begin + vectors * stride >= line.to;
      if (__any_sync(whole_warp, unfit != 0)) {
        int unit = -1;
#pragma unroll 1
        for (unsigned n = 0; n < vectors; ++n) {
          with_pairs.template operator()<1>(n, [&](const auto& few) {
            if ((unfit >> n & 1) == 0) return;
            unit = ::max(unit, window.unit_for(few));
          });
        }
        unit = most_of_group(unit, group_size);
        if (unit > window.unit() || (begin == 0 && unit >= 0)) window.change_unit(unit, flush);
#pragma unroll 1
        for (unsigned n = 0; n < vectors; ++n) {
          with_pairs.template operator()<1>(n, [&](const auto& few) {
            if ((unfit >> n & 1) != 0 && !window.add_again(few, flush)) flush(window.state_of(few));
          });
        }
      }
      begin += vectors * stride;
      if (!__any_sync(whole_warp, ends)) continue;
      const unsigned first_thread = warp_thread - group_thread;
      const int unit = static_cast<int>(shuffle_from(static_cast<unsigned>(window.unit()), first_thread));
      const bool is_simple = !has_rare && window.unit() == unit && line.count() <= sums::most_of_group;
      if (!__any_sync(whole_warp, ends && !is_simple)) {
        sums all_threads = window.of_terms();
        merge_sums(all_threads, group_size, has_two || sums::adds_numbers);
        if (ends && group_thread == k) found.store({all_threads, unit}), has_found = true;
      } else {
        state s = A::state_of(window.of_terms(), window.unit(), true);
        if (has_rare) A::merge(s, rare.load());
#pragma unroll 1
        for (unsigned distance = 1; distance < group_size; distance *= 2) A::merge(s, shuffle_xor(s, distance));
        if (ends && group_thread == k) rare_found.store(s), has_rare_found = true;
      }
      if (ends) {
        window.restart(unit);
        has_rare = false;
        ++k, find_line();
      }
      are_left = __any_sync(whole_warp, k < lines);
    }
    if (group_thread < lines && item_of(group_thread) < items) {
      const batch_item item = line_item(all, item_of(group_thread), has_two);
      if (finds_long && item.end > all.most_short) continue;
      state s = has_rare_found ? rare_found.load() : A::identity();
      if (has_found) {
        const merged line_sums = found.load();
        s = A::state_of(line_sums.of_threads, line_sums.unit, true);
      }
      write(item, 0, s);
    }
  }
  if (finds_long) note_longest(longest, write.status);
}

}  // namespace fanin::cuda
