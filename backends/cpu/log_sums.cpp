// SPDX-License-Identifier: Apache-2.0
// The leaf of log_sum_exp, with the arithmetic of accumulator/log_sum.hpp in vectors, and the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/log_sums.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>
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

/// As many vectors go through the same operations at a time: each operation of an exponential waits for the one
/// before it.
constexpr std::size_t batch = 4;
template <class F>
HWY_INLINE void for_each_vector(F f) {
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < batch; ++v) f(v);
}

/// series = series * r + 1/K!, then with K - 1, ... down to 2.
template <int K>
HWY_INLINE void add_terms_from(vector (&series)[batch], const vector (&r)[batch]) {
  if constexpr (K >= 2) {
    const vector coefficient = hn::Set(doubles(), accumulator::inverse_factorial<K>);
    for_each_vector([&](std::size_t v) { series[v] = hn::Add(hn::Mul(series[v], r[v]), coefficient); });
    add_terms_from<K - 1>(series, r);
  }
}

/// Replaces each t by accumulator::exp_of_negative(t).
HWY_INLINE void exponentiate(vector (&t)[batch]) {
  const doubles d;
  const hn::RebindToUnsigned<doubles> words;
  const auto least = hn::Set(d, accumulator::least_exponent), to_integer = hn::Set(d, accumulator::to_integer);
  vector shifted[batch], r[batch], series[batch];
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
  vector largest[batch], sum[batch];

  HWY_INLINE void load(const accumulator::scaled_sum* from) {
    for_each_vector(
        [&](std::size_t v) { hn::LoadInterleaved2(doubles(), &from[v * width].largest, largest[v], sum[v]); });
  }
  HWY_INLINE void store(accumulator::scaled_sum* to) const {
    for_each_vector(
        [&](std::size_t v) { hn::StoreInterleaved2(largest[v], sum[v], doubles(), &to[v * width].largest); });
  }
  HWY_INLINE void merge(const states& other) {
    vector factor[batch];
    for_each_vector([&](std::size_t v) {
      const auto same = hn::Eq(largest[v], other.largest[v]);
      const vector distance = hn::IfThenZeroElse(same, hn::Abs(hn::Sub(largest[v], other.largest[v])));
      factor[v] = hn::Sub(hn::Zero(doubles()), distance);
    });
    exponentiate(factor);
    for_each_vector([&](std::size_t v) {
      const auto grows = hn::Gt(other.largest[v], largest[v]);
      const vector above = hn::IfThenElse(grows, other.sum[v], sum[v]);
      const vector below = hn::IfThenElse(grows, sum[v], other.sum[v]);
      sum[v] = hn::Add(above, hn::Mul(below, factor[v]));
      largest[v] = hn::IfThenElse(grows, other.largest[v], largest[v]);
    });
  }
};

template <class T>
HWY_INLINE vector load(const T* x) {
  const doubles d;
  if constexpr (std::is_same_v<T, double>) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, doubles>(), x));
  }
}

void merge_rows(accumulator::scaled_sum* into, const accumulator::scaled_sum* from, std::size_t lanes) {
  for (std::size_t j = 0; j < lanes; j += batch * width) {
    states s, other;
    s.load(into + j);
    other.load(from + j);
    s.merge(other);
    s.store(into + j);
  }
}

template <class T>
HWY_INLINE void fold_leaf(const T* x, std::size_t count, accumulator::scaled_sum* row) {
  using A = accumulator::log_sum<T>;
  constexpr std::size_t lanes = detail::lanes_of<A>;
  const doubles d;
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t j = 0; j < lanes; j += batch * width) {
    states s, next;
    for_each_vector([&](std::size_t v) {
      s.largest[v] = hn::Set(d, A::identity().largest);
      s.sum[v] = hn::Set(d, A::identity().sum);
      next.sum[v] = hn::Set(d, 1);
    });
    for (std::size_t i = j; i < whole; i += lanes) {
      for_each_vector([&](std::size_t v) {
        prefetch_line(x + i + v * width);
        next.largest[v] = load(x + i + v * width);
      });
      s.merge(next);
    }
    s.store(row + j);
  }
  for (std::size_t i = whole; i < count; ++i) A::add(row[i - whole], x[i]);
}

template <class T>
void fold_rows(const T* x, std::size_t count, accumulator::scaled_sum* row) {
  using A = accumulator::log_sum<T>;
  constexpr std::size_t leaf = detail::leaf_of<A>, lanes = detail::lanes_of<A>;
  if (count <= leaf) return fold_leaf(x, count, row);
  const std::size_t left = leaf * std::bit_floor((count - 1) / leaf);
  accumulator::scaled_sum right[lanes];
  fold_rows(x, left, row);
  fold_rows(x + left, count - left, right);
  merge_rows(row, right, lanes);
}
void fold_rows_f32(const float* x, std::size_t count, accumulator::scaled_sum* row) { fold_rows(x, count, row); }
void fold_rows_f64(const double* x, std::size_t count, accumulator::scaled_sum* row) { fold_rows(x, count, row); }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(merge_rows);
HWY_EXPORT(fold_rows_f32);
HWY_EXPORT(fold_rows_f64);

void merge_log_sums(accumulator::scaled_sum* into, const accumulator::scaled_sum* from, std::size_t lanes) {
  HWY_DYNAMIC_DISPATCH(merge_rows)(into, from, lanes);
}
template <>
void fold_log_sums<float>(const float* x, std::size_t count, accumulator::scaled_sum* row) {
  HWY_DYNAMIC_DISPATCH(fold_rows_f32)(x, count, row);
}
template <>
void fold_log_sums<double>(const double* x, std::size_t count, accumulator::scaled_sum* row) {
  HWY_DYNAMIC_DISPATCH(fold_rows_f64)(x, count, row);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
