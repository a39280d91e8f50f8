// SPDX-License-Identifier: Apache-2.0
// The axes of an array, as the user or a header of .npy has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/input/source.hpp"

namespace fanin::cli {

struct array_shape {
  std::vector<std::size_t> counts;      ///< the number of places on each axis
  std::vector<std::ptrdiff_t> strides;  ///< in elements; empty in C order
};

/// The axes in a list as in "0,-1". @throws usage_error
std::vector<int> parse_axes(const std::string& text);
/// The shape of an input that is read. `said` is a shape as in "3,4", or empty. An input with a header has the
/// shape of its header. An input without a header has the shape `said`, or one axis if `said` is empty. `count` is
/// the number of elements.
/// @throws usage_error if `said` differs from the header
array_shape shape_of(const source& input, const std::string& said, std::size_t count);
/// The counts of the axes that are not in `along`.
std::vector<std::size_t> counts_left(std::span<const std::size_t> counts, std::span<const int> along);
/// The shape as numpy writes it: "(3, 4)".
std::string shape_text(std::span<const std::size_t> counts);

}  // namespace fanin::cli
