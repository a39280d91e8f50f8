// SPDX-License-Identifier: Apache-2.0
#include "oracle/log_sum_exp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace fanin::oracle {

namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the oracle needs more digits than double has");

template <class T>
long double log_sum_exp_of(std::span<const T> x) {
  const auto largest = static_cast<long double>(*std::ranges::max_element(x));
  long double sum = 0, error = 0;
  for (const T v : x) {
    const long double term = std::exp(static_cast<long double>(v) - largest);
    const long double total = sum + term;
    error += sum >= term ? (sum - total) + term : (term - total) + sum;
    sum = total;
  }
  return largest + std::log(sum + error);
}

}  // namespace

long double log_sum_exp(const array_view& x) {
  return with_element(x.type, [&]<class T>() -> long double {
    if constexpr (floating<T>) return log_sum_exp_of(std::span(static_cast<const T*>(x.data), x.count));
    throw unsupported("log_sum_exp of integers");
  });
}

}  // namespace fanin::oracle
