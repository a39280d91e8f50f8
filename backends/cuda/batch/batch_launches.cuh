// SPDX-License-Identifier: Apache-2.0
// Which kernels fold a batch, and their launches. Recipes with one accumulator share the launches.
#pragma once

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/batch/columns_kernel.cuh"
#include "backends/cuda/batch/exact_columns.cuh"
#include "backends/cuda/batch/exact_rows.cuh"
#include "backends/cuda/batch/exact_segments.cuh"
#include "backends/cuda/batch/lines_kernel.cuh"
#include "backends/cuda/batch/segments_kernel.cuh"
#include "backends/cuda/batch/term_columns.cuh"
#include "backends/cuda/batch/term_lines.cuh"
#include "backends/cuda/batch/whole_columns.cuh"
#include "backends/cuda/batch/whole_rows.cuh"
#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

/// Whether A has kernels for vectors although A adds elements one by one.
template <class A>
inline constexpr bool has_vector_kernels = is_keyed<A>;
template <class Word>
inline constexpr bool has_vector_kernels<word_sum<Word>> = true;
template <class Word>
inline constexpr bool has_vector_kernels<word_moments<Word>> = true;
template <class Word>
inline constexpr bool has_vector_kernels<wide_word_squares<Word>> = true;
template <class Word>
inline constexpr bool has_vector_kernels<wide_word_moments<Word>> = true;
template <class Word>
inline constexpr bool has_vector_kernels<word_product<Word>> = true;
template <class Word, class N>
inline constexpr bool has_vector_kernels<by_word<Word, accumulator::plain_sum<N>>> = sizeof(Word) > 1;
template <class Word, class N>
inline constexpr bool has_vector_kernels<by_word<Word, accumulator::plain_product<N>>> = sizeof(Word) > 1;
template <class T>
inline constexpr bool has_vector_kernels<accumulator::plain_product<T>> = true;
template <class N>
inline constexpr bool has_vector_kernels<accumulator::plain_moments<N>> = true;
template <class Word, class N>
inline constexpr bool has_vector_kernels<by_word<Word, accumulator::plain_moments<N>>> = sizeof(Word) > 1;
template <class Word>
inline constexpr bool has_vector_kernels<by_word<Word, float_log_sum>> = true;
template <>
inline constexpr bool has_vector_kernels<float_log_sum> = true;
template <>
inline constexpr bool has_vector_kernels<accumulator::compensated_moments<double>> = true;
template <>
inline constexpr bool has_vector_kernels<word_log_sum> = true;
template <>
inline constexpr bool has_vector_kernels<by_word<std::uint64_t, accumulator::log_sum<double>>> = true;

/// Whether rows along the last axis are folded by term_lines_kernel. Exact sums of f32 in whole vectors have faster
/// ones.
template <class A>
inline constexpr bool has_term_lines = folds_terms<A> || (adds_vectors<A> && sizeof(typename A::element) > 1);

/// Whether there are kernels for rows of whole vectors. Rows of other operations are folded at any alignment.
template <class A>
inline constexpr bool has_whole_rows = false;
template <class Word, class N>
inline constexpr bool has_whole_rows<by_word<Word, accumulator::plain_sum<N>>> = true;
template <class Word>
inline constexpr bool has_whole_rows<by_word<Word, float_log_sum>> = sizeof(Word) > 1;
template <>
inline constexpr bool has_whole_rows<float_log_sum> = true;
template <class Word>
inline constexpr bool has_whole_rows<keyed<accumulator::extremum<Word, true>>> = sizeof(Word) > 1;
template <class Word>
inline constexpr bool has_whole_rows<keyed<accumulator::first_extremum<Word, true>>> = sizeof(Word) > 1;

/// Whether A adds integers in states of more than 64 bits.
template <class A>
inline constexpr bool adds_in_long_states =
    adds_first_words<A> || adds_integer_moments<A> || std::is_same_v<A, word_sum<std::uint64_t>>;

