// SPDX-License-Identifier: Apache-2.0
// Products that are rounded before anything is added to them, with any compiler flags of the caller. If a compiler
// contracted products and additions to fused multiply-adds, results would have other bits.
#pragma once

#include <fanin/compiler.hpp>

namespace fanin::accumulator {

/// x * y rounded to T, float or double.
template <class T>
FANIN_HOST_DEVICE inline T rounded_product(T x, T y) {
  T product;
  FANIN_ROUND_PRODUCT(product, x, y);
  return product;
}

}  // namespace fanin::accumulator
