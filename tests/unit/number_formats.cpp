// SPDX-License-Identifier: Apache-2.0
// Tests roundings to a format that is known at run time: to the nearest number, ties to even, by the numbers of the
// format alone, and with the bits of roundings to a type.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <fanin/accumulator/exact_recipes.hpp>

#include "tests/support/adversary.hpp"

namespace fanin::test {
namespace {

using fanin::detail::number_format;

/// The bits of the sum, which is rounded to the format that the caller passes.
template <class State>
[[gnu::noinline]] std::uint64_t rounded(const State& s, const number_format& to) {
  return s.round(to);
}

template <class R>
std::uint64_t bits_in(R x) {
  return fanin::detail::to_bits(x);
}

/// Checks that the values of a state have the same bits in a format and in its type.
template <class R, class State>
void check_values(const State& s) {
  const number_format to = number_format::of<R>();
  if constexpr (requires { s.dispersion_of(2, {}); }) {
    for (const bool root : {false, true}) {
      for (const unsigned ddof : {0u, 1u}) {
        const dispersion_measure wanted{root, ddof};
        CHECK(s.dispersion_of(3, wanted, to) == bits_in(s.template dispersion_of<R>(3, wanted)));
      }
    }
  } else {
    CHECK(rounded(s, to) == bits_in(s.template round<R>()));
    if constexpr (requires { s.mean(2, to); }) {
      for (const std::uint64_t count : {1ull, 3ull, 4ull, ~0ull}) {
        CHECK(s.mean(count, to) == bits_in(s.template mean<R>(count)));
      }
    }
  }
}
template <class State>
void check_in_all_types(const State& s) {
  check_values<f16>(s);
  check_values<bf16>(s);
  check_values<e5m2>(s);
  check_values<e4m3>(s);
  check_values<float>(s);
  check_values<double>(s);
}
template <class T>
void check_sums(const std::vector<T>& x) {
  exact_accumulator<T> sum;
  exact_square_accumulator<T> squares;
  exact_dot_accumulator<T> products;
  exact_moments_accumulator<T> moments;
  for (const T one : x) {
    sum.add(one);
    squares.add(one);
    products.add(one, -one);
    moments.add(one);
    check_in_all_types(sum);
    check_in_all_types(squares);
    check_in_all_types(products);
    for (const auto to : {number_format::of<e4m3>(), number_format::of<bf16>(), number_format::of<double>()}) {
      CHECK(squares.root(to) == (to.digits == 4   ? bits_in(squares.template root<e4m3>())
                                 : to.digits == 8 ? bits_in(squares.template root<bf16>())
                                                  : bits_in(squares.template root<double>())));
    }
    check_in_all_types(moments);
  }
}

TEST_SUITE("unit/number_formats") {
  TEST_CASE_TEMPLATE("every number of a format, and what lies between it and the next one", R, f16, bf16, e5m2,
                     e4m3) {
    using format = fanin::detail::float_format<R>;
    const number_format to = number_format::of<R>();
    const auto bits_of = [&](double x) {
      exact_accumulator<double> sum;
      sum.add(x);
      return rounded(sum, to);
    };
    int failures = 0;
    const auto check = [&](double x, unsigned bits) {
      failures += bits_of(x) != bits;
      const bool is_nan = !format::has_infinity && bits == format::quiet_nan;
      failures += x != 0 && bits_of(-x) != (is_nan ? bits : bits | format::sign);
    };
    for (unsigned bits = 0; bits < format::infinity; ++bits) {
      const double x = static_cast<float>(R::of_bits(bits));
      const double last = static_cast<float>(R::of_bits(bits > 0 ? bits - 1 : 1));
      // The number above the largest one would be as far from it as the number below.
      const double next = bits + 1 < format::infinity ? static_cast<float>(R::of_bits(bits + 1)) : x + (x - last);
      const double middle = (x + next) / 2;
      check(x, bits);
      check(middle, bits % 2 == 0 ? bits : bits + 1);
      check(std::nextafter(middle, 0), bits);
      check(std::nextafter(middle, HUGE_VAL), bits + 1);
    }
    CHECK(failures == 0);
    for (const double beyond : {0x1p17, 0x1p129, 0x1p1023})
      check(beyond * (sizeof(R) == 1 ? 1 : 0x1p112), format::infinity);
    CHECK(bits_of(HUGE_VAL) == format::infinity);
    CHECK(bits_of(-HUGE_VAL) == (format::infinity | format::sign));
    CHECK(bits_of(std::nan("")) == format::quiet_nan);
    CHECK(bits_of(-0.0) == format::sign);
  }

  TEST_CASE_TEMPLATE("floats and doubles, and means halfway between two of them", R, float, double) {
    using limits = std::numeric_limits<R>;
    const number_format to = number_format::of<R>();
    generator random(31);
    for (int i = 0; i < 20000; ++i) {
      auto bits = static_cast<typename fanin::detail::float_format<R>::bits>(random());
      if (i % 4 == 0) bits &= fanin::detail::float_format<R>::implicit_one * 2 - 1;  // subnormal, or just above
      const R x = std::fabs(fanin::detail::from_bits<R>(bits));
      if (!(x < limits::max())) continue;
      exact_accumulator<double> two;
      two.add(x);
      CHECK(rounded(two, to) == fanin::detail::to_bits(x));
      two.add(std::nextafter(x, limits::infinity()));
      CHECK(two.mean(2, to) == fanin::detail::to_bits(x) + fanin::detail::to_bits(x) % 2);
    }
    exact_accumulator<double> most;
    most.add(limits::max());
    most.add(std::ldexp(R{1}, limits::max_exponent - limits::digits - 1));
    CHECK(rounded(most, to) == fanin::detail::float_format<R>::infinity);
    most.add(-1);
    CHECK(rounded(most, to) == fanin::detail::to_bits(limits::max()));
  }

  TEST_CASE_TEMPLATE("sums, means, roots and dispersions have the bits of roundings to a type", T, float, double) {
    adversary<T> random(32);
    for (const auto& kind : adversary<T>::kinds()) {
      CAPTURE(kind.name);
      check_sums(random.make(kind, 12));
    }
    using limits = std::numeric_limits<T>;
    for (const T special : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
      check_sums<T>({1, special, special});
    check_sums<T>({limits::infinity(), -limits::infinity()});
    check_sums<T>({-T{0}, -T{0}, T{0}});
    check_sums<T>({limits::max(), limits::max(), -limits::denorm_min()});
    check_sums<T>({T(448), T(15.5), T(0.5), T(1)});
  }
}

}  // namespace
}  // namespace fanin::test