/// The most elements of a row that a warp copies into shared memory. Where states are long, rows of more than two
/// vectors for each thread are folded faster where they lie.
template <class A>
inline constexpr std::uint64_t most_staged_row =
    adds_in_long_states<A> ? std::uint64_t{2 * chunk_slots * vector<typename A::element>::size}
                           : most_short_segment<typename A::element>;

/// The elements of a result, or of segments of mean length.
inline std::uint64_t typical_length(const batch_elements& all) {
  if (all.kind == layout::rows) return all.length;
  return all.only_long ? all.least_chunk : 2 * all.count / std::max<std::uint64_t>(all.results, 1);
}

inline std::uint64_t most_items(const batch_elements& all) {
  if (all.kind == layout::rows) return all.results * all.chunks;
  return all.only_long ? 2 * (all.count / all.most_short + 1) : all.results;
}

/// The threads that read `length` elements at once, in vectors of `size`.
inline unsigned slots_for(std::uint64_t length, unsigned size) {
  return static_cast<unsigned>(std::bit_ceil(std::clamp<std::uint64_t>((length + size - 1) / size, 1, chunk_slots)));
}

/// Whether the last axis that is left runs over neighbours, in whole vectors, and so do all parts of the batch.
inline bool are_whole_columns(const batch_elements& all, unsigned size) {
  if (all.kind != layout::rows || all.partial || all.reduced != 1 || all.length == 0 || all.kept == 0) return false;
  if (reinterpret_cast<std::uintptr_t>(all.x) % 16 != 0) return false;
  const array_axis& inner = all.axes[all.kept - 1];
  if (inner.stride[0] != 1 || inner.count % size != 0 || all.first % size != 0) return false;
  for (unsigned a = 0; a <= all.kept; ++a) {
    if (a != all.kept - 1 && all.axes[a].stride[0] % static_cast<std::ptrdiff_t>(size) != 0) return false;
  }
  return true;
}

/// The launches of kernels that fold states of A, and give each state to a Write.
template <class A, class Write>
class batch_launches {
  static constexpr bool wide = is_wide_state(sizeof(typename A::state));
  static constexpr unsigned size = vector<typename A::element>::size;
  static constexpr bool has_vectors = sizeof(typename A::element) >= 2;

 public:
  static constexpr bool uses_vector_kernels =
      !folds_terms<A> && (has_vector_kernels<A> || (has_vectors && adds_vectors<A>));

  static void each(const execution& where, const batch_elements& all, const Write& write, bool lines) {
    if constexpr (wide) {
      launch_columns(where, all, write);
    } else if constexpr (folds_terms<A>) {
      if (lines) {
        launch_term_lines(where, all, write);
      } else if (has_vectors && (all.rule.squares || accumulator::inputs_of<A>() == 1) &&
                 are_whole_columns(all, size)) {
        launch_term_columns(where, all, write);
      } else {
        launch_columns(where, all, write);
      }
    } else {
      if constexpr (uses_vector_kernels) {
        if (lines && all.kind != layout::rows) return launch_segments(where, all, write, all.only_long);
        if constexpr (!adds_first_words<A>) {  // columns_kernel is fast enough for columns of these.
          if (launch_whole(where, all, write, lines)) return;
        }
      }
      if (!lines) return launch_columns(where, all, write);
      if constexpr (has_term_lines<A>) {
        launch_term_lines(where, all, write);
      } else if constexpr (uses_vector_kernels) {
        launch_segments(where, all, write, all.length > most_staged_row<A>);
      } else {
        launch_lines(where, all, write);
      }
    }
  }

