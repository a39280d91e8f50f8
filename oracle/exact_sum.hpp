// The exact sum of an input, and how far from it another value is.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"

namespace fanin::oracle {

class exact_sum {
 public:
  /// Sums every element, and every magnitude, without rounding, on that many threads.
  exact_sum(const array_view& input, unsigned threads);

  /// The sum, correctly rounded to `type`; i64 and u64 hold it if a reduction did. @throws overflow
  scalar rounded(element_type type) const;
  /// Sum of |x| divided by |sum of x|, x finite: how much the input amplifies rounding. Infinite if the sum is 0.
  double condition() const;

  /// 0 if `value` is the correctly rounded sum, which is the best its type can hold; otherwise |value - S| in units
  /// of the last place of S in that type. Infinite if one of them is not finite and they differ.
  double error_ulps(const scalar& value) const;
  /// |value - S|, rounded once.
  double distance(const scalar& value) const;
  /// The right side of the bound, rounded upwards; infinite if nothing is promised.
  double limit(element_type type, const error_bound& bound) const;
  /// The same in units of the last place of S.
  double bound_ulps(element_type type, const error_bound& bound) const;
  /// What became of the promise: the bound, or for method::exact, however large the elements, the correct rounding.
  promise judge(const scalar& value, const report& how) const;

 private:
  double ulp(element_type type) const;

  exact_accumulator<double> sum_;
  exact_facts facts_{};
};

/// The value as a double; 64-bit integers round.
double as_double(const scalar& value);

/// The element type that `value` holds.
element_type type_of_scalar(const scalar& value);

}  // namespace fanin::oracle
