// SPDX-License-Identifier: Apache-2.0
// Elements whose sums are known, however many there are.
#pragma once

#include <cstdint>

#include <fanin/compiler.hpp>

namespace fanin::test {

/// More elements than 31 bits count.
inline constexpr std::uint64_t many_elements = (std::uint64_t{1} << 31) + 4099;

/// Element i is -2, -1, 0, 1, 2 and so on; sum_before(i) is the sum of the elements before it.
FANIN_HOST_DEVICE constexpr int periodic(std::uint64_t i) { return static_cast<int>(i % 5) - 2; }
FANIN_HOST_DEVICE constexpr int sum_before(std::uint64_t i) {
  const int rest = static_cast<int>(i % 5);
  return rest * (rest - 5) / 2;
}
static_assert(sum_before(5) == 0 && sum_before(4) == -2 && sum_before(3) == -3);

/// Three floats for each of 10^8 groups, in an order that mixes these: 2^30, a small one, and -2^30. Only without
/// rounding is their sum the small one.
struct many_groups {
  static constexpr std::uint64_t count = 100'000'000, elements = 3 * count;
  FANIN_HOST_DEVICE static constexpr std::int32_t key(std::uint64_t i) {
    return static_cast<std::int32_t>(i * 61'803'399 % count);
  }
  FANIN_HOST_DEVICE static constexpr float sum(std::int32_t key) { return static_cast<float>(key % 1021 + 1) / 1024; }
  FANIN_HOST_DEVICE static constexpr float element(std::uint64_t i) {
    return i < count ? 0x1p30f : i < 2 * count ? sum(key(i)) : -0x1p30f;
  }
};

/// How many of the elements below `end` are `first`, `first` + `step`, ...
FANIN_HOST_DEVICE constexpr std::uint64_t count_from(std::uint64_t first, std::uint64_t step, std::uint64_t end) {
  return first < end ? (end - first - 1) / step + 1 : 0;
}

}  // namespace fanin::test
