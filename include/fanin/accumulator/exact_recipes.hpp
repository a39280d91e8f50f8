// SPDX-License-Identifier: Apache-2.0
// Gives the public exact accumulators, which are classes, the static functions of an accumulator.
#pragma once

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/moments.hpp>

namespace fanin {
namespace accumulator {

/// The base of all exact accumulators. `State` is the public class. The value is rounded once. finish() also takes
/// a format that is known at run time, and then returns the bits of the value.
template <class T, class State>
struct exact_accumulator_base {
  using element = T;
  using state = State;
  using merges_as = exact_accumulator_base;
  static constexpr bool order_free = true, rounds_once = true;
  FANIN_HOST_DEVICE static state identity() { return {}; }
  FANIN_HOST_DEVICE static void add(state& s, T x) { s.add(x); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.merge(other); }
  template <class R, class To = fanin::detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const state& s, std::uint64_t, To to = {}) {
    return s.template round<R>(to);
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return rounded_bound<R>();
  }
};

/// Sum of Term::of(x), which T holds exactly.
template <class T, class Term = plain_term>
struct exact_sum : exact_accumulator_base<T, exact_accumulator<T>> {
  FANIN_HOST_DEVICE static void add(exact_accumulator<T>& s, T x) { s.add(Term::of(x)); }
};

template <class T>
struct exact_mean : exact_sum<T> {
  using folds_as = exact_sum<T>;
  template <class R, class To = fanin::detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const exact_accumulator<T>& s, std::uint64_t count, To to = {}) {
    return s.template mean<R>(count, to);
  }
};

template <class T>
struct exact_square_sum : exact_accumulator_base<T, exact_square_accumulator<T>> {};

template <class T>
struct exact_norm : exact_square_sum<T> {
  using folds_as = exact_square_sum<T>;
  template <class R, class To = fanin::detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const exact_square_accumulator<T>& s, std::uint64_t,
                                                     To to = {}) {
    return s.template root<R>(to);
  }
};

/// Variances and standard deviations.
template <class T, bool Root = false, unsigned Ddof = 0>
struct exact_dispersion : exact_accumulator_base<T, exact_moments_accumulator<T>> {
  using folds_as = exact_dispersion<T>;
  static constexpr dispersion_measure measure{Root, Ddof};
  template <class R, class To = fanin::detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const exact_moments_accumulator<T>& s, std::uint64_t count,
                                                     To to = {}) {
    return s.template dispersion_of<R>(count, measure, to);
  }
};

template <class T>
struct exact_dot : exact_accumulator_base<T, exact_dot_accumulator<T>> {
  static constexpr std::size_t inputs = 2;
  FANIN_HOST_DEVICE static void add(exact_dot_accumulator<T>& s, T x, T y) { s.add(x, y); }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::sum, method::exact, T> : accumulator::uses<accumulator::exact_sum<T>> {};
template <std::floating_point T>
struct recipe_for<operation::mean, method::exact, T> : accumulator::uses<accumulator::exact_mean<T>> {};
template <std::floating_point T>
struct recipe_for<operation::sum_of_squares, method::exact, T> : accumulator::uses<accumulator::exact_square_sum<T>> {
};
template <std::floating_point T>
struct recipe_for<operation::norm2, method::exact, T> : accumulator::uses<accumulator::exact_norm<T>> {};
template <std::floating_point T>
struct recipe_for<operation::variance, method::exact, T> : accumulator::uses<accumulator::exact_dispersion<T>> {};
template <std::floating_point T>
struct recipe_for<operation::standard_deviation, method::exact, T>
    : accumulator::uses<accumulator::exact_dispersion<T, true>> {};
template <std::floating_point T>
struct recipe_for<operation::sample_variance, method::exact, T>
    : accumulator::uses<accumulator::exact_dispersion<T, false, 1>> {};
template <std::floating_point T>
struct recipe_for<operation::sample_standard_deviation, method::exact, T>
    : accumulator::uses<accumulator::exact_dispersion<T, true, 1>> {};
template <std::floating_point T>
struct recipe_for<operation::dot, method::exact, T> : accumulator::uses<accumulator::exact_dot<T>> {};

}  // namespace fanin
