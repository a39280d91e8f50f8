// SPDX-License-Identifier: Apache-2.0
#include "oracle/log_sum_exp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fanin::oracle {

namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the oracle needs more digits than double has");

/// Calls f(v, times) for each element, or for each value of a narrow type if there are more elements than values.
template <class T, class F>
void for_each_value(std::span<const T> x, F f) {
  if constexpr (narrow_float<T>) {
    constexpr unsigned values = 1u << 8 * sizeof(T);
    if (x.size() > values) {
      std::vector<std::uint64_t> times(values);
      for (const T v : x) ++times[v.bits];
      for (unsigned bits = 0; bits < values; ++bits) {
        if (times[bits] > 0) f(T::of_bits(bits), times[bits]);
      }
      return;
    }
  }
  for (const T v : x) f(v, std::uint64_t{1});
}

template <class T>
long double log_sum_exp_of(std::span<const T> x) {
  constexpr long double negligible = -89;  // 2^64 terms of e^-89 are less than 2^-64.
  const auto largest = static_cast<long double>(*std::ranges::max_element(x));
  long double sum = 0, error = 0;
  for_each_value(x, [&](T v, std::uint64_t times) {
    const long double difference = static_cast<long double>(v) - largest;
    if (difference < negligible) return;
    const long double term = static_cast<long double>(times) * std::exp(difference);
    const long double total = sum + term;
    error += sum >= term ? (sum - total) + term : (term - total) + sum;
    sum = total;
  });
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
