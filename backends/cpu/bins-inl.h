// SPDX-License-Identifier: Apache-2.0
// Exact sums of elements of any exponents: a sum for each sign and exponent. Highway includes this file once for each
// instruction set.
#if defined(FANIN_BINS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_BINS_INL_H_
#undef FANIN_BINS_INL_H_
#else
#define FANIN_BINS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/exact.hpp>

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

/// Adds x[0..count), any values, count < 2^20. A bin for each sign and exponent has two words: one sums
/// the lower 32 bits of the fractions, the other sums their upper 20 bits and, from bit 40 on, counts the elements.
/// Elements of even and odd index go to different tables, so that additions to the same exponent depend less on each
/// other.
template <class T>
HWY_NOINLINE void add_binned(const T* x, std::size_t count, exact_accumulator<T>& into) {
  constexpr std::size_t exponents = 2048;
  constexpr int count_shift = 40;
  alignas(16) std::uint64_t bins[2][2 * exponents][2] = {};
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<double, 2> d;
  const hn::FixedTag<std::uint64_t, 2> w;
  const auto add_to = [w](std::uint64_t* bin, hn::Vec<decltype(w)> v)
                          HWY_ATTR { hn::Store(hn::Add(hn::Load(w, bin), v), w, bin); };
  const auto low_mask = hn::Set(w, 0xffffffffu);
  const auto high_mask = hn::Set(w, 0xfffffu);
  const auto one = hn::Set(w, std::uint64_t{1} << count_shift);
  for (; i + 2 <= count; i += 2) {
    const auto bits = hn::BitCast(w, load(d, x + i));
    const auto low = hn::And(bits, low_mask);
    const auto high = hn::Or(hn::And(hn::ShiftRight<32>(bits), high_mask), one);
    add_to(bins[0][detail::to_bits(double{x[i]}) >> 52], hn::InterleaveLower(w, low, high));
    add_to(bins[1][detail::to_bits(double{x[i + 1]}) >> 52], hn::InterleaveUpper(w, low, high));
  }
#endif
  for (; i < count; ++i) {
    const std::uint64_t bits = detail::to_bits(double{x[i]});
    std::uint64_t* bin = bins[i % 2][bits >> 52];
    bin[0] += bits & 0xffffffffu;
    bin[1] += (bits >> 32 & 0xfffffu) + (std::uint64_t{1} << count_shift);
  }

  // The sum of a bin's mantissas: those of normal numbers have an implicit 1 before the fraction.
  const auto mantissa_sum = [](const std::uint64_t* bin, bool normal) {
    constexpr std::uint64_t high_bits = (std::uint64_t{1} << count_shift) - 1;
    const auto fractions = (static_cast<detail::int128>(bin[1] & high_bits) << 32) + bin[0];
    return normal ? fractions + (static_cast<detail::int128>(bin[1] >> count_shift) << 52) : fractions;
  };
  for (std::size_t exponent = 0; exponent < exponents - 1; ++exponent) {
    detail::int128 total = 0;
    for (const auto& table : bins) {
      total +=
          mantissa_sum(table[exponent], exponent != 0) - mantissa_sum(table[exponents + exponent], exponent != 0);
    }
    if (total != 0) into.add_scaled(total, std::max(static_cast<int>(exponent), 1) - 1075);
  }
  bool has_special = false;
  for (const auto& table : bins) has_special |= (table[exponents - 1][1] | table[2 * exponents - 1][1]) != 0;
  if (!has_special) return;
  for (std::size_t j = 0; j < count; ++j) {
    constexpr auto infinity = detail::float_format<T>::infinity;
    if ((detail::to_bits(x[j]) & infinity) == infinity) into.add(x[j]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
