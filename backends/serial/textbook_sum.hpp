// SPDX-License-Identifier: Apache-2.0
// Textbook sums of f32 and f64 by plain loops, for comparison with the shipped variants.
#pragma once

#include <fanin/backend.hpp>
#include <fanin/loop.hpp>

namespace fanin::serial {

/// One textbook sum, for f32 and f64. The arithmetic has only reduce() and a bound, which take whole arrays.
struct textbook_sum {
  variant_info info;
  detail::arithmetic of_f32, of_f64;
};

/// All textbook sums, in the order in which users see them.
std::span<const textbook_sum> textbook_sums() noexcept;

}  // namespace fanin::serial
