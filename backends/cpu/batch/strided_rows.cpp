// SPDX-License-Identifier: Apache-2.0
// Rows whose elements lie apart. Rows that are neighbours in memory are copied together, piece by piece, and each
// piece is folded while it is in the cache. Pieces are whole leaves, so that the bits are those of a contiguous row.
#include "backends/cpu/batch/strided_rows.hpp"

#include <bit>
#include <cstdlib>
#include <vector>

#include "backends/cpu/batch/axes.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/tile_copy.hpp"

namespace fanin::cpu {
namespace {

constexpr std::size_t piece_bytes = 8192;
constexpr std::size_t most_rows_in_tile = 32;
constexpr std::size_t line_bytes = 128;  ///< read from one place before the next: a cache line and its neighbour

class strided_rows {
 public:
  strided_rows(const batch& many, batch_results& results, unsigned threads)
      : many_(many), results_(results), loops_(results.loops()), length_(places(reduced_axes(many))) {
    const std::size_t leaves = std::max<std::size_t>(1, piece_bytes / (loops_.leaf_elements * loops_.element_bytes));
    piece_ = loops_.leaf_elements * std::bit_floor(leaves);
    pieces_ = (length_ + piece_ - 1) / piece_;
    distance_ = piece_ + 64 / loops_.element_bytes;  // A distance of 2^k bytes would put all rows into one set of L1.
    split_axes();
    const std::size_t wanted = std::size_t{8} * threads, all = tiles();
    if (threads > 1 && all < wanted && length_ * many.result_count * loops_.element_bytes >= parallel_bytes) {
      pieces_in_part_ = std::bit_ceil((pieces_ * all + wanted - 1) / wanted);
    } else {
      pieces_in_part_ = std::bit_ceil(pieces_);
    }
    parts_ = (pieces_ + pieces_in_part_ - 1) / pieces_in_part_;
    if (parts_ > 1) {
      states_ = partials_.get(many.result_count * parts_ * state_stride(loops_));
      present_.resize(many.result_count * parts_);
    }
  }

  std::size_t tiles() const { return places(outer()) * ((across_.count + rows_in_tile_ - 1) / rows_in_tile_); }
  std::size_t tasks() const { return tiles() * parts_; }
  std::size_t parts() const { return parts_; }
  std::uint64_t length() const { return length_; }

  /// Folds one part of all rows of one tile.
  void fold_task(std::size_t task) {
    const std::size_t part = task % parts_, tile = task / parts_;
    const std::size_t tiles_across = (across_.count + rows_in_tile_ - 1) / rows_in_tile_;
    const axis_walk where(outer(), tile / tiles_across);
    const std::size_t first_row = tile % tiles_across * rows_in_tile_;
    const std::size_t rows = std::min(rows_in_tile_, across_.count - first_row);
    std::size_t of_row[most_rows_in_tile];
    for (std::size_t r = 0; r < rows; ++r) {
      of_row[r] = static_cast<std::size_t>(where.here().of_mask) + (first_row + r) * across_result_;
    }
    try {
      fold_rows(base_of(tile / tiles_across, first_row), of_row, rows, part);
    } catch (...) {
      results_.fail(of_row[0]);
    }
  }

  /// Merges the parts of row i.
  void finish_row(std::size_t i) {
    state_memory memory;
    std::byte* const state = memory.get((levels(parts_) + 1) * state_stride(loops_));
    partial_tree tree(loops_, state + state_stride(loops_));
    std::uint64_t present = 0;
    loops_.reset(state);
    for (std::size_t p = 0; p < parts_; ++p) {
      present += present_[i * parts_ + p];
      loops_.fixed_order() ? tree.push(partial(i, p)) : loops_.merge(state, partial(i, p));
    }
    if (loops_.fixed_order()) tree.finish(state);
    results_.finish(i, length_, present, state);
  }

 private:
  static std::size_t levels(std::size_t leaves) { return std::bit_width(leaves) + 1u; }
  std::byte* partial(std::size_t row, std::size_t part) const {
    return states_ + (row * parts_ + part) * state_stride(loops_);
  }
  std::span<const array_axis> outer() const { return {outer_.data(), outer_count_}; }

