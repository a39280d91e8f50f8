// SPDX-License-Identifier: Apache-2.0
// The exact results of operations on complex numbers, by sums of their parts.
#pragma once

#include <complex>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"

namespace fanin::oracle {

class complex_truth {
 public:
  /// An operation of two inputs reads the first and the second half of x.
  /// @throws unsupported if the catalogue has no such operation of complex numbers
  complex_truth(operation what, const array_view& x);

  /// The exact result, correctly rounded to the type that results have where the caller asks for none. A product, and
  /// a sum of moduli, is nearly so.
  const scalar& rounded() const { return rounded_; }
  /// Whether `value` keeps its bound. A value of method::exact has to have the bits of the correctly rounded
  /// result.
  promise judge(const scalar& value, const report& how) const;

 private:
  scalar rounded_;
  std::complex<double> exact_;  ///< rounded to double
  double of_magnitudes_ = 0;    ///< M in the bound
  double error_ = 0x1p-52;      ///< how far exact_ is off at most, as a multiple of itself
};

}  // namespace fanin::oracle
