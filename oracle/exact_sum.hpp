// SPDX-License-Identifier: Apache-2.0
// The exact sum S of an input, and the errors of other values against it.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"

namespace fanin::oracle {

class exact_sum {
 public:
  /// Sums the elements, real numbers, and their magnitudes without rounding, on `threads` threads.
  exact_sum(const array_view& input, unsigned threads);

  /// S correctly rounded to `type`. @throws overflow if `type` is i64 or u64 and cannot hold S
  scalar rounded(element_type type) const;
  /// The condition number of the sum: the sum of |x| divided by |sum of x|, over the finite x. Infinite if S is 0.
  double condition() const;

  /// 0 if `value` is S correctly rounded to its type; otherwise |value - S| in units of the last place of S in that
  /// type. Infinite if `value` or S is not finite and they differ.
  double error_ulps(const scalar& value) const;
  /// |value - S|, rounded once.
  double distance(const scalar& value) const;
  /// The bound on |value - S|, rounded upwards. Infinite if `bound` promises nothing.
  double limit(element_type type, const error_bound& bound) const;
  /// The bound on |value - S| in units of the last place of S.
  double bound_ulps(element_type type, const error_bound& bound) const;
  /// Whether `value` keeps the bound of `how`. A value of method::exact has to have the bits of the correctly
  /// rounded sum, even if elements are so large that a bound promises nothing. A NaN has to be the canonical quiet
  /// NaN.
  promise judge(const scalar& value, const report& how) const;

 private:
  double ulp(element_type type) const;

  exact_accumulator<double> sum_;
  exact_facts facts_{};
};

/// The number as a double. An integer of 64 bits is rounded. A complex number gives its modulus, `indexed` the
/// element, and `extremes` the largest element.
double as_double(const scalar& value);

}  // namespace fanin::oracle
