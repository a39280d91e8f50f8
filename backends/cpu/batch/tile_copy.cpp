// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/tile_copy.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {
namespace {

/// Transposes as many elements by as many rows as fit into a vector of 16 bytes; the rows are neighbours. Each step
/// interleaves both halves of the vectors, as a perfect shuffle of cards does. I... are 0, ..., side - 1, since the
/// compiler keeps an array in registers only if its indices are constants.
template <class Word, std::size_t... I>
inline void transpose_block(const Word* from, std::ptrdiff_t along, Word* to, std::size_t distance,
                            std::index_sequence<I...>) {
  constexpr std::size_t side = sizeof...(I), half = side / 2;
  using vector [[gnu::vector_size(16)]] = Word;
  vector v[side], shuffled[side];
  (std::memcpy(&v[I], from + static_cast<std::ptrdiff_t>(I) * along, sizeof(vector)), ...);
  const auto lower = [](vector a, vector b) { return __builtin_shufflevector(a, b, (I / 2 + I % 2 * side)...); };
  const auto upper = [](vector a, vector b) {
    return __builtin_shufflevector(a, b, (half + I / 2 + I % 2 * side)...);
  };
  for (std::size_t step = 1; step < side; step *= 2) {
    ((shuffled[I] = I % 2 == 0 ? lower(v[I / 2], v[I / 2 + half]) : upper(v[I / 2], v[I / 2 + half])), ...);
    ((v[I] = shuffled[I]), ...);
  }
  (std::memcpy(to + I * distance, &v[I], sizeof(vector)), ...);
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
  if constexpr (std::is_integral_v<Word>) {
    constexpr std::size_t side = 16 / sizeof(Word);
    const std::size_t whole = t.across == 1 ? t.rows / side * side : 0;
    for (; whole > 0 && i + side <= t.count; i += side) {
      const Word* const line = from + static_cast<std::ptrdiff_t>(i) * t.along;
      for (std::size_t k = 0; k < side; ++k) {
        prefetch_row(line + (rows_ahead + static_cast<std::ptrdiff_t>(k)) * t.along, t.rows * sizeof(Word));
      }
      for (std::size_t r = 0; r < whole; r += side) {
        transpose_block(line + r, t.along, to + r * distance + i, distance, std::make_index_sequence<side>());
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
