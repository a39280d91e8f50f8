// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cli/input/separators.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cli/input/separators.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cli {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A bit for each of 64 bytes.
struct marks {
  std::uint64_t delimiters = 0, others = 0;
};

HWY_INLINE marks marks_of(const std::uint8_t* text, std::uint8_t delimiter) {
  const hn::CappedTag<std::uint8_t, 64> d;
  constexpr std::size_t width = hn::MaxLanes(d);
  marks found;
  for (std::size_t i = 0; i < 64; i += width) {
    const auto bytes = hn::LoadU(d, text + i);
    const auto line_ends = hn::Or(hn::Eq(bytes, hn::Set(d, '\n')), hn::Eq(bytes, hn::Set(d, '\r')));
    const auto odd = hn::Or(hn::Eq(bytes, hn::Set(d, '"')), hn::Eq(bytes, hn::Zero(d)));
    std::uint8_t delimiters[8] = {}, others[8] = {};
    hn::StoreMaskBits(d, hn::Eq(bytes, hn::Set(d, delimiter)), delimiters);
    hn::StoreMaskBits(d, hn::Or(line_ends, odd), others);
    std::uint64_t delimiter_bits, other_bits;
    std::memcpy(&delimiter_bits, delimiters, 8);
    std::memcpy(&other_bits, others, 8);
    found.delimiters |= delimiter_bits << i;
    found.others |= other_bits << i;
  }
  return found;
}

/// Writes `begin` plus the place of each bit, and maybe up to seven numbers behind. Returns where the next one
/// belongs.
HWY_INLINE std::uint32_t* write_offsets(std::uint64_t bits, std::size_t begin, std::uint32_t* to) {
  std::uint32_t* const end = to + std::popcount(bits);
  for (; bits != 0; to += 8) {
    HWY_UNROLL(8)
    for (int i = 0; i < 8; ++i) {
      to[i] = static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
    }
  }
  return end;
}

/// Writes the offsets of the separators, and moves the pointers behind them.
void write_separators(const char* text, std::size_t size, char delimiter, std::uint32_t*& delimiters,
                      std::uint32_t*& others) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text);
  const auto wanted = static_cast<std::uint8_t>(delimiter);
  std::size_t at = 0;
  for (; at + 64 <= size; at += 64) {
    const marks found = marks_of(bytes + at, wanted);
    delimiters = write_offsets(found.delimiters, at, delimiters);
    others = write_offsets(found.others, at, others);
  }
  if (at == size) return;
  std::uint8_t rest[64] = {};
  std::memcpy(rest, bytes + at, size - at);
  const marks found = marks_of(rest, wanted);
  const std::uint64_t read = (std::uint64_t{1} << (size - at)) - 1;
  delimiters = write_offsets(found.delimiters & read, at, delimiters);
  others = write_offsets(found.others & read, at, others);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cli
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cli {

HWY_EXPORT(write_separators);

void separators::find(std::string_view text, std::size_t begin, char delimiter) {
  constexpr std::size_t most_offsets = most_bytes + 8;  // write_offsets() writes eight at a time
  delimiter_.resize(most_offsets);
  other_.resize(most_offsets);
  begin_ = begin;
  end_ = std::min(text.size(), begin + most_bytes);
  std::uint32_t *delimiters = delimiter_.data(), *others = other_.data();
  HWY_DYNAMIC_DISPATCH(write_separators)(text.data() + begin, end_ - begin_, delimiter, delimiters, others);
  delimiters_ = static_cast<std::size_t>(delimiters - delimiter_.data());
  *delimiters = *others = ~std::uint32_t{0};
}

}  // namespace fanin::cli
#endif  // HWY_ONCE
