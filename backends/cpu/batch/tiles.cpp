// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/tiles.hpp"

#include <bit>
#include <cstdlib>

namespace fanin::cpu {

row_tiles::row_tiles(const batch& many, std::size_t rows_in_tile, std::size_t block, const tile_cut& cut)
    : length_(places(reduced_axes(many))) {
  take_axes(many);
  if (cut.strip > 0) rows_in_tile = std::min(std::bit_floor(rows_in_tile), cut.strip);
  rows_in_tile_ = std::min(rows_in_tile, across_.count);
  tiles_across_ = (across_.count + rows_in_tile_ - 1) / rows_in_tile_;
  tiles_ = places(outer()) * tiles_across_;
  const std::size_t blocks = (length_ + block - 1) / block, wanted = (cut.tasks + tiles_ - 1) / tiles_;
  part_ = cut.part > 0 ? cut.part : block * std::bit_ceil((blocks + wanted - 1) / wanted);
  parts_ = (length_ + part_ - 1) / part_;
}

row_tile row_tiles::task(std::size_t i) const {
  const std::size_t part = i % parts_, tile = i / parts_;
  const std::size_t first_row = tile % tiles_across_ * rows_in_tile_;
  const axis_walk where(outer(), tile / tiles_across_);
  row_tile found{};
  found.base = axis_walk({outer_places_.data(), outer_count_}, tile / tiles_across_).here();
  const auto steps = static_cast<std::ptrdiff_t>(first_row);
  for (std::size_t a = 0; a < most_inputs; ++a) found.base.of_input[a] += steps * across_.stride[a];
  found.base.of_mask += steps * across_.mask_stride;
  found.rows = std::min(rows_in_tile_, across_.count - first_row);
  found.first_result = static_cast<std::size_t>(where.here().of_mask) + first_row * across_result_;
  found.result_distance = across_result_;
  found.begin = part * part_;
  found.count = std::min(part_, length_ - found.begin);
  return found;
}

void row_tiles::take_axes(const batch& many) {
  const auto kept = kept_axes(many);
  const auto distance = [&](std::size_t a) {
    const std::ptrdiff_t stride = kept[a].stride[0];
    return stride == 1 ? 0 : std::abs(stride) + 1;
  };
  std::size_t best = kept.size();
  for (std::size_t a = kept.size(); a-- > 0;) {
    if (best == kept.size() || distance(a) < distance(best)) best = a;
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
}

}  // namespace fanin::cpu
