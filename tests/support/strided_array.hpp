// SPDX-License-Identifier: Apache-2.0
// An array of another library.
#pragma once

#include <cstddef>

namespace fanin::test {

/// Looks like an array of Eigen: it has data(), size() and strides, and no iterators.
struct strided_array {
  const double* first;
  std::ptrdiff_t columns, rows, between_columns, between_rows = 1;

  const double* data() const { return first; }
  std::ptrdiff_t size() const { return columns * rows; }
  std::ptrdiff_t innerSize() const { return rows; }
  std::ptrdiff_t innerStride() const { return between_rows; }
  std::ptrdiff_t outerStride() const { return between_columns; }
};

}  // namespace fanin::test
