// SPDX-License-Identifier: Apache-2.0
// Sums in double of elements of 16 bits, for instruction sets that cannot leave the inexact flag alone. The exponents
// prove that no sum was rounded: all elements, and so all sums, are multiples of the last digit of the smallest
// element, and a double holds every sum of so few digits. Highway includes this file once for each instruction set.
#if defined(FANIN_NARROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_NARROW_SUMS_INL_H_
#undef FANIN_NARROW_SUMS_INL_H_
#else
#define FANIN_NARROW_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fanin/catalog/operations.hpp>
#include <fanin/narrow_float.hpp>

#include "backends/cpu/fold.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA && !(HWY_TARGET <= HWY_AVX3)

/// The largest and the smallest magnitude, apart from 0, of elements of 16 bits.
template <class T>
class magnitude_range {
 public:
  using D = hn::ScalableTag<std::uint16_t>;

  HWY_INLINE magnitude_range() : largest_(hn::Zero(D())), least_(hn::Set(D(), 0xffff)) {}
  HWY_INLINE void add(hn::Vec<D> words) {
    const auto magnitudes = hn::And(words, hn::Set(D(), T::sign_bit - 1));
    largest_ = hn::Max(largest_, magnitudes);
    least_ = hn::Min(least_, hn::Sub(magnitudes, hn::Set(D(), 1)));  // 0 wraps round to the largest value
  }
  /// The digits of the largest magnitude in units of the last digit of the smallest one, or for infinities and NaN a
  /// number that is too large.
  HWY_INLINE int digits() const {
    const int largest = hn::GetLane(hn::MaxOfLanes(D(), largest_));
    const int least = hn::GetLane(hn::MinOfLanes(D(), least_)) + 1;
    const auto exponent = [](int magnitude) { return std::max(magnitude / T::implicit_one, 1); };
    if (largest >= T::after_largest) return std::numeric_limits<int>::max() / 4;
    return exponent(largest) - exponent(least) + std::numeric_limits<T>::digits;
  }

 private:
  hn::Vec<D> largest_, least_;
};

/// The numbers of a vector of words as two vectors of floats, in any order.
template <class D>
struct two_vectors {
  hn::Vec<D> first, second;
};
template <class D>
HWY_INLINE two_vectors<D> floats_of(D d, bf16, hn::Vec<hn::Repartition<std::uint16_t, D>> words) {
  const hn::RebindToUnsigned<D> pairs;
  const auto both = hn::BitCast(pairs, words);
  return {hn::BitCast(d, hn::ShiftLeft<16>(both)), hn::BitCast(d, hn::And(both, hn::Set(pairs, 0xffff0000)))};
}
template <class D>
HWY_INLINE two_vectors<D> floats_of(D d, f16, hn::Vec<hn::Repartition<std::uint16_t, D>> words) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::Rebind<hwy::float16_t, D> stored;
  return {hn::PromoteTo(d, hn::BitCast(stored, hn::LowerHalf(half, words))),
          hn::PromoteTo(d, hn::BitCast(stored, hn::UpperHalf(half, words)))};
}

/// Writes the sums of one run in double, which round where the range has too many digits.
template <summand Adds, class T>
HWY_INLINE void sum_in_double(const T* x, std::size_t count, std::uint16_t kept, magnitude_range<T>& range,
                              double& sum, double& squares) {
  using W = typename magnitude_range<T>::D;
  const hn::Repartition<float, W> f;
  const hn::Repartition<double, W> d;
  const hn::Half<decltype(f)> half;
  constexpr std::size_t width = hn::MaxLanes(W());
  const auto mask = hn::Set(W(), kept);
  const auto origin = hn::Set(d, Adds == summand::deviations ? static_cast<double>(*x) : 0);
  auto sum0 = hn::Set(d, -0.0), sum1 = sum0, squares0 = hn::Zero(d), squares1 = squares0;
  const auto add_doubles = [&](auto v, auto& to_sum, auto& to_squares) HWY_ATTR {
    if constexpr (Adds == summand::deviations) v = hn::Sub(v, origin);
    if constexpr (Adds != summand::squares) to_sum = hn::Add(to_sum, v);
    if constexpr (Adds != summand::elements) to_squares = hn::MulAdd(v, v, to_squares);
  };
  const auto add = [&](auto words) HWY_ATTR {
    words = hn::And(words, mask);
    range.add(words);
    const auto [first, second] = floats_of(f, T{}, words);
    add_doubles(hn::PromoteTo(d, hn::LowerHalf(half, first)), sum0, squares0);
    add_doubles(hn::PromoteTo(d, hn::UpperHalf(half, first)), sum1, squares1);
    add_doubles(hn::PromoteTo(d, hn::LowerHalf(half, second)), sum0, squares0);
    add_doubles(hn::PromoteTo(d, hn::UpperHalf(half, second)), sum1, squares1);
  };
  const auto* const words = reinterpret_cast<const std::uint16_t*>(x);
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    prefetch_line(x + i);
    add(hn::LoadU(W(), words + i));
  }
  if (i < count) {  // Elements that add nothing fill the vector beyond the run.
    HWY_ALIGN std::uint16_t last[width];
    std::fill_n(last, width, Adds == summand::deviations ? *words : T::sign_bit);
    std::copy(words + i, words + count, last);
    add(hn::Load(W(), last));
  }
  if constexpr (Adds != summand::squares) sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  if constexpr (Adds != summand::elements) squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(squares0, squares1)));
}

/// Writes the sums of runs. Returns true if the digits of all elements prove that none was rounded.
template <summand Adds, class T>
HWY_INLINE bool sum_narrow(const operands* runs, const std::size_t* counts, std::size_t number, int kept,
                           double* sums, double* squares) {
  magnitude_range<T> range;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < number; ++i) {
    sum_in_double<Adds>(static_cast<const T*>(runs[i].x), counts[i], static_cast<std::uint16_t>(kept), range, sums[i],
                        squares[i]);
    longest = std::max(longest, counts[i]);
  }
  // A distance from another element may have one digit more than the elements.
  const int digits = range.digits() + (Adds == summand::deviations ? 1 : 0);
  const int of_terms = Adds == summand::elements ? digits : 2 * digits;
  return of_terms + std::bit_width(longest) <= std::numeric_limits<double>::digits;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