  /// Takes the kept axis on which elements are closest together as that across tiles, and leaves the others outside.
  /// In them, the stride of the mask is replaced by that of the results.
  void split_axes() {
    const auto kept = kept_axes(many_);
    std::size_t best = kept.size();
    for (std::size_t a = kept.size(); a-- > 0;) {
      if (best == kept.size() || std::abs(kept[a].stride[0]) < std::abs(kept[best].stride[0])) best = a;
    }
    std::size_t results = 1;
    std::array<std::size_t, most_axes> of_result{};
    for (std::size_t a = kept.size(); a-- > 0;) {
      of_result[a] = results;
      results *= kept[a].count;
    }
    for (std::size_t a = 0; a < kept.size(); ++a) {
      if (a == best) {
        across_ = kept[a];
        across_result_ = of_result[a];
      } else {
        outer_places_[outer_count_] = kept[a];
        outer_[outer_count_] = kept[a];
        outer_[outer_count_++].mask_stride = static_cast<std::ptrdiff_t>(of_result[a]);
      }
    }
    rows_in_tile_ = std::clamp<std::size_t>(line_bytes / loops_.element_bytes, 1, most_rows_in_tile);
    rows_in_tile_ = std::min(rows_in_tile_, across_.count);
  }

  /// The place of the first element of a tile.
  place base_of(std::size_t outer_index, std::size_t first_row) const {
    place base = axis_walk({outer_places_.data(), outer_count_}, outer_index).here();
    const auto steps = static_cast<std::ptrdiff_t>(first_row);
    for (std::size_t i = 0; i < most_inputs; ++i) base.of_input[i] += steps * across_.stride[i];
    base.of_mask += steps * across_.mask_stride;
    return base;
  }

  void fold_rows(const place& base, const std::size_t* of_row, std::size_t rows, std::size_t part) {
    const std::size_t stride = state_stride(loops_),
                      row_states = loops_.fixed_order() ? levels(pieces_in_part_) + 2 : 1;
    const bool masked = static_cast<bool>(many_.inputs.mask());
    state_memory copies, states, masks;
    const std::size_t copied = rows * distance_ * loops_.element_bytes;
    std::byte* const x = copies.get(copied * static_cast<std::size_t>(loops_.inputs));
    std::byte* const mask = masked ? masks.get(rows * distance_) : nullptr;
    std::byte* const of_rows = states.get(rows * row_states * stride);
    const auto total = [&](std::size_t r) { return of_rows + r * row_states * stride; };
    std::vector<partial_tree> trees;
    for (std::size_t r = 0; r < rows; ++r) {
      loops_.reset(total(r));
      if (loops_.fixed_order()) trees.emplace_back(loops_, total(r) + 2 * stride);
    }
    std::uint64_t present[most_rows_in_tile] = {};
    const std::size_t first_piece = part * pieces_in_part_;
    const std::size_t end = std::min(pieces_, first_piece + pieces_in_part_);
    const std::size_t count = std::min(length_, end * piece_) - first_piece * piece_;
    for (std::size_t p = first_piece; p < end; ++p) {
      const std::size_t first = p * piece_, n = std::min(piece_, length_ - first);
      for (int i = 0; i < loops_.inputs; ++i) copy(base, rows, first, n, i, x + static_cast<std::size_t>(i) * copied);
      if (masked) copy_mask(base, rows, first, n, mask);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t offset = r * distance_ * loops_.element_bytes;
        const operands data{x + offset, loops_.inputs == 2 ? x + copied + offset : nullptr, first};
        // A fold looks up the mask by the position in the row.
        const mask_view here = masked ? mask_view{mask + r * distance_, 0 - std::uint64_t{first}} : mask_view();
        if (pieces_ == 1) {
          results_.reduce(of_row[r], data, n, here);
        } else {
          present[r] += fold_piece(data, n, here, total(r), loops_.fixed_order() ? &trees[r] : nullptr);
        }
      }
    }
    if (pieces_ == 1) return;
    for (std::size_t r = 0; r < rows; ++r) {
      if (loops_.fixed_order()) trees[r].finish(total(r));
      if (parts_ == 1) {
        results_.finish(of_row[r], count, present[r], total(r));
      } else {
        std::copy_n(total(r), loops_.state_bytes, partial(of_row[r], part));
        present_[of_row[r] * parts_ + part] = present[r];
      }
    }
  }

