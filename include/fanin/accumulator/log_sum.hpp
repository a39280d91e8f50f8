// SPDX-License-Identifier: Apache-2.0
// The logarithm of a sum of exponentials. It does not overflow if the exponentials do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/exponential.hpp>

namespace fanin {
namespace accumulator {

/// The sum of e^(x - m) over the elements x. The reference m, `largest`, is the largest element, or 0 if that is
/// near. The sum is NaN if an element is NaN.
struct scaled_sum {
  double largest;
  double sum;
};

/// Whether exponential_of_near() serves the elements of a leaf: at least two elements, and all of them are near. A
/// single element is its own reference, so that it is its own result.
template <class T>
bool is_near_leaf(const T* x, std::size_t count) {
  return count > 1 && std::all_of(x, x + count, [](T one) { return std::fabs(one) <= most_near; });
}

/// log(sum of e^x) over the elements x, which are added as doubles. A leaf of near elements has the sums of their
/// exponential_of_near(), with the reference 0. All else evaluates one exponential for each addition and each merge.
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
  static state of_strided(const T* x, std::size_t count, std::size_t first, std::size_t stride) {
    const bool near = is_near_leaf(x, count);
    state s = near ? state{0, 0} : identity();
    for (std::size_t i = first; i < count; i += stride) {
      if (near) {
        s.sum += exponential_of_near(x[i]);
      } else {
        add(s, x[i]);
      }
    }
    return s;
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    constexpr double of_terms = sizeof(T) < sizeof(double) ? 1.61 * unit_roundoff<float> : 0;
    error_bound found = log_sum_bound<R>(chain, count, of_terms);
    found.of_result += 8 * unit_roundoff<double>;  // The logarithm of a sum with the reference 0 is the result.
    return found;
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::log_sum_exp, method::fast, T> : accumulator::uses<accumulator::log_sum<T>> {};

}  // namespace fanin
