// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/copied_rows.hpp"

#include <algorithm>
#include <bit>

#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/tile_copy.hpp"

namespace fanin::cpu {
namespace {

constexpr std::size_t most_at_once = 256;

/// If the order matters, pieces are whole leaves, so the bits are the same as for a contiguous row.
std::size_t piece_of(const arithmetic& loops) {
  if (!loops.in_leaves()) return loops.element_bytes < 4 ? 1024 : 512;
  const std::size_t leaf_bytes_here = loops.leaf_elements * loops.element_bytes;
  return loops.leaf_elements * std::bit_floor(std::max<std::size_t>(1, leaf_bytes / leaf_bytes_here));
}

/// The number of rows that are copied at once. So many neighbouring elements are read from one place before the
/// next: a few cache lines, or fewer if pieces are larger.
std::size_t rows_of(const arithmetic& loops) {
  return std::clamp<std::size_t>((loops.in_leaves() ? 128 : 256) / loops.element_bytes, 1,
                                 loops.in_leaves() ? 32 : most_at_once);
}

/// The distance from a copied row of `elements` elements to the next, which is an odd number of cache lines. Rows
/// that are 2^k bytes apart would all be in one set of an L1 cache.
std::size_t distance_of(std::size_t elements, std::size_t element_bytes) {
  return ((elements * element_bytes + 63) / 64 | 1) * 64 / element_bytes;
}

/// The levels of a tree of partials of pieces.
std::size_t levels_of(std::size_t pieces) { return static_cast<std::size_t>(std::bit_width(pieces)) + 1; }

}  // namespace

copied_rows::copied_rows(const batch& many, batch_results& results, const tile_cut& cut)
    : many_(many),
      results_(results),
      loops_(results.loops()),
      piece_(piece_of(loops_)),
      distance_(distance_of(std::min(piece_, places(reduced_axes(many))), loops_.element_bytes)),
      tiles_(many, rows_of(loops_), piece_, cut) {
  if (tiles_.parts() == 1) return;
  partials_ = partial_memory_.get(tiles_.tasks() * tiles_.rows_in_tile() * state_stride(loops_));
  present_.resize(tiles_.tasks() * tiles_.rows_in_tile());
}

void copied_rows::fold(std::size_t task, workspace& with) {
  const row_tile tile = tiles_.task(task);
  const bool masked = static_cast<bool>(many_.inputs.mask()), ordered = loops_.in_leaves();
  const bool at_once = tiles_.parts() == 1 && tiles_.length() <= piece_;
  const std::size_t stride = state_stride(loops_);
  const std::size_t row_states = ordered ? levels_of((tile.count + piece_ - 1) / piece_) + 2 : 1;
  const std::size_t copied = tile.rows * distance_ * loops_.element_bytes;
  std::byte* const x = with.copies.get(copied * static_cast<std::size_t>(loops_.inputs));
  std::byte* const mask = masked ? with.masks.get(tile.rows * distance_) : nullptr;
  std::byte* const states = at_once ? nullptr : with.states.get(tile.rows * row_states * stride);
  with.trees.clear();
  for (std::size_t r = 0; r < tile.rows && !at_once; ++r) {
    loops_.reset(states + r * row_states * stride);
    if (ordered) with.trees.emplace_back(loops_, states + (r * row_states + 2) * stride);
  }
  std::uint64_t taking_part[most_at_once] = {};
  collected_runs collected(results_);
  for (std::size_t begin = 0; begin < tile.count; begin += piece_) {
    const std::size_t first = tile.begin + begin, n = std::min(piece_, tile.count - begin);
    for (int i = 0; i < loops_.inputs; ++i) copy(tile, first, n, i, x + static_cast<std::size_t>(i) * copied);
    if (masked) copy_mask(tile, first, n, mask);
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const std::size_t offset = r * distance_ * loops_.element_bytes;
      const operands data{x + offset, loops_.inputs == 2 ? x + copied + offset : nullptr, first};
      // A fold looks up the mask by the position in the row.
      const mask_view here = masked ? mask_view{mask + r * distance_, 0 - std::uint64_t{first}} : mask_view();
      if (at_once && results_.takes_runs_of(n)) {
        collected.add(tile.first_result + r * tile.result_distance, data, n);
      } else if (at_once) {
        results_.reduce(tile.first_result + r * tile.result_distance, data, n, here);
      } else {
        std::byte* const total = states + r * row_states * stride;
        taking_part[r] += fold_piece(data, n, here, total, ordered ? &with.trees[r] : nullptr);
      }
    }
  }
  collected.fold();
  for (std::size_t r = 0; r < tile.rows && !at_once; ++r) {
    std::byte* const total = states + r * row_states * stride;
    if (ordered) with.trees[r].finish(total);
    if (tiles_.parts() == 1) {
      results_.finish(tile.first_result + r * tile.result_distance, tile.count, taking_part[r], total);
    } else {
      std::copy_n(total, loops_.state_bytes, partial(task, r));
      present(task, r) = taking_part[r];
    }
  }
}