  /// Folds a piece of a row into `total`, or where order matters, into the state behind it and then into the tree.
  std::uint64_t fold_piece(const operands& data, std::size_t n, const mask_view& mask, std::byte* total,
                           partial_tree* tree) const {
    std::byte* const state = tree != nullptr ? total + state_stride(loops_) : total;
    std::uint64_t present = n;
    if (results_.partial()) {
      present = accumulate_present(loops_, results_.rule(), mask, data, n, state);
    } else {
      loops_.accumulate(data, n, state);
    }
    if (tree != nullptr) tree->push(state);
    return present;
  }

  /// Calls f(place, begin, n) for the runs of the elements first .. first + count - 1 of a row along the last axis.
  template <class F>
  void for_each_run(std::size_t first, std::size_t count, const F& f) const {
    const auto axes = reduced_axes(many_);
    const std::size_t inner = axes.empty() ? 1 : axes.back().count;
    for (std::size_t done = 0; done < count;) {
      const axis_walk where(axes, first + done);
      const std::size_t n = std::min(count - done, inner - (first + done) % inner);
      f(where.here(), done, n);
      done += n;
    }
  }

  void copy(const place& base, std::size_t rows, std::size_t first, std::size_t count, int input,
            std::byte* to) const {
    const auto i = static_cast<std::size_t>(input);
    const std::ptrdiff_t along = many_.reduced == 0 ? 0 : reduced_axes(many_).back().stride[i];
    for_each_run(first, count, [&](const place& at, std::size_t begin, std::size_t n) {
      const std::ptrdiff_t offset = base.of_input[i] + at.of_input[i];
      const auto* const data = static_cast<const std::byte*>(many_.inputs[input].data);
      const std::byte* const from = data + offset * static_cast<std::ptrdiff_t>(loops_.element_bytes);
      copy_tile({from, loops_.element_bytes, along, across_.stride[i], n, rows}, to + begin * loops_.element_bytes,
                distance_);
    });
  }

  void copy_mask(const place& base, std::size_t rows, std::size_t first, std::size_t count, std::byte* to) const {
    const mask_view& mask = many_.inputs.mask();
    const auto* const bytes = static_cast<const std::uint8_t*>(mask.data);
    const std::ptrdiff_t along = many_.reduced == 0 ? 0 : reduced_axes(many_).back().mask_stride;
    for_each_run(first, count, [&](const place& at, std::size_t begin, std::size_t n) {
      const auto from = static_cast<std::ptrdiff_t>(mask.first) + base.of_mask + at.of_mask;
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = 0; k < n; ++k) {
          const auto entry = static_cast<std::size_t>(from + static_cast<std::ptrdiff_t>(r) * across_.mask_stride +
                                                      static_cast<std::ptrdiff_t>(k) * along);
          const bool takes_part = mask.form == mask_form::bits ? bytes[entry / 8] >> (entry % 8) & 1 : bytes[entry];
          to[r * distance_ + begin + k] = std::byte{takes_part};
        }
      }
    });
  }

  const batch& many_;
  batch_results& results_;
  const arithmetic& loops_;
  std::size_t length_;
  array_axis across_;
  std::size_t across_result_ = 0;
  std::array<array_axis, most_axes> outer_{}, outer_places_{};
  std::size_t outer_count_ = 0;
  std::size_t rows_in_tile_ = 1;
  std::size_t piece_ = 0, distance_ = 0, pieces_ = 0, pieces_in_part_ = 0, parts_ = 0;
  state_memory partials_;
  std::byte* states_ = nullptr;
  std::vector<std::uint64_t> present_;
};

}  // namespace

std::uint64_t reduce_strided_rows(const cpu_backend& backend, batch_results& results, unsigned threads,
                                  const batch& many) {
  strided_rows rows(many, results, std::min(threads, most_threads));
  const std::size_t row_bytes = rows.length() * results.loops().element_bytes + bytes_for_result;
  const std::size_t task_bytes = row_bytes * many.result_count / rows.tasks() + 1;
  run_in_shares(
      backend, threads, rows.tasks(), [&](std::size_t i) { return i * task_bytes; },
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) rows.fold_task(i);
      });
  if (rows.parts() > 1) {
    const environment_guard guard;
    for (std::size_t i = 0; i < many.result_count; ++i) rows.finish_row(i);
  }
  return rows.length();
}

}  // namespace fanin::cpu
