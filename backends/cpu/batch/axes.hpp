// SPDX-License-Identifier: Apache-2.0
// Walks over the places of several axes in C order.
#pragma once

#include <span>

#include <fanin/batch.hpp>

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// The distance of a place from the first one, in elements of each input and in entries of the mask.
struct place {
  std::array<std::ptrdiff_t, most_inputs> of_input{};
  std::ptrdiff_t of_mask = 0;
};

class axis_walk {
 public:
  /// Begins at the place with index `at` in C order.
  explicit axis_walk(std::span<const array_axis> axes, std::size_t at = 0) noexcept : axes_(axes) {
    for (std::size_t a = axes.size(); a-- > 0;) {
      if (axes[a].count == 0) continue;
      move(a, at % axes[a].count);
      at /= axes[a].count;
    }
  }
  const place& here() const noexcept { return here_; }
  void next() noexcept {
    for (std::size_t a = axes_.size(); a-- > 0;) {
      if (index_[a] + 1 < axes_[a].count) return move(a, index_[a] + 1);
      move(a, 0);
    }
  }

 private:
  void move(std::size_t a, std::size_t to) noexcept {
    const auto steps = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(index_[a]);
    for (std::size_t i = 0; i < most_inputs; ++i) here_.of_input[i] += steps * axes_[a].stride[i];
    here_.of_mask += steps * axes_[a].mask_stride;
    index_[a] = to;
  }

  std::span<const array_axis> axes_;
  std::size_t index_[most_axes] = {};
  place here_;
};

inline std::span<const array_axis> kept_axes(const batch& many) { return {many.axes.data(), many.kept}; }
inline std::span<const array_axis> reduced_axes(const batch& many) {
  return {many.axes.data() + many.kept, many.reduced};
}

/// The number of places of the axes.
inline std::size_t places(std::span<const array_axis> axes) {
  std::size_t count = 1;
  for (const array_axis& axis : axes) count *= axis.count;
  return count;
}

/// The elements at a place.
inline operands operands_at(const batch& many, const place& here, std::size_t element_bytes) {
  const auto at = [&](int i) -> const void* {
    if (i >= many.inputs.size()) return nullptr;
    return static_cast<const std::byte*>(many.inputs[i].data) +
           here.of_input[static_cast<std::size_t>(i)] * static_cast<std::ptrdiff_t>(element_bytes);
  };
  return {at(0), at(1), 0};
}

}  // namespace fanin::cpu
