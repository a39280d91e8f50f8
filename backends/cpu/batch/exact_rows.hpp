// SPDX-License-Identifier: Apache-2.0
// Rows of neighbouring columns. Their words are first added in planes, of which each has one word of every column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/batch/exact_states.hpp"
#include "backends/cpu/exception_flags.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {

/// States whose columns are added side by side, as elements of T, float or double.
template <class T>
class rows_in_words : public exact_states {
 public:
  void add_rows(const void* data, std::ptrdiff_t along, std::size_t rows, std::size_t columns) final {
    const auto* x = static_cast<const std::byte*>(data);
    const element_type type = request_.inputs.type();
    const std::size_t bytes = byte_size(type), in_strip = copies_all_ ? copied_columns<T> : columns;
    distance_ = (columns + whole_vectors - 1) / whole_vectors * whole_vectors;
    planes_.resize(plane_count_ * distance_);
    for (std::size_t n, in_planes = 0; rows > 0; rows -= n) {
      n = std::min(rows_together, rows < rows_at_once ? rows : rows / rows_at_once * rows_at_once);
      for (std::size_t c = 0, here; c < columns; c += here) {
        here = std::min(in_strip, columns - c);
        const bool is_part_of_line = bytes == 2 && here < halves_in_line;
        if (bytes == 2 && !is_part_of_line) here = here / halves_in_line * halves_in_line;
        strip of_rows{x + c * bytes, type, along, n, here};
        alignas(64) T copy[rows_together * copied_columns<T>];
        if (copies_all_ || is_part_of_line) of_rows = copied(of_rows, copy);
        add_strip(of_rows, c);
      }
      x += static_cast<std::ptrdiff_t>(n) * along * static_cast<std::ptrdiff_t>(bytes);
      if (std::exchange(in_planes, in_planes + n) + n + rows_together > most_rows || rows == n) {
        add_planes(columns);
        in_planes = 0;
      }
    }
  }

 protected:
  rows_in_words(const request& request, const exact_window& window, exact_terms terms)
      : request_(request),
        window_(window),
        split_(find_split_loops<T>(terms)),
        plane_count_((terms == exact_terms::moments ? 3 : 1) * column_words<T> + 1) {
    const std::size_t bytes = byte_size(request.inputs.type());
    // Squares of doubles are added down the rows of few columns, which are rows of a copy for the sake of the caches.
    copies_all_ = sizeof(T) == 8 ? terms == exact_terms::moments : bytes == 1 || (bytes == 2 && !split_.sums_halves);
  }
  /// Adds the words of columns in planes to the states.
  virtual void add_planes(std::size_t columns) = 0;
  /// Word i of a column, which is 0 from then on.
  std::uint64_t take_from_plane(std::size_t i, std::size_t column) {
    return std::exchange(planes_[i * distance_ + column], 0);
  }

  const request& request_;
  exact_window window_;
  const split_loops<T>& split_;

 private:
  /// The columns in which a sum that is no double is looked for.
  static constexpr std::size_t columns_retried = 32;

  /// Up to rows_together rows. Element r of column c is x[r * along + c].
  struct strip {
    const void* x;
    element_type type;
    std::ptrdiff_t along;
    std::size_t rows, columns;

    const void* at(std::size_t c) const { return static_cast<const std::byte*>(x) + c * byte_size(type); }
  };
  /// Copies the elements of a strip to `to` as numbers of T, row after row, and returns the strip of the copies.
  static strip copied(const strip& from, T* to) {
    if constexpr (sizeof(T) == 4) {
      widen_rows(from.x, from.along, from.rows, from.columns, from.type, to);
    } else {
      const T* row = static_cast<const T*>(from.x);
      for (std::size_t r = 0; r < from.rows; ++r, row += from.along) {
        prefetch_row(row + rows_ahead * from.along, from.columns * sizeof(T));
        std::copy_n(row, from.columns, to + r * from.columns);
      }
    }
    return {to, type_of<T>, static_cast<std::ptrdiff_t>(from.columns), from.rows, from.columns};
  }
  /// Adds a strip, whose column 0 belongs to state `first`, to the planes.
  FANIN_NOINLINE void add_strip(const strip& all, std::size_t first) {
    constexpr unsigned most_untried = 15;  // keeps attempts that fail below a tenth of the time
    const bool tries = proves_sums_ && all.rows % rows_at_once == 0 && untried_ == 0;
    if (untried_ > 0) --untried_;
    const auto add_sums = [&](std::size_t c, std::size_t count) {
      return tries && count > 0 && count % whole_vectors == 0 &&
             split_.add_sums(window_, all.at(c), all.type, all.along, all.rows, count, planes_.data() + first + c,
                             distance_);
    };
    const std::size_t whole = std::min(columns_together, all.columns / whole_vectors * whole_vectors);
    std::size_t failed = 0;
    for (std::size_t c = add_sums(0, whole) ? whole : 0; c < all.columns; c += columns_retried) {
      const std::size_t here = std::min(columns_retried, all.columns - c);
      if (add_sums(c, here)) continue;
      if (tries && here % whole_vectors == 0 && (failed += here) > all.columns / 2) untried_ = most_untried;
      add_elements({all.at(c), all.type, all.along, all.rows, here}, first + c);
    }
  }
  /// Adds up to columns_retried columns element by element.
  FANIN_NOINLINE void add_elements(strip few, std::size_t first) {
    alignas(64) T copy[rows_together * columns_retried];
    if (few.type != type_of<T>) few = copied(few, copy);
    const T* const x = static_cast<const T*>(few.x);
    std::uint32_t misfits[columns_retried];
    const std::size_t found =
        split_.add_rows(window_, x, few.along, few.rows, few.columns, planes_.data() + first, distance_, misfits);
    for (std::size_t k = 0; k < found; ++k) {
      T column[rows_together];
      std::uint32_t group[rows_together];
      std::fill_n(group, few.rows, static_cast<std::uint32_t>(first + misfits[k]));
      for (std::size_t r = 0; r < few.rows; ++r)
        column[r] = x[static_cast<std::ptrdiff_t>(r) * few.along + misfits[k]];
      this->add(group, column, few.rows, 0);
    }
  }

  const bool proves_sums_ = split_.add_sums != nullptr && sets_inexact();
  bool copies_all_;
  std::size_t plane_count_;
  std::vector<std::uint64_t> planes_;  ///< the words of columns that were not added to states yet
  unsigned untried_ = 0;               ///< strips whose sums are not tried as doubles, since most of one were none
  std::size_t distance_ = 0;           ///< from a word of a column to its next one
};

}  // namespace fanin::cpu
