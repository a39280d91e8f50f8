// SPDX-License-Identifier: Apache-2.0
// States of rounded variances in vectors of doubles, one vector for each of their numbers. Highway includes this file
// once for each instruction set.
#if defined(FANIN_MOMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_MOMENTS_INL_H_
#undef FANIN_MOMENTS_INL_H_
#else
#define FANIN_MOMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "backends/cpu/error_free-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using double_vector = hn::Vec<hn::ScalableTag<double>>;

/// The states of plain_moments<float>.
struct plain_states {
  static constexpr std::size_t planes = 2;
  double_vector plane[planes];

  HWY_INLINE void add(double_vector x) {
    plane[0] = hn::Add(plane[0], x);
    plane[1] = hn::MulAdd(x, x, plane[1]);  // The product is exact, so that this rounds as the addition alone does.
  }
  HWY_INLINE void merge(const plain_states& other) {
    for (std::size_t p = 0; p < planes; ++p) plane[p] = hn::Add(plane[p], other.plane[p]);
  }
};

/// The states of compensated_moments.
struct compensated_states {
  static constexpr std::size_t planes = 4;
  double_vector plane[planes];

  HWY_INLINE void merge(const compensated_states& other) {
    for (std::size_t p = 0; p < planes; p += 2) {
      const double_vector e = two_sum(plane[p], other.plane[p]);
      plane[p + 1] = hn::Add(hn::Add(plane[p + 1], other.plane[p + 1]), e);
    }
  }
};

/// The origin, which is the first element that is not 0, the number of elements that are not 0, and the sums of their
/// differences from the origin and of the squares of the differences. Only end() needs low parts. Zeros are left out.
/// Zeros change neither sum, and a zero that stands for an absent element may be far from all other elements.
struct shifted_states {
  static constexpr std::size_t planes = 4;
  double_vector plane[planes];

  /// Takes the elements x as origins where there are none. Returns whether an origin was missing.
  HWY_INLINE bool look_for_origins(double_vector x) {
    const hn::ScalableTag<double> d;
    const auto none = hn::Eq(plane[0], hn::Zero(d));
    plane[0] = hn::IfThenElse(none, x, plane[0]);
    return !hn::AllFalse(d, none);
  }
  HWY_INLINE void add(double_vector x) {
    const hn::ScalableTag<double> d;
    const auto counts = hn::Not(hn::Eq(x, hn::Zero(d)));  // for a NaN, Ne() is false
    const double_vector difference = hn::IfThenElseZero(counts, hn::Sub(x, plane[0]));
    plane[1] = hn::Add(plane[1], hn::IfThenElseZero(counts, hn::Set(d, 1)));
    plane[2] = hn::Add(plane[2], difference);
    plane[3] = hn::Add(plane[3], hn::Mul(difference, difference));
  }
  /// Let a be the origin of n elements, and s and q the sums of the differences and of their squares. The sums of
  /// x and of x^2 are then n a + s and n a^2 + 2 a s + q.
  HWY_INLINE compensated_states end() const {
    const hn::ScalableTag<double> d;
    const auto& [origin, count, sum, squares] = plane;
    const auto product = [&](double_vector a, double_vector b, double_vector& error) HWY_ATTR {
      const double_vector p = hn::Mul(a, b);
      error = error_of_product(d, a, b, p);
      return p;
    };
    double_vector of_sum, of_square, of_squares, of_cross;
    compensated_states s;
    s.plane[0] = product(count, origin, of_sum);
    s.plane[1] = hn::Add(two_sum(s.plane[0], sum), of_sum);
    s.plane[2] = product(count, product(origin, origin, of_square), of_squares);
    const double_vector cross = product(hn::Add(origin, origin), sum, of_cross);
    const double_vector e = hn::Add(two_sum(s.plane[2], cross), two_sum(s.plane[2], squares));
    s.plane[3] = hn::Add(hn::Add(e, hn::Add(of_squares, of_cross)), hn::Mul(count, of_square));
    return s;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
