// SPDX-License-Identifier: Apache-2.0
// Textbook sums of f32 and f64 by plain loops, for comparison with the shipped variants.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::serial {

/// One textbook sum. `sum` and `bound` exist for f32 and f64; both take the count of elements.
struct textbook_sum {
  variant_info info;
  float (*sum_f32)(const float* x, std::size_t count);
  double (*sum_f64)(const double* x, std::size_t count);
  error_bound (*bound_f32)(std::uint64_t count);
  error_bound (*bound_f64)(std::uint64_t count);
};

/// All textbook sums, in the order in which users see them.
std::span<const textbook_sum> textbook_sums() noexcept;

}  // namespace fanin::serial
