// SPDX-License-Identifier: Apache-2.0
// Folds of groups in tables of shared memory, for elements whose order does not matter: extrema by keys (keys.hpp),
// and exact sums of integers. Each block has a table of all groups, and merges it with the rows in device memory at
// the end.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/block_table.cuh"
#include "backends/cuda/batch/group_plan.hpp"
#include "backends/cuda/runtime/words.cuh"
#include "backends/cuda/word_integers.hpp"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned word_threads = 512;
inline constexpr int words_at_once = 2;  ///< a thread loads so many times four elements before it adds the first
}  // namespace tuning

/// Rows of an integer for each group, in device memory. They are 0 before the kernels run.
struct group_rows {
  table_rows rows;
  unsigned count;  ///< of extrema: 1, or 2 if both extrema are wanted
  int copies_log2;
  group_term term;
  element_rule rule;

  FANIN_HOST_DEVICE unsigned long long* row(unsigned r) const { return rows.words + std::uint64_t{rows.groups} * r; }
};

/// A table of rows of 64 bits, in which each block finds the largest entries.
class largest_entries {
 public:
  __device__ largest_entries(std::uint32_t groups, unsigned rows)
      : entry_(dynamic_shared<unsigned long long>()), groups_(groups), rows_(rows) {
    for (std::uint32_t i = threadIdx.x; i < groups * rows; i += blockDim.x) entry_[i] = 0;
    __syncthreads();
  }
  __device__ unsigned long long& at(unsigned row, std::uint32_t group) { return entry_[row * groups_ + group]; }
  /// Enters x[j] for group[j]. An entry that is larger already needs no atomic operation, and most are.
  __device__ void enter(unsigned row, const std::uint32_t (&group)[4], const std::uint64_t (&x)[4]) {
    unsigned long long found[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) found[j] = group[j] != no_group ? at(row, group[j]) : ~0ull;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (x[j] > found[j]) atomicMax(&at(row, group[j]), static_cast<unsigned long long>(x[j]));
    }
  }
  /// Merges the row with one in device memory. All threads call it.
  __device__ void merge_into(unsigned row, unsigned long long* to) {
    __syncthreads();
    for (std::uint32_t g = threadIdx.x; g < groups_; g += blockDim.x) {
      if (at(row, g) > *static_cast<volatile unsigned long long*>(to + g)) atomicMax(to + g, at(row, g));
    }
  }

 private:
  unsigned long long* const entry_;
  const std::uint32_t groups_;
  const unsigned rows_;
};

/// Extrema of words of up to 32 bits. An entry has the key above the inverted place, so that of equal keys the one of
/// the first element is the largest. Row 1 has inverted keys.
class short_extrema {
 public:
  static constexpr bool holds_all = true;
  __device__ explicit short_extrema(const group_rows& to) : table_(to.rows.groups, to.count) {}
  template <class Word>
  __device__ void add(const std::uint32_t (&group)[4], const Word (&words)[4], std::uint64_t i,
                      const group_rows& to) {
    Word keys[4];
    keyed<accumulator::extremum<Word, true>>::read_all(words, keys, to.rule);
    for (unsigned row = 0; row < to.count; ++row) {
      std::uint64_t entry[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t key = row == 0 ? std::uint32_t{keys[j]} : ~std::uint32_t{keys[j]};
        entry[j] = std::uint64_t{key} << 32 | ~static_cast<std::uint32_t>(i + j);
      }
      table_.enter(row, group, entry);
    }
  }
  __device__ void merge_into(const group_rows& to) {
    for (unsigned row = 0; row < to.count; ++row) table_.merge_into(row, to.row(row));
  }

 private:
  largest_entries table_;
};

/// Extrema of words of 64 bits. Row 0 has the largest keys and row 1 the largest inverted keys, so that a group
/// without elements has 0 in both.
class long_extrema {
 public:
  static constexpr bool holds_all = true;
  __device__ explicit long_extrema(const group_rows& to) : table_(to.rows.groups, 2) {}
  __device__ void add(const std::uint32_t (&group)[4], const std::uint64_t (&words)[4], std::uint64_t,
                      const group_rows& to) {
    std::uint64_t keys[4];
    keyed<accumulator::extremum<std::uint64_t, true>>::read_all(words, keys, to.rule);
    table_.enter(0, group, keys);
    for (std::uint64_t& key : keys) key = ~key;
    table_.enter(1, group, keys);
  }
  __device__ void merge_into(const group_rows& to) {
    for (unsigned row = 0; row < 2; ++row) table_.merge_into(row, to.row(row));
  }

 private:
  largest_entries table_;
};

