// The exact sum of an input, and how far from it another value is.
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cli {

class oracle {
 public:
  /// Sums every element, and every magnitude, without rounding, on that many threads.
  oracle(const array_view& input, unsigned threads);

  /// The sum, correctly rounded to `type`; i64 and u64 hold it if a reduction did. @throws overflow
  scalar rounded(element_type type) const;
  /// Sum of |x| divided by |sum of x|: how much the input amplifies rounding. Infinite if the sum is 0.
  double condition() const;

  /// 0 if `value` is the correctly rounded sum, which is the best its type can hold; otherwise |value - S| in units
  /// of the last place of S in that type. Infinite if one of them is not finite and they differ.
  double error_ulps(const scalar& value) const;
  /// The right side of the bound in the same unit, rounded upwards.
  double bound_ulps(element_type type, const error_bound& bound) const;
  /// Whether the bound's promise is kept. Where nothing is promised (infinite coefficients, or an intermediate
  /// overflow is possible) it is.
  bool keeps(const scalar& value, const error_bound& bound) const;

 private:
  double distance(const scalar& value) const;
  double limit(const error_bound& bound) const;
  double ulp(element_type type) const;

  exact_accumulator<double> sum_;
  double magnitudes_ = 0;  ///< sum of |x|, rounded upwards
};

/// The element type that `value` holds.
element_type type_of_scalar(const scalar& value);

}  // namespace fanin::cli
