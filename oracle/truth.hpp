// SPDX-License-Identifier: Apache-2.0
// The exact result of any operation on one input.
#pragma once

#include <optional>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/complex_truth.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/promise.hpp"

namespace fanin::oracle {

/// A truth computes the exact result of one operation element by element, without a backend, and judges values by it.
/// The elements are finite, and every partial result of integers fits its type, as in a random_input.
class truth {
 public:
  /// log_sum_exp needs an element. An operation of two inputs reads the first and the second half of x. Sums use
  /// `threads` threads.
  truth(operation what, const array_view& x, unsigned threads);

  /// The exact result, correctly rounded (of log_sum_exp, nearly so) to the type that results have where the caller
  /// asks for none.
  const scalar& rounded() const { return rounded_; }
  /// Whether a rounded float keeps its bound. Every other value has to equal the exact result.
  promise judge(const scalar& value, const report& how) const;
  /// The error of a sum of floats in units of the last place of the exact sum; empty for other operations and types.
  std::optional<double> error_ulps(const scalar& value) const;

 private:
  std::optional<exact_sum> sum_;
  std::optional<complex_truth> complex_;
  scalar rounded_;
  exact_facts facts_{};
  double facts_error_ = 0;  ///< how far facts_.result is off before it is rounded
};

}  // namespace fanin::oracle
