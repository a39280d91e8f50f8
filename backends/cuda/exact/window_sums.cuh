// SPDX-License-Identifier: Apache-2.0
// The part of an exact sum that a warp adds. Terms in a window of exponents are summed in registers, by each thread
// on its own (integer_sums.cuh, limb_products.cuh, double_squares.cuh). The others are added one by one to the
// block's chunks (shared_sums.cuh). Each warp chooses windows of its own.
#pragma once

#include <algorithm>
#include <type_traits>

#include "backends/cuda/exact/double_squares.cuh"
#include "backends/cuda/exact/integer_sums.cuh"
#include "backends/cuda/exact/limb_products.cuh"
#include "backends/cuda/exact/shared_pairs.cuh"
#include "backends/cuda/exact/warp.cuh"

namespace fanin::cuda {

/// The sums of terms in a window by the threads of a warp.
template <class Terms>
using window_arithmetic =
    typename std::conditional_t<Terms::power == 1, std::type_identity<integer_sums<Terms>>,
                                std::conditional_t<are_by_doubles<Terms>, std::type_identity<double_squares<Terms>>,
                                                   std::type_identity<limb_products<Terms>>>>::type;

/// The sums of a block.
template <class Terms, int Warps, class T = typename Terms::number>
using block_sums_of =
    std::conditional_t<are_moments<Terms>, shared_moments<T, Warps>,
                       std::conditional_t<complex_number<typename Terms::element>,
                                          shared_parts<T, Warps, Terms::power>, shared_sums<T, Warps, Terms::power>>>;

/// Whole warps call all members but the constructor.
template <class Terms, int Warps, int ThreadVectors>
class window_sums {
  using T = typename Terms::element;
  using term = typename Terms::term;
  using term_vector = typename Terms::vector;
  using arithmetic = window_arithmetic<Terms>;
  using block_sums = block_sums_of<Terms, Warps>;
  using sums = typename block_sums::sums;
  static constexpr int width = vector<T>::size, tile_elements = ThreadVectors * width;

 public:
  __device__ window_sums(const Terms& terms, block_sums& block, sums* total)
      : terms_(terms), block_(block), total_(total) {}

  /// Adds all tiles of a loaded_tiles or copied_tiles.
  template <class Tiles>
  __device__ void add(Tiles& tiles) {
    for (;;) {
      const bool has_tile = tiles.has_tile();
      if (!has_tile || (tiles_without_window_ == 0 && (needs_window_ || tiles_ == most_tiles))) {
        // The code of the end is fetched at the beginning: this is the one place.
        if (tiles_ > 0 || Tiles::fetches_code_first) flush();
        if (!has_tile) break;
        choose_window(tiles);
      }
      if (tiles_without_window_ > 0) {
        --tiles_without_window_;
        add_one_by_one(tiles);
      } else {
        add_in_window(tiles);
      }
      tiles.advance();
    }
  }

  /// Adds one term of each thread with has_element: the elements before and after the whole vectors.
  __device__ void add_end(const T* x, bool has_element) {
    block_.reserve(additions_, 32, total_);
    additions_ += 32;
    if (!has_element) return;
    term last[] = {terms_.load_one(x)};
    block_.note_terms(not_negative_zeros(last[0]));
    block_.add_few(last);
  }

  /// Adds to the block's sums whether a term was not -0.
  __device__ void finish() { block_.note_terms(not_negative_zeros_); }

 private:
  static constexpr unsigned whole_warp = 0xffffffffu;
  static constexpr unsigned all_parts = complex_number<T> ? 3 : 1;
  static constexpr int most_tiles = arithmetic::most_elements / tile_elements;
  static constexpr int tiles_until_retry = 16;  ///< added one by one where no window holds most terms
  static constexpr int at_once = arithmetic::vectors_at_once;
  static_assert(tile_elements <= 32 && 32 * tile_elements <= block_sums::most_additions &&
                ThreadVectors % at_once == 0);

  template <class Tiles>
  __device__ void add_in_window(Tiles& tiles) {
    block_.reserve(additions_, 32 * tile_elements, total_);
    unsigned outside = 0;
    const auto keep_inside = [&](term_vector& v) {
      const rest inside = take_outside(block_, arithmetic_, v);
      v = inside.v;
      outside |= inside.outside;
    };
#pragma unroll(std::max(Tiles::unrolled_vectors / at_once, 1))
    for (int k = 0; k < ThreadVectors; k += at_once) {
      term_vector v[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) v[i] = tiles.take(k + i);
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        if (tiles.has_vector(k + i) && !arithmetic_.holds_all(v[i])) keep_inside(v[i]);
      }
      arithmetic_.add(v);
    }
    ++tiles_;
    const unsigned threads_outside = __ballot_sync(whole_warp, outside != 0);
    if (threads_outside == 0) return;
    additions_ += __popc(threads_outside) * tile_elements;
    needs_window_ = needs_window_ || __popc(threads_outside) >= 16 || __any_sync(whole_warp, (outside & above) != 0);
  }