 private:
  /// A warp that keeps results gets as many of them as it can keep, where the device is busy with that.
  static unsigned blocks_of_rows(const execution& where, std::uint64_t turns) {
    const auto busy = static_cast<std::uint64_t>(tuning::row_blocks * where.multiprocessors);
    return blocks_for(where, ends_slowly<A> ? std::max(std::min(turns, busy), turns / 4) : turns);
  }
  template <unsigned Vectors>
  static void launch_short_rows(const execution& where, const batch_elements& all, const Write& write) {
    const unsigned group_size = slots_for(all.length, size),
                   in_block = tuning::row_threads / group_size * tuning::row_loads / Vectors;
    launch_overlapped(where, blocks_of_rows(where, (all.results + in_block - 1) / in_block), tuning::row_threads, 0,
                      short_rows_kernel<A, Vectors, Write>, all, group_size, write);
  }
  /// Launches the kernels for whole vectors. Returns false, and does nothing, if they do not apply.
  static bool launch_whole(const execution& where, const batch_elements& all, const Write& write, bool lines) {
    if (lines) return launch_whole_rows(where, all, write);
    if (!are_whole_columns(all, size)) return false;
    if constexpr (adds_vectors<A>) {
      launch_exact_columns(where, all, write);
    } else {
      const unsigned most_slots = slots_for(all.length, size);
      unsigned slots = std::max(1u, most_slots / slots_of_columns<A>);
      const std::uint64_t vectors = all.results / size;
      // Where the order of additions means nothing, more slots than a result has may keep the device busy.
      const auto at_once = std::uint64_t{tuning::whole_column_threads<A>} * tuning::whole_column_blocks<A> *
                           static_cast<unsigned>(where.multiprocessors);
      while (A::order_free && slots < most_slots && 2 * slots * vectors * all.chunks <= at_once) slots *= 2;
      const unsigned most_width = tuning::whole_column_threads<A> / slots;
      const unsigned width =
          std::max(static_cast<unsigned>(std::bit_ceil(std::min<std::uint64_t>(vectors, most_width))),
                   std::max(1u, 32 / slots));
      launch_overlapped(where, blocks_for(where, (vectors + width - 1) / width * all.chunks),
                        static_cast<int>(width * slots), 0, whole_columns_kernel<A, Write>, all, width, write);
    }
    return true;
  }
  /// Launches the kernels for rows of whole vectors.
  static bool launch_whole_rows(const execution& where, const batch_elements& all, const Write& write) {
    using T = typename A::element;
    if (all.reduced != 1 || all.length == 0 || all.length % size != 0) return false;
    const std::uint64_t vectors = all.length / size;
    const bool are_aligned = are_aligned_rows<T>(all);
    if constexpr (adds_vectors<A> && sizeof(T) == 4) {
      // Rows that leave more than a fifth of the threads without elements are left to term_lines_kernel.
      if (!are_aligned || (vectors > chunk_slots / 2 && 5 * vectors < 4 * chunk_slots)) return false;
      launch_exact_rows(where, all, write);
    } else if constexpr (!has_whole_rows<A>) {
      return false;
    } else if (!are_aligned && (vectors < tuning::least_split_row || vectors > 4 * chunk_slots)) {
      return false;
    } else if (vectors <= chunk_slots) {
      launch_short_rows<1>(where, all, write);
    } else if (vectors <= 2 * chunk_slots) {
      launch_short_rows<2>(where, all, write);
    } else if (vectors <= 4 * chunk_slots) {
      launch_short_rows<4>(where, all, write);
    } else {
      launch_overlapped(where,
                        blocks_of_rows(where, (all.results * all.chunks + tuning::row_threads / 32 - 1) /
                                                  (tuning::row_threads / 32)),
                        tuning::row_threads, 0, long_rows_kernel<A, Write>, all, write);
    }
    return true;
  }
  static void launch_exact_rows(const execution& where, const batch_elements& all, const Write& write) {
    if (all.length <= chunk_slots * size) {
      const unsigned group_size = slots_for(all.length, size),
                     in_block = tuning::row_threads / group_size * tuning::short_exact_rows;
      launch_overlapped(where, blocks_for(where, (all.results + in_block - 1) / in_block), tuning::row_threads, 0,
                        short_exact_rows_kernel<A, Write>, all, group_size, write);
    } else if (all.length <= tuning::vectors_of_short_row * size) {
      launch_long_exact_rows<true>(where, all, write);
    } else {
      launch_long_exact_rows<false>(where, all, write);
    }
  }
  template <bool Short>
  static void launch_long_exact_rows(const execution& where, const batch_elements& all, const Write& write) {
    constexpr unsigned in_block =
        tuning::row_threads / 32 * tuning::exact_rows_shape_of<typename A::element, Short>.rows;
    launch_overlapped(where, blocks_for(where, all.results * all.chunks / in_block + 1), tuning::row_threads, 0,
                      exact_rows_kernel<A, Short, Write>, all, write);
  }
  static void launch_exact_columns(const execution& where, const batch_elements& all, const Write& write) {
    launch_unordered_columns(where, all, exact_columns_kernel<A, Write>, tuning::exact_column_threads,
                             tuning::exact_column_run<typename A::element>, write);
  }
  static void launch_term_columns(const execution& where, const batch_elements& all, const Write& write) {
    if constexpr (has_vectors) {
      launch_unordered_columns(where, all, term_columns_kernel<A, Write>, tuning::term_column_threads,
                               tuning::term_column_run, write);
    }
  }
  /// Slots are only needed to keep the device busy, since the order of additions means nothing. A block has up to
  /// `most` threads, which add `run` elements at once. It reads 16 neighbouring vectors or more, where there are so
  /// many.
  template <class Kernel>
  static void launch_unordered_columns(const execution& where, const batch_elements& all, Kernel kernel,
                                       unsigned most, unsigned run, const Write& write) {
    const std::uint64_t vectors = all.results / size;
    const std::uint64_t threads = std::uint64_t{4096} * static_cast<unsigned>(where.multiprocessors);
    const auto narrowest = std::bit_ceil(std::min<std::uint64_t>(vectors, 16));
    auto slots =
        static_cast<unsigned>(std::bit_ceil(std::clamp<std::uint64_t>(all.length / run, 1, most / narrowest)));
    while (slots > 1 && vectors * all.chunks * (slots / 2) >= threads) slots /= 2;
    const unsigned width =
        std::max(static_cast<unsigned>(std::bit_ceil(std::min<std::uint64_t>(vectors, most / slots))),
                 std::max(1u, 32 / slots));
    launch_overlapped(where, blocks_for(where, (vectors + width - 1) / width * all.chunks),
                      static_cast<int>(width * slots), 0, kernel, all, width, write);
  }
  /// Launches the kernel for segments, or for rows at any alignment: for short ones, or for the chunks of long ones.
  static void launch_segments(const execution& where, const batch_elements& all, const Write& write, bool are_long) {
    if (are_long) {
      constexpr unsigned warps = tuning::segment_threads / 32;
      const unsigned blocks = blocks_for(where, most_items(all) / warps + 1);
      if constexpr (adds_vectors<A>) {
        launch_overlapped(where, blocks, tuning::segment_threads, 0, long_segments_kernel<A, Write>, all, write);
      } else {
        launch_overlapped(where, blocks, tuning::segment_threads, 0, segments_kernel<A, Write>, all, 0u, 0u, write);
      }
      return;
    }
    // Few segments are dealt out to more warps than would have 32 of them each.
    const auto per_warp = static_cast<unsigned>(
        std::bit_floor(std::clamp<std::uint64_t>(all.results / (where.multiprocessors * 32u), 1, 32)));
    const auto blocks = [&](int threads) {
      const unsigned in_block = per_warp * (static_cast<unsigned>(threads) / 32);
      return blocks_for(where, (all.results + in_block - 1) / in_block);
    };
    if constexpr (adds_vectors<A>) {
      constexpr int threads = tuning::exact_segment_threads;
      launch_overlapped(where, blocks(threads), threads, 0, exact_segments_kernel<A, Write>, all, per_warp, write);
    } else {
      // A thread then has up to 4 vectors in segments of up to twice the mean length.
      constexpr int threads = tuning::segment_threads;
      const std::uint64_t vectors = (typical_length(all) + size - 1) / size;
      const auto group_size =
          static_cast<unsigned>(std::bit_ceil(std::clamp<std::uint64_t>((vectors + 3) / 4, 1, 8)));
      launch_overlapped(where, blocks(threads), threads, 0, segments_kernel<A, Write>, all, group_size, per_warp,
                        write);
    }
  }
  static void launch_lines(const execution& where, const batch_elements& all, const Write& write) {
    constexpr unsigned turns = tuning::turns_of_short<A>;
    const unsigned group_size = slots_for((typical_length(all) + turns - 1) / turns, size);
    const unsigned in_block = tuning::line_threads / group_size;
    launch_overlapped(where, blocks_for(where, (most_items(all) + in_block - 1) / in_block), tuning::line_threads, 0,
                      lines_kernel<A, Write>, all, group_size, write);
  }
  /// A group has so many threads that each has up to 32 vectors of a line, because the end of a line takes long. Up
  /// to four threads are used if each has up to 16. Neighbouring threads read neighbouring vectors. A group folds
  /// several lines if other groups keep the device busy.
  static void launch_term_lines(const execution& where, const batch_elements& all, const Write& write) {
    const std::uint64_t length =
        all.kind == layout::rows ? std::min(all.length, all.chunk) : (typical_length(all) + 1) / 2;
    const unsigned few_threads = std::min(slots_for((length + 15) / 16, size), 4u);
    const unsigned group_size =
        std::max({slots_for((length + 31) / 32, size), few_threads, length >= 16 * size ? 2u : 1u});
    constexpr unsigned threads = tuning::term_threads, most_lines = 8;
    const std::uint64_t at_once =
        4 * std::uint64_t{threads} * static_cast<unsigned>(where.multiprocessors) * tuning::term_blocks;
    const auto lines = static_cast<unsigned>(
        std::clamp<std::uint64_t>(most_items(all) * group_size / at_once, 1, std::min(group_size, most_lines)));
    const unsigned in_block = threads / group_size * lines;
    launch_overlapped(where, blocks_for(where, (most_items(all) + in_block - 1) / in_block), threads, 0,
                      term_lines_kernel<A, Write>, all, group_size, lines, write);
  }
  static void launch_columns(const execution& where, const batch_elements& all, const Write& write) {
    constexpr unsigned mine = wide ? 1 : tuning::slots_of_thread<A>;
    const unsigned used_slots = all.kind == layout::rows ? slots_for(all.length, size) : chunk_slots;
    unsigned slots = wide ? 1 : std::max(1u, used_slots / (adds_first_words<A> ? 1 : mine));
    const std::uint64_t items = all.kind == layout::rows ? all.results : most_items(all);
    // Where the order means nothing, threads for neighbouring results read longer runs, if they keep the device busy.
    const std::uint64_t at_once = std::uint64_t{1024} * static_cast<unsigned>(where.multiprocessors);
    while (adds_first_words<A> && all.kind == layout::rows && slots > 1 &&
           items * all.chunks * (slots / 2) >= at_once) {
      slots /= 2;
    }
    const unsigned most_width = (wide ? 128 : tuning::column_threads) / slots;
    const auto wanted = static_cast<unsigned>(std::bit_ceil(std::min<std::uint64_t>(items, most_width)));
    const unsigned width = std::max(std::min(wanted, most_width), std::max(1u, 32 / slots));
    const std::uint64_t tiles = (items + width - 1) / width;
    launch_overlapped(where, blocks_for(where, all.kind == layout::rows ? tiles * all.chunks : tiles),
                      static_cast<int>(width * slots), 0, columns_kernel<A, Write>, all, width, write);
  }
};

}  // namespace fanin::cuda
