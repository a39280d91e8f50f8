// Products that are rounded before anything is added to them, whatever the caller's compiler flags allow: contracted
// to a fused multiply-add, a sum of products would have other bits, and fewer roundings than its bound counts.
#pragma once

#include <fanin/compiler.hpp>

namespace fanin::accumulator {

/// fl(x * y), for float and double.
template <class T>
FANIN_HOST_DEVICE inline T rounded_product(T x, T y) {
  T product;
  FANIN_ROUND_PRODUCT(product, x, y);
  return product;
}

}  // namespace fanin::accumulator
