// SPDX-License-Identifier: Apache-2.0
// Exponentials in vectors, with the arithmetic of accumulator/exponential.hpp, and the same bits. Highway includes
// this file once for each instruction set.
#if defined(FANIN_EXPONENTIALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_EXPONENTIALS_INL_H_
#undef FANIN_EXPONENTIALS_INL_H_
#else
#define FANIN_EXPONENTIALS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include <fanin/accumulator/exponential.hpp>

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using doubles = hn::ScalableTag<double>;
using vector = hn::Vec<doubles>;
constexpr std::size_t width = hn::MaxLanes(doubles());

/// The number of vectors that go through the operations side by side. Each operation of an exponential waits for
/// the one before it.
constexpr std::size_t unrolled = 4;
template <class F>
HWY_INLINE void for_each_vector(F f) {
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < unrolled; ++v) f(v);
}

/// series = series * r + 1/K!, then with K - 1, ... down to 2.
template <int K>
HWY_INLINE void add_terms_from(vector (&series)[unrolled], const vector (&r)[unrolled]) {
  if constexpr (K >= 2) {
    const vector coefficient = hn::Set(doubles(), accumulator::inverse_factorial<K>);
    for_each_vector([&](std::size_t v) { series[v] = hn::Add(hn::Mul(series[v], r[v]), coefficient); });
    add_terms_from<K - 1>(series, r);
  }
}

/// Replaces each t by accumulator::exp_of_negative(t).
HWY_INLINE void exponentiate(vector (&t)[unrolled]) {
  const doubles d;
  const hn::RebindToUnsigned<doubles> words;
  const auto least = hn::Set(d, accumulator::least_exponent), to_integer = hn::Set(d, accumulator::to_integer);
  vector shifted[unrolled], r[unrolled], series[unrolled];
  for_each_vector([&](std::size_t v) {
    const vector bounded = hn::IfThenElse(hn::Lt(t[v], least), least, t[v]);
    shifted[v] = hn::Add(hn::Mul(bounded, hn::Set(d, accumulator::inverse_ln2)), to_integer);
    const vector n = hn::Sub(shifted[v], to_integer);
    r[v] = hn::Sub(hn::Sub(bounded, hn::Mul(n, hn::Set(d, accumulator::ln2_high))),
                   hn::Mul(n, hn::Set(d, accumulator::ln2_low)));
    series[v] = hn::Set(d, accumulator::inverse_factorial<accumulator::last_exponential_term>);
  });
  add_terms_from<accumulator::last_exponential_term - 1>(series, r);
  for_each_vector([&](std::size_t v) {
    const vector of_rest = hn::Add(hn::Set(d, 1), hn::Add(r[v], hn::Mul(hn::Mul(r[v], r[v]), series[v])));
    const auto exponent = hn::Add(hn::BitCast(words, shifted[v]), hn::Set(words, 1023));
    const vector power = hn::BitCast(d, hn::ShiftLeft<52>(exponent));
    t[v] = hn::IfThenZeroElse(hn::Lt(t[v], least), hn::Mul(of_rest, power));
  });
}

/// 2^n times some floats, as doubles. n is in the lowest bits of the words.
template <class Floats, class Words>
HWY_INLINE vector scaled(Floats floats, Words words) {
  const doubles d;
  const hn::RebindToUnsigned<doubles> bits;
  const auto exponents = hn::ShiftLeft<52>(hn::PromoteTo(bits, words));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, hn::PromoteTo(d, floats)), exponents));
}

using floats = hn::ScalableTag<float>;
/// Two vectors of doubles for the elements of a vector of floats.
struct two_halves {
  vector low, high;
  HWY_INLINE void add(const two_halves& other) {
    low = hn::Add(low, other.low);
    high = hn::Add(high, other.high);
  }
};
/// accumulator::exponential_of_near() of each float.
HWY_INLINE two_halves near_exponentials(hn::Vec<floats> x) {
  const floats f;
  const hn::RebindToUnsigned<floats> u;
  const hn::Half<floats> half;
  const hn::Half<decltype(u)> half_words;
  const auto to_integer = hn::Set(f, accumulator::near_to_integer);
  const auto shifted = hn::Add(hn::Mul(x, hn::Set(f, accumulator::near_inverse_ln2)), to_integer);
  const auto n = hn::Sub(shifted, to_integer);
  const auto r = hn::Sub(hn::Sub(x, hn::Mul(n, hn::Set(f, accumulator::near_ln2_high))),
                         hn::Mul(n, hn::Set(f, accumulator::near_ln2_low)));
  auto series = hn::Set(f, accumulator::near_coefficients[0]);
  HWY_UNROLL(4)
  for (int k = 1; k < 5; ++k) series = hn::Add(hn::Mul(series, r), hn::Set(f, accumulator::near_coefficients[k]));
  const auto of_rest = hn::Add(hn::Set(f, 1), hn::Add(r, hn::Mul(hn::Mul(r, r), series)));
  const auto words = hn::BitCast(u, shifted);
  return {scaled(hn::LowerHalf(half, of_rest), hn::LowerHalf(half_words, words)),
          scaled(hn::UpperHalf(half, of_rest), hn::UpperHalf(half_words, words))};
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