/// The inverted places of the first extrema of words of 64 bits, in row 2, when rows 0 and 1 are complete.
class places_of_extrema {
 public:
  static constexpr bool holds_all = true;
  __device__ explicit places_of_extrema(const group_rows& to) : table_(to.rows.groups, 2) {
    for (std::uint32_t g = threadIdx.x; g < to.rows.groups; g += blockDim.x) table_.at(0, g) = to.row(0)[g];
    __syncthreads();
  }
  __device__ void add(const std::uint32_t (&group)[4], const std::uint64_t (&words)[4], std::uint64_t i,
                      const group_rows& to) {
    std::uint64_t entry[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool is_extremum = group[j] != no_group && key_of_word(words[j], to.rule) == table_.at(0, group[j]);
      entry[j] = is_extremum ? ~(i + j) : 0;
    }
    table_.enter(1, group, entry);
  }
  __device__ void merge_into(const group_rows& to) { table_.merge_into(1, to.row(2)); }

 private:
  largest_entries table_;
};

/// Exact sums of integers, in numbers of Words words of 32 bits.
template <int Words>
class integer_sums {
  /// Five words hold the squares of integers of 64 bits.
  static constexpr bool are_long_squares = Words == words_of_long_squares;
  using sum = std::conditional_t<are_long_squares, detail::uint128,
                                 std::conditional_t<Words == 2, std::int64_t, detail::int128>>;
  using factor = std::conditional_t<are_long_squares, detail::uint128, std::uint64_t>;

 public:
  static constexpr bool holds_all = false;  ///< the table holds the sums of 2^most_elements_log2 elements
  __device__ explicit integer_sums(const group_rows& to)
      : table_(to.rows.groups, to.copies_log2, to.rows.counts != nullptr) {}
  template <class Word>
  __device__ void add(const std::uint32_t (&group)[4], const Word (&words)[4], std::uint64_t, const group_rows& to) {
    sum terms[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) terms[j] = group[j] == no_group ? sum{0} : term_of(words[j], to);
    table_.add(group, terms, 1);
  }
  __device__ void merge_into(const group_rows& to) { table_.flush(to.rows, 0, to.rows.groups); }

 private:
  template <class Word>
  static __device__ sum term_of(Word word, const group_rows& to) {
    if (are_long_squares || to.term == group_term::square) {
      // Other squares have a table of more words.
      constexpr bool fits = 16 * sizeof(Word) + most_elements_log2 < 32 * Words;
      if constexpr (!fits) return 0;
      const auto x = static_cast<factor>(integer_of_word(word, to.rule));  // the rule wants magnitudes
      return static_cast<sum>(x * x);
    }
    if (to.term == group_term::integer) return static_cast<sum>(integer_of_word(word, to.rule));
    return (key_of_word(word, to.rule) == 0) == (to.term == group_term::one_if_zero) ? 1 : 0;
  }

  block_table<sum, Words> table_;
};

/// Folds the elements, which are words of one of the types Words, in tables of Fold.
template <class Fold, class... Words>
__global__ void __launch_bounds__(tuning::word_threads, 2)
    fold_groups(const __grid_constant__ keyed_words from, const __grid_constant__ group_rows to) {
  constexpr int at_once = tuning::words_at_once;
  constexpr unsigned of_block = tuning::word_threads * 4,
                     turns_of_sums = (1u << most_elements_log2) / (of_block * at_once);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * of_block;
  device_code::overlap_with_next_launch();
  Fold fold(to);
  unsigned turn = 0;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * of_block; begin < from.count; begin += at_once * stride) {
    four_keys<std::uint32_t, std::uint64_t> keys[at_once];
    four_words<Words...> words[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = begin + k * stride + threadIdx.x * 4;
      if (i >= from.count) continue;
      keys[k].load(i, from);
      words[k].load(from.words, from.word_bytes, i, from);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = begin + k * stride + threadIdx.x * 4;
      if (i >= from.count) continue;
      std::uint32_t group[4];
      keys[k].find_groups(from, group);
      leave_out_missing(group, i, from.count);
      if (from.status != nullptr) note_outside(group, i, from);
      with_word<Words...>(from.word_bytes, [&]<class Word>(Word) {
        Word four[4];
        words[k].copy_to(four);
        fold.add(group, four, i, to);
      });
    }
    if (!Fold::holds_all && ++turn % turns_of_sums == 0) fold.merge_into(to);
  }
  fold.merge_into(to);
}