void copied_rows::merge(std::size_t tile) {
  const std::size_t first = tile * tiles_.parts();
  const row_tile rows = tiles_.task(first);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    merge_parts(tiles_.parts(), [&](std::size_t into, std::size_t from) {
      loops_.merge(partial(first + into, r), partial(first + from, r));
      present(first + into, r) += present(first + from, r);
    });
    results_.finish(rows.first_result + r * rows.result_distance, tiles_.length(), present(first, r),
                    partial(first, r));
  }
}

/// Folds a piece of a row into `total`, or where order matters, into the state behind it and then into the tree.
std::uint64_t copied_rows::fold_piece(const operands& data, std::size_t n, const mask_view& mask, std::byte* total,
                                      partial_tree* tree) const {
  std::byte* const state = tree != nullptr ? total + state_stride(loops_) : total;
  std::uint64_t taking_part = n;
  if (results_.partial()) {
    taking_part = accumulate_present(loops_, results_.rule(), mask, data, n, state);
  } else {
    loops_.accumulate(data, n, state);
  }
  if (tree != nullptr) tree->push(state);
  return taking_part;
}

/// Calls f(place, begin, n) for the runs of the elements first .. first + count - 1 of a row along the last axis.
template <class F>
void copied_rows::for_each_run(std::size_t first, std::size_t count, const F& f) const {
  const auto axes = reduced_axes(many_);
  const std::size_t inner = axes.back().count;
  for (std::size_t done = 0; done < count;) {
    const axis_walk where(axes, first + done);
    const std::size_t n = std::min(count - done, inner - (first + done) % inner);
    f(where.here(), done, n);
    done += n;
  }
}

void copied_rows::copy(const row_tile& tile, std::size_t first, std::size_t count, int input, std::byte* to) const {
  const auto i = static_cast<std::size_t>(input);
  const std::ptrdiff_t along = reduced_axes(many_).back().stride[i], across = tiles_.across().stride[i];
  const auto bytes = static_cast<std::ptrdiff_t>(loops_.element_bytes);
  const auto* const data = static_cast<const std::byte*>(many_.inputs[input].data);
  for_each_run(first, count, [&](const place& at, std::size_t begin, std::size_t n) {
    const std::byte* const from = data + (tile.base.of_input[i] + at.of_input[i]) * bytes;
    copy_tile({from, loops_.element_bytes, along, across, n, tile.rows}, to + begin * loops_.element_bytes,
              distance_);
  });
}

void copied_rows::copy_mask(const row_tile& tile, std::size_t first, std::size_t count, std::byte* to) const {
  const mask_view& mask = many_.inputs.mask();
  const std::ptrdiff_t along = reduced_axes(many_).back().mask_stride, across = tiles_.across().mask_stride;
  for_each_run(first, count, [&](const place& at, std::size_t begin, std::size_t n) {
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const std::ptrdiff_t from = tile.base.of_mask + at.of_mask + static_cast<std::ptrdiff_t>(r) * across;
      for (std::size_t k = 0; k < n; ++k) {
        const auto entry = static_cast<std::uint64_t>(from + static_cast<std::ptrdiff_t>(k) * along);
        to[r * distance_ + begin + k] = std::byte{takes_part(mask, entry)};
      }
    }
  });
}

}  // namespace fanin::cpu
