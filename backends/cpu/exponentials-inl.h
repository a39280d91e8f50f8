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

#include <array>
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
template <std::size_t N = unrolled, class F>
HWY_INLINE void for_each_vector(F f) {
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < N; ++v) f(v);
}

/// The coefficients of the series that follow the one of its last term.
inline constexpr auto inverse_factorials = [] {
  std::array<double, accumulator::last_exponential_term - 2> all;
  double factorial = 1;
  for (int i = 2; i < accumulator::last_exponential_term; ++i)
    all[all.size() + 1 - std::size_t(i)] = 1 / (factorial *= i);
  return all;
}();

/// Replaces each t by accumulator::exponential_of(t).
template <std::size_t N>
HWY_INLINE void exponentiate(vector (&t)[N]) {
  const doubles d;
  const hn::RebindToUnsigned<doubles> words;
  const auto to_integer = hn::Set(d, accumulator::to_integer);
  vector shifted[N], r[N], series[N];
  for_each_vector<N>([&](std::size_t v) {
    shifted[v] = hn::Add(hn::Mul(t[v], hn::Set(d, accumulator::inverse_ln2)), to_integer);
    const vector n = hn::Sub(shifted[v], to_integer);
    r[v] = hn::Sub(hn::Sub(t[v], hn::Mul(n, hn::Set(d, accumulator::ln2_high))),
                   hn::Mul(n, hn::Set(d, accumulator::ln2_low)));
    series[v] = hn::Set(d, accumulator::inverse_factorial<accumulator::last_exponential_term>);
  });
  // Unrolled, the compiler would put the operations of one vector behind each other.
  HWY_UNROLL(1)
  for (const double coefficient : inverse_factorials) {
    for_each_vector<N>(
        [&](std::size_t v) { series[v] = hn::Add(hn::Mul(series[v], r[v]), hn::Set(d, coefficient)); });
  }
  for_each_vector<N>([&](std::size_t v) {
    const vector of_rest = hn::Add(hn::Set(d, 1), hn::Add(r[v], hn::Mul(hn::Mul(r[v], r[v]), series[v])));
    const auto exponent = hn::Add(hn::BitCast(words, shifted[v]), hn::Set(words, 1023));
    t[v] = hn::Mul(of_rest, hn::BitCast(d, hn::ShiftLeft<52>(exponent)));
  });
}
/// Replaces each t by accumulator::exp_of_negative(t).
HWY_INLINE void exponentiate_negatives(vector (&t)[unrolled]) {
  const auto least = hn::Set(doubles(), accumulator::least_exponent);
  vector powers[unrolled];
  for_each_vector([&](std::size_t v) { powers[v] = hn::IfThenElse(hn::Lt(t[v], least), least, t[v]); });
  exponentiate(powers);
  for_each_vector([&](std::size_t v) { t[v] = hn::IfThenZeroElse(hn::Lt(t[v], least), powers[v]); });
}

/// accumulator::log_of_sum(s).
HWY_INLINE vector log_of_sums(vector s) {
  const doubles d;
  const hn::RebindToUnsigned<doubles> words;
  const auto bits = hn::BitCast(words, s);
  // 2^52 has only zeros behind its exponent.
  const auto exponent = hn::BitCast(d, hn::Or(hn::ShiftRight<52>(bits), hn::BitCast(words, hn::Set(d, 0x1p52))));
  const auto mantissa = hn::And(bits, hn::Set(words, (std::uint64_t{1} << 52) - 1));
  const vector fraction = hn::BitCast(d, hn::Or(mantissa, hn::BitCast(words, hn::Set(d, 1))));
  const auto halves = hn::Gt(fraction, hn::Set(d, accumulator::root_of_2));
  const vector z = hn::IfThenElse(halves, hn::Mul(fraction, hn::Set(d, 0.5)), fraction);
  const vector k = hn::Sub(exponent, hn::IfThenElse(halves, hn::Set(d, 0x1p52 + 1022), hn::Set(d, 0x1p52 + 1023)));
  const vector f = hn::Sub(z, hn::Set(d, 1)), w = hn::Div(f, hn::Add(hn::Set(d, 2), f)), square = hn::Mul(w, w);
  vector series = hn::Set(d, 1. / accumulator::last_logarithm_term);
  HWY_UNROLL(16)
  for (int i = accumulator::last_logarithm_term - 2; i >= 3; i -= 2)
    series = hn::Add(hn::Mul(series, square), hn::Set(d, 1. / i));
  const vector twice = hn::Add(w, w), of_z = hn::Add(twice, hn::Mul(twice, hn::Mul(square, series)));
  return hn::Add(hn::Mul(k, hn::Set(d, accumulator::ln2_high)),
                 hn::Add(hn::Mul(k, hn::Set(d, accumulator::ln2_low)), of_z));
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
/// Writes accumulator::exponential_of_near() of each float. Each operation is done for all vectors before the next
/// one, so that few operations wait for others.
template <std::size_t N>
HWY_INLINE void near_exponentials(const hn::Vec<floats> (&x)[N], two_halves (&out)[N]) {
  const floats f;
  const hn::RebindToUnsigned<floats> u;
  const hn::Half<floats> half;
  const hn::Half<decltype(u)> half_words;
  const auto to_integer = hn::Set(f, accumulator::near_to_integer);
  hn::Vec<floats> shifted[N], r[N], series[N];
  for_each_vector<N>([&](std::size_t v) HWY_ATTR {
    shifted[v] = hn::Add(hn::Mul(x[v], hn::Set(f, accumulator::near_inverse_ln2)), to_integer);
    const auto n = hn::Sub(shifted[v], to_integer);
    r[v] = hn::Sub(hn::Sub(x[v], hn::Mul(n, hn::Set(f, accumulator::near_ln2_high))),
                   hn::Mul(n, hn::Set(f, accumulator::near_ln2_low)));
    series[v] = hn::Set(f, accumulator::near_coefficients[0]);
  });
  HWY_UNROLL(4)
  for (int k = 1; k < 5; ++k) {
    const auto coefficient = hn::Set(f, accumulator::near_coefficients[k]);
    for_each_vector<N>([&](std::size_t v) HWY_ATTR { series[v] = hn::Add(hn::Mul(series[v], r[v]), coefficient); });
  }
  for_each_vector<N>([&](std::size_t v) HWY_ATTR {
    const auto of_rest = hn::Add(hn::Set(f, 1), hn::Add(r[v], hn::Mul(hn::Mul(r[v], r[v]), series[v])));
    const auto words = hn::BitCast(u, shifted[v]);
    out[v] = {scaled(hn::LowerHalf(half, of_rest), hn::LowerHalf(half_words, words)),
              scaled(hn::UpperHalf(half, of_rest), hn::UpperHalf(half_words, words))};
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