/// Calls run.template operator()<Fold, Words...>(from, to) for each launch of fold_groups() that the plan needs.
template <class Run>
void run_folds(const table_plan& plan, keyed_words from, const group_rows& to, const Run& run) {
  const auto run_sums = [&](const group_rows& sums, unsigned words) {
    if (words == 2) {
      run.template operator()<integer_sums<2>, std::uint8_t, std::uint16_t, std::uint32_t>(from, sums);
    } else if (words == 3) {
      run.template operator()<integer_sums<3>, std::uint32_t, std::uint64_t>(from, sums);
    } else {
      run.template operator()<integer_sums<words_of_long_squares>, std::uint64_t>(from, sums);
    }
  };
  if (plan.form == group_form::sums) {
    run_sums(to, plan.sums.table_words);
    if (plan.sums.count == 1) return;
    from.status = nullptr;  // the first launch has noted keys of no group
    group_rows squares = to;
    squares.rows.words = to.row(plan.sums.table_words);
    squares.rows.counts = nullptr;
    squares.term = group_term::square;
    squares.rule.magnitudes = true;
    run_sums(squares, plan.sums.square_words);
  } else if (from.word_bytes < 8) {
    run.template operator()<short_extrema, std::uint8_t, std::uint16_t, std::uint32_t>(from, to);
  } else {
    run.template operator()<long_extrema, std::uint64_t>(from, to);
    from.status = nullptr;
    if (plan.form == group_form::first_extremum) run.template operator()<places_of_extrema, std::uint64_t>(from, to);
  }
}

/// States in device memory, of `state_bytes` each, and the number of each group's elements.
struct group_states {
  void* states;
  std::uint64_t* present;
  group_form form;
  unsigned state_bytes, word_bytes;
  sums_of_state sums;
};

/// The sum of the squares of group g's integers of 64 bits, from row `first` on: its lower 128 bits, and those above.
struct long_squares {
  detail::uint128 low;
  std::uint64_t high;
};
inline __device__ long_squares long_squares_of_group(const group_rows& from, unsigned first, std::uint64_t g) {
  const auto lower = static_cast<detail::uint128>(sum_of_words(from.row(first), from.rows.groups, 3, g));
  const auto upper = static_cast<std::uint64_t>(lower >> 96) + from.row(first + 3)[g];
  return {lower << 32 >> 32 | static_cast<detail::uint128>(upper) << 96, from.row(first + 4)[g] + (upper >> 32)};
}

/// Writes the state of each group, and the number of its elements where they are counted. Extrema have 1 in place of
/// the number, if there are elements.
static __global__ void __launch_bounds__(tuning::word_threads)
    write_group_states(const __grid_constant__ group_rows from, const group_states to) {
  device_code::overlap_with_next_launch();
  for (std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; g < from.rows.groups;
       g += std::uint64_t{gridDim.x} * blockDim.x) {
    if (to.form == group_form::sums) {
      to.present[g] = from.rows.counts != nullptr ? from.rows.counts[g] : 0;
      auto* const state = static_cast<std::uint64_t*>(to.states) + g * (to.state_bytes / 8);
      for (unsigned w = 0; w < to.state_bytes / 8; ++w) state[w] = 0;
      for (unsigned s = 0; s < to.sums.count; ++s) {
        const unsigned first = s * to.sums.table_words, words = s == 0 ? to.sums.table_words : to.sums.square_words;
        std::uint64_t* const place = state + (to.sums.first + s) * to.sums.step;
        long_squares sum{};
        if (words == words_of_long_squares) {
          sum = long_squares_of_group(from, first, g);
          const bool is_alone = place + 2 == state + to.state_bytes / 8;
          if (is_alone) {
            constexpr detail::uint128 limit = accumulator::integer_square_sum<std::int64_t>::limit;
            if (sum.high != 0 || sum.low > limit) sum.low = limit;
          } else {
            place[2] = sum.high;
          }
        } else {
          sum.low = static_cast<detail::uint128>(
              sum_of_words(from.row(first), from.rows.groups, static_cast<int>(words), g));
        }
        place[0] = static_cast<std::uint64_t>(sum.low);
        if (to.sums.words > 1) place[1] = static_cast<std::uint64_t>(sum.low >> 64);
      }
      if (from.term == group_term::one_if_zero) std::swap(state[0], to.present[g]);  // no element is not zero
      continue;
    }
    const bool is_long = to.word_bytes == 8;
    const std::uint64_t most = from.row(0)[g],
                        least = to.form == group_form::extrema || is_long ? ~from.row(1)[g] : 0;
    const std::uint64_t largest = is_long ? most : most >> 32, smallest = is_long ? least : least >> 32;
    to.present[g] = (is_long ? most | ~least : most) != 0 ? 1 : 0;
    const std::uint64_t first = to.state_bytes / to.word_bytes * g;
    if (to.form == group_form::extrema) store_word(to.states, to.word_bytes, first, smallest);
    store_word(to.states, to.word_bytes, first + (to.form == group_form::extrema ? 1 : 0), largest);
    if (to.form == group_form::first_extremum) {
      const std::uint64_t place = is_long ? ~from.row(2)[g] : std::uint64_t{~static_cast<std::uint32_t>(most)};
      static_cast<std::uint64_t*>(to.states)[2 * g + 1] = place;
    }
  }
}

}  // namespace fanin::cuda
