// SPDX-License-Identifier: Apache-2.0
// The logarithm of a sum of exponentials. It does not overflow if the exponentials do.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/exponential.hpp>

namespace fanin {
namespace accumulator {

/// The largest element m, and the sum of e^(x - m) over the elements x. The sum is at least 1 if there is an
/// element, and at most the number of elements. The sum is NaN if an element is NaN.
struct scaled_sum {
  double largest;
  double sum;
};

/// log(sum of e^x) over the elements x, computed in double for every T. Each addition and each merge evaluates one
/// exponential. Error: log_sum_bound().
template <class T>
struct log_sum {
  using element = T;
  using state = scaled_sum;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { merge(s, {x, 1}); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    // The difference of two equal infinities would be NaN.
    const double distance = s.largest == other.largest ? 0 : std::fabs(s.largest - other.largest);
    const double factor = exp_of_negative(-distance);
    const bool grows = other.largest > s.largest;
    s.sum = grows ? s.sum * factor + other.sum : s.sum + other.sum * factor;
    s.largest = grows ? other.largest : s.largest;
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count) {
    if (count == 0) return -std::numeric_limits<R>::infinity();
    return canonical(static_cast<R>(std::isnan(s.sum) ? s.sum : s.largest + log_of_sum(s.sum)));
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return log_sum_bound<R>(chain, count);
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::log_sum_exp, method::fast, T> : accumulator::uses<accumulator::log_sum<T>> {};

}  // namespace fanin
