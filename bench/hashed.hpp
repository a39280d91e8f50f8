// SPDX-License-Identifier: Apache-2.0
// Random bits by index, so that threads fill an array in any order.
#pragma once

#include <cstdint>

namespace fanin::bench {

/// Element i of the SplitMix64 sequence.
constexpr std::uint64_t hashed(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
  i = (i ^ i >> 27) * 0x94d049bb133111ebu;
  return i ^ i >> 31;
}

}  // namespace fanin::bench