  static constexpr unsigned below = 1, above = 2;
  /// A vector with 0 for the terms outside of the window, and where these are.
  struct rest {
    term_vector v;
    unsigned outside;
  };
  /// Adds the terms outside of the window one by one. Not inlined: short sums fetch this code only if they need it.
  __device__ __noinline__ static rest take_outside(block_sums& block, typename arithmetic::windows windows,
                                                   term_vector v) {
    term x[width] = {};
    unsigned outside = 0;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const term one = v.at(i);
      if (windows.holds(one)) continue;
      outside |= windows.is_below(one) ? below : above;
      x[i] = one;
      v.clear(i);
    }
    if (outside != 0) block.add_few(x);
    return {v, outside};
  }

  template <class Tiles>
  __device__ void add_one_by_one(Tiles& tiles) {
    block_.reserve(additions_, tile_elements, total_);
    additions_ += tile_elements;
    block_.use_copies();
#pragma unroll(Tiles::unrolled_vectors)
    for (int k = 0; k < ThreadVectors; ++k) {
      const term_vector v = tiles.take(k);
      term x[width];
#pragma unroll
      for (int i = 0; i < width; ++i) x[i] = v.at(i);
      block_.add(x);
    }
  }

  /// Chooses a window for the tile, from its largest exponents. If half of the threads have terms outside of the
  /// window in their first vectors, or all terms are -0, they are added one by one. While all terms of a part are -0,
  /// each tile chooses a window, since terms are looked at here only.
  template <class Tiles>
  __device__ void choose_window(const Tiles& tiles) {
    unsigned largest[arithmetic::factors] = {};
#pragma unroll(Tiles::unrolled_vectors)
    for (int k = 0; k < ThreadVectors; ++k) arithmetic::note_largest(tiles.at(k), largest);
#pragma unroll
    for (unsigned& x : largest) x = warp_max(x);
    arithmetic_.choose(largest);
    if (arithmetic::factors == 2 || largest[0] == 0) {
      note_negative_zeros(tiles);
    } else {
      not_negative_zeros_ = all_parts;
    }
    const term_vector first = tiles.at(0);
    bool has_outside = false;
#pragma unroll
    for (int i = 0; i < width; ++i) has_outside = has_outside || !arithmetic_.holds(first.at(i));
    const bool many_outside = __popc(__ballot_sync(whole_warp, has_outside)) >= 16;
    needs_window_ = not_negative_zeros_ != all_parts || many_outside;
    if (not_negative_zeros_ == 0 || many_outside) {
      tiles_without_window_ = not_negative_zeros_ == all_parts ? tiles_until_retry : 1;
    }
  }

  /// Notes which parts of the terms are not -0.
  template <class Tiles>
  __device__ void note_negative_zeros(const Tiles& tiles) {
#pragma unroll(Tiles::unrolled_vectors)
    for (int k = 0; k < ThreadVectors; ++k) {
      const term_vector v = tiles.at(k);
#pragma unroll
      for (int i = 0; i < width; ++i) not_negative_zeros_ |= not_negative_zeros(v.at(i));
    }
    not_negative_zeros_ = warp_or(not_negative_zeros_);
  }

  /// Adds the sums of the window to the block's chunks, and clears them.
  __device__ void flush() {
    block_.reserve(additions_, 32 * arithmetic::warp_values, total_);
    additions_ += 32 * arithmetic::warp_values;
    arithmetic_.flush(block_);
    tiles_ = 0;
  }

  const Terms& terms_;
  block_sums& block_;
  sums* total_;
  arithmetic arithmetic_;
  int tiles_ = 0;                 ///< the tiles whose sums arithmetic_ holds
  int additions_ = 0;             ///< additions to one word of the block since this warp's last drain
  int tiles_without_window_ = 0;  ///< how many more tiles are added one by one
  bool needs_window_ = true;
  unsigned not_negative_zeros_ = 0;  ///< a bit for each part of which a term was not -0
};

}  // namespace fanin::cuda
