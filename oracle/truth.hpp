// What a reduction of one input has to give, whatever the operation.
#pragma once

#include <optional>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/exact_sum.hpp"
#include "oracle/promise.hpp"

namespace fanin::oracle {

/// The exact result of one operation, formed element by element without any backend, and how near to it a value has
/// to be. For inputs as random_input makes them: finite, and integers of which every partial result fits.
class truth {
 public:
  /// An operation of two inputs reads the first half of x and the second. `threads` may help with sums.
  truth(operation what, const array_view& x, unsigned threads);

  /// The bound for rounded floats; everything else is to be equal.
  promise judge(const scalar& value, const report& how) const;
  /// Of sums of floats, in units of the exact sum's last place.
  std::optional<double> error_ulps(const scalar& value) const;

 private:
  std::optional<exact_sum> sum_;
  scalar rounded_;       ///< in the type that a result has
  exact_facts facts_{};  ///< for bounds, rounded to double
};

}  // namespace fanin::oracle
