// SPDX-License-Identifier: Apache-2.0
// Accumulators as a user would write them, for <fanin/fold.hpp> and <fanin/fold.cuh>.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/compiler.hpp>

namespace fanin::test {

/// A sum whose bits depend on the order of its additions.
struct ordered_sum {
  using element = float;
  using state = float;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static state identity() { return -0.0f; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += x; }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s += other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s;
  }
};

struct point {
  float x, y, weight;
};

/// A box and the number of its points; the element has 12 bytes, the state 24.
struct bounding_box {
  struct box {
    float left, right, bottom, top;
    std::uint64_t points;
  };
  using element = point;
  using state = box;
  using result = box;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static state identity() {
    constexpr float far = std::numeric_limits<float>::infinity();
    return {far, -far, far, -far, 0};
  }
  FANIN_HOST_DEVICE static void add(state& s, const element& p) { merge(s, {p.x, p.x, p.y, p.y, 1}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.left = other.left < s.left ? other.left : s.left;
    s.right = other.right > s.right ? other.right : s.right;
    s.bottom = other.bottom < s.bottom ? other.bottom : s.bottom;
    s.top = other.top > s.top ? other.top : s.top;
    s.points += other.points;
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s;
  }
};

/// The place of the largest element. If several are equal, it is the place of the first.
struct place_of_largest {
  struct found {
    float value;
    std::uint32_t any;
    std::uint64_t place;
  };
  using element = float;
  using state = found;
  using result = std::uint64_t;
  static constexpr bool order_free = true, wants_position = true;
  FANIN_HOST_DEVICE static state identity() { return {0, 0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, element x, std::uint64_t position) { merge(s, {x, 1, position}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    const bool larger = other.value > s.value || (other.value == s.value && other.place < s.place);
    if (other.any != 0 && (s.any == 0 || larger)) s = other;
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s.place;
  }
};

/// The place at which the product of two elements is largest: the first of equal ones.
struct place_of_largest_product : place_of_largest {
  static constexpr std::size_t inputs = 2;
  FANIN_HOST_DEVICE static void add(state& s, element x, element y, std::uint64_t position) {
    merge(s, {x * y, 1, position});
  }
};

/// How many elements are in each of 80 intervals of [0, 1): a state of 320 bytes.
struct histogram {
  static constexpr int intervals = 80;
  struct counts {
    std::uint32_t of[intervals];
  };
  using element = float;
  using state = counts;
  using result = counts;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static state identity() { return {}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    if (x >= 0 && x < 1) ++s.of[static_cast<int>(x * intervals)];
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    for (int i = 0; i < intervals; ++i) s.of[i] += other.of[i];
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s;
  }
};

/// A dot product in double, in the fixed order.
struct plain_dot {
  using element = float;
  using state = double;
  using result = double;
  static constexpr bool order_free = false;
  static constexpr std::size_t inputs = 2;
  FANIN_HOST_DEVICE static state identity() { return 0; }
  FANIN_HOST_DEVICE static void add(state& s, element x, element y) { s += static_cast<double>(x) * y; }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s += other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s;
  }
};

}  // namespace fanin::test
