// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/tile_copy.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

namespace fanin::cpu {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Transposes as many elements by as many rows as fit into a vector of 16 bytes; the rows are neighbours.
inline void transpose_block(const std::uint32_t* from, std::ptrdiff_t along, std::uint32_t* to,
                            std::size_t distance) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::FixedTag<std::uint64_t, 2> pairs;
  const auto row = [&](std::ptrdiff_t i) { return hn::LoadU(d, from + i * along); };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, to + distance);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, to + 2 * distance);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, to + 3 * distance);
}
inline void transpose_block(const std::uint64_t* from, std::ptrdiff_t along, std::uint64_t* to,
                            std::size_t distance) {
  const hn::FixedTag<std::uint64_t, 2> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + along);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + distance);
}

/// `Word` stands for the elements: its values do not matter.
template <class Word>
void copy_words(const tile& t, std::byte* bytes, std::size_t distance) {
  const auto* const from = reinterpret_cast<const Word*>(t.from);
  auto* const to = reinterpret_cast<Word*>(bytes);
  if (t.along == 1) {
    for (std::size_t r = 0; r < t.rows; ++r) {
      std::memcpy(to + r * distance, from + static_cast<std::ptrdiff_t>(r) * t.across, t.count * sizeof(Word));
    }
    return;
  }
  std::size_t i = 0;
  if constexpr (std::is_integral_v<Word> && sizeof(Word) >= 4) {
    constexpr std::size_t side = 16 / sizeof(Word);
    const std::size_t whole = t.across == 1 ? t.rows / side * side : 0;
    for (; whole > 0 && i + side <= t.count; i += side) {
      const Word* const line = from + static_cast<std::ptrdiff_t>(i) * t.along;
      for (std::size_t r = 0; r < whole; r += side) {
        transpose_block(line + r, t.along, to + r * distance + i, distance);
      }
      for (std::size_t r = whole; r < t.rows; ++r) {
        for (std::size_t k = 0; k < side; ++k) {
          to[r * distance + i + k] = line[static_cast<std::ptrdiff_t>(k) * t.along + static_cast<std::ptrdiff_t>(r)];
        }
      }
    }
  }
  for (; i < t.count; ++i) {
    const Word* const line = from + static_cast<std::ptrdiff_t>(i) * t.along;
    for (std::size_t r = 0; r < t.rows; ++r) to[r * distance + i] = line[static_cast<std::ptrdiff_t>(r) * t.across];
  }
}

}  // namespace

void copy_tile(const tile& elements, std::byte* to, std::size_t distance) {
  switch (elements.element_bytes) {
    case 1:
      return copy_words<std::uint8_t>(elements, to, distance);
    case 2:
      return copy_words<std::uint16_t>(elements, to, distance);
    case 4:
      return copy_words<std::uint32_t>(elements, to, distance);
    case 8:
      return copy_words<std::uint64_t>(elements, to, distance);
    case 16:
      return copy_words<std::array<std::uint64_t, 2>>(elements, to, distance);
  }
}

}  // namespace fanin::cpu
