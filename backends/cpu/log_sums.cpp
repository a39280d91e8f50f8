// SPDX-License-Identifier: Apache-2.0
// The leaf of log_sum_exp, with the arithmetic of accumulator/log_sum.hpp in vectors, and the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/log_sums.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <array>
#include <bit>
#include <type_traits>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

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

/// States of accumulator::log_sum.
struct states {
  vector largest[unrolled], sum[unrolled];

  HWY_INLINE void merge(const double* other_largest, const vector (&other_sum)[unrolled]) {
    vector factor[unrolled], other[unrolled];
    for_each_vector([&](std::size_t v) {
      other[v] = hn::LoadU(doubles(), other_largest + v * width);
      const vector distance = hn::Abs(hn::Sub(largest[v], other[v]));
      factor[v] = hn::Neg(hn::IfThenZeroElse(hn::Eq(largest[v], other[v]), distance));
    });
    exponentiate(factor);
    for_each_vector([&](std::size_t v) {
      const auto grows = hn::Gt(other[v], largest[v]);
      const vector below = hn::IfThenElse(grows, sum[v], other_sum[v]);
      const vector above = hn::IfThenElse(grows, other_sum[v], sum[v]);
      sum[v] = hn::Add(above, hn::Mul(below, factor[v]));
      largest[v] = hn::IfThenElse(grows, other[v], largest[v]);
    });
  }
};

/// Merges rows of states into one. A row begins at every `lanes`-th number of `largest`; all have the sums of the
/// first.
void merge_rows(const double* largest, const double* sum, std::size_t rows, std::size_t lanes, double* into_largest,
                double* into_sum) {
  const doubles d;
  for (std::size_t j = 0; j < lanes; j += unrolled * width) {
    states s;
    vector other_sum[unrolled];
    for_each_vector([&](std::size_t v) {
      s.largest[v] = hn::LoadU(d, into_largest + j + v * width);
      s.sum[v] = hn::LoadU(d, into_sum + j + v * width);
      other_sum[v] = hn::LoadU(d, sum + j + v * width);
    });
    for (std::size_t row = 0; row < rows; ++row) {
      const double* const there = largest + row * lanes + j;
      for_each_vector([&](std::size_t v) { prefetch_line(there + v * width); });
      s.merge(there, other_sum);
    }
    for_each_vector([&](std::size_t v) {
      hn::StoreU(s.largest[v], d, into_largest + j + v * width);
      hn::StoreU(s.sum[v], d, into_sum + j + v * width);
    });
  }
}

/// The floats of whole rows as doubles.
void widen_rows(const float* x, std::size_t count, double* out) {
  const doubles d;
  for (std::size_t i = 0; i < count; i += width) {
    prefetch_line(x + i);
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, doubles>(), x + i)), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(merge_rows);
HWY_EXPORT(widen_rows);

template <class T>
void fold_leaf(const T* x, std::size_t count, log_sum_row<T>& out) {
  using A = accumulator::log_sum<T>;
  constexpr std::size_t lanes = detail::row_width_of<A>;
  static constexpr auto ones = [] {
    std::array<double, lanes> all{};
    all.fill(1);
    return all;
  }();
  out.reset();
  const std::size_t rows = count / lanes;
  const auto add = [&](const double* elements) {
    HWY_DYNAMIC_DISPATCH(merge_rows)(elements, ones.data(), rows, lanes, out.largest, out.sum);
  };
  if constexpr (std::is_same_v<T, double>) {
    add(x);
  } else {
    double elements[detail::leaf_of<A>];
    HWY_DYNAMIC_DISPATCH(widen_rows)(x, rows * lanes, elements);
    add(elements);
  }
  for (std::size_t j = 0; rows * lanes + j < count; ++j) {
    auto state = out.state_of(j);
    A::add(state, x[rows * lanes + j]);
    out.largest[j] = state.largest;
    out.sum[j] = state.sum;
  }
}

}  // namespace

void merge_log_sums(const double* largest, const double* sum, std::size_t lanes, double* into_largest,
                    double* into_sum) {
  HWY_DYNAMIC_DISPATCH(merge_rows)(largest, sum, 1, lanes, into_largest, into_sum);
}

template <class T>
void fold_log_sums(const T* x, std::size_t count, log_sum_row<T>& out) {
  constexpr std::size_t leaf = detail::leaf_of<accumulator::log_sum<T>>;
  if (count <= leaf) return fold_leaf(x, count, out);
  const std::size_t left = leaf * std::bit_floor((count - 1) / leaf);
  log_sum_row<T> right;
  fold_log_sums(x, left, out);
  fold_log_sums(x + left, count - left, right);
  out.merge(right);
}
template void fold_log_sums(const float*, std::size_t, log_sum_row<float>&);
template void fold_log_sums(const double*, std::size_t, log_sum_row<double>&);

}  // namespace fanin::cpu
#endif  // HWY_ONCE
