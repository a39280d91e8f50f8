// SPDX-License-Identifier: Apache-2.0
// Tests log_sum_exp's functions and its accumulators against MPFR: errors stay below the proven bounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

#include "backends/cuda/float_log_sum.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/log_sum_truth.hpp"

namespace fanin::test {
namespace {

using namespace fanin::accumulator;

using double_limits = std::numeric_limits<double>;
constexpr double unit = unit_roundoff<double>;

double uniform(generator& random, double least, double most) {
  return least + (most - least) * std::ldexp(static_cast<double>(random() >> 11), -53);
}

/// The value of x by the general loop, and its bound.
template <class T>
struct computed {
  T value;
  error_bound bound;
};
template <class T>
computed<T> by_general_loop(std::span<const T> x) {
  using A = log_sum<T>;
  using loop = fanin::detail::ordered_loop<A>;
  typename loop::row row;
  loop::fold({x.data()}, x.size(), row);
  const rounding_chain chain = fanin::detail::fixed_order_chain(fanin::detail::row_width_of<A>, x.size());
  return {A::template finish<T>(loop::total(row), x.size()), A::template bound<T>(chain, x.size())};
}

/// The value that a kernel's accumulator makes of the state of x.
float value_of(const cuda::float_log_sum::state& s, std::size_t count) {
  return log_sum<float>::finish<float>(static_cast<scaled_sum>(s), count);
}
/// The value of x by states of kernels, of `AtOnce` elements that are added at once, and its bound.
template <int AtOnce>
computed<float> by_kernel_states(std::span<const float> x) {
  using A = cuda::float_log_sum;
  auto s = A::identity(), last = A::identity();
  std::size_t i = 0;
  for (; i + AtOnce <= x.size(); i += AtOnce) {
    float some[AtOnce];
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i), AtOnce, some);
    A::add_all(s, some);
  }
  for (; i < x.size(); ++i) A::add(last, x[i]);
  A::merge(s, last);
  return {value_of(s, x.size()), A::bound<float>({static_cast<double>(x.size()), 1}, x.size())};
}

template <class T>
long_number exact_value(const std::vector<T>& x) {
  return log_sum_exp_of<T>(x, [](std::size_t) { return 1; });
}
/// The error as a multiple of the bound.
template <class T>
double share_of_bound(const computed<T>& found, const long_number& exact) {
  const double limit = found.bound.of_result * exact.magnitude() * (1 - 0x1p-50) + found.bound.absolute;
  return (long_number(static_cast<double>(found.value)) - exact).magnitude() / limit;
}

/// Inputs in which the largest element grows often or never, in which the result cancels, and limits of T.
template <class T>
std::vector<std::vector<T>> families(std::size_t count) {
  generator random(count);
  std::vector<std::vector<T>> all;
  const auto add = [&](auto element) {
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(element(i));
    all.push_back(x);
  };
  const auto n = static_cast<double>(count);
  for (const double same :
       {0., -1., 1e-30, 1000., -1e30, static_cast<double>(std::numeric_limits<T>::max()), -std::log(n)}) {
    add([&](std::size_t) { return same; });
  }
  for (const double width : {1e-9, 1., 30., 700., 1e5}) {
    add([&](std::size_t) { return uniform(random, -width, width); });
    add([&](std::size_t) { return uniform(random, -width, 0) - std::log(n); });
    add([&](std::size_t i) { return width * static_cast<double>(i) / n; });
    add([&](std::size_t i) { return -width * static_cast<double>(i) / n; });
  }
  for (const double step : {0.3, 2., 11., 707.9, 708.1}) {
    add([&](std::size_t i) { return step * static_cast<double>(i / fanin::detail::row_width_of<log_sum<T>>); });
  }
  add([&](std::size_t i) { return i == count / 2 ? 40. : uniform(random, -1, 1); });
  add([&](std::size_t i) { return i == count / 2 ? 0. : -36. - uniform(random, 0, 1); });
  add([&](std::size_t) { return std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 100); });
  add([&](std::size_t) { return random_finite<T>(random); });
  return all;
}

}  // namespace

TEST_SUITE("unit/log_sum") {
  TEST_CASE("exponentials of doubles are within two units roundoff") {
    generator random(1);
    double worst = 0;
    const auto measure = [&](double t) {
      worst = std::max(worst, relative_error(exp_of_negative(t), exp(long_number(t))));
      worst = std::max(worst, relative_error(exponential_of_near(-t), exp(long_number(-t))));
    };
    for (int i = 0; i < 40000; ++i) {
      measure(uniform(random, -708, 0));
      measure(uniform(random, -2, 0));
      measure(-std::ldexp(uniform(random, 0.5, 1), -static_cast<int>(random() % 60)));
    }
    // Around the ends of the ranges in which the exponent of the result is n.
    for (int half = 1; half < 2043; half += 2) {
      double t = -half * 0.5 * ln2_high;
      for (int i = 0; i < 10; ++i) t = std::nextafter(t, -double_limits::infinity());
      for (int i = 0; i < 20; ++i, t = std::nextafter(t, 0)) {
        if (t >= least_exponent) measure(t);
      }
    }
    measure(least_exponent);
    CHECK(worst <= 2 * unit);
    CHECK(bits_of(exp_of_negative(0)) == bits_of(1.0));
    CHECK(bits_of(exp_of_negative(-0.0)) == bits_of(1.0));
    CHECK(bits_of(exp_of_negative(std::nextafter(least_exponent, -double_limits::infinity()))) == bits_of(0.0));
    CHECK(bits_of(exp_of_negative(-double_limits::max())) == bits_of(0.0));
    CHECK(bits_of(exp_of_negative(-double_limits::infinity())) == bits_of(0.0));
    CHECK(std::isnan(exp_of_negative(double_limits::quiet_NaN())));
  }

  TEST_CASE("logarithms are within six units roundoff") {
    generator random(2);
    double worst = 0;
    const auto measure = [&](double s) {
      worst = std::max(worst, relative_error(log_of_sum(s), log(long_number(s))));
    };
    for (int i = 0; i < 40000; ++i) {
      measure(std::ldexp(uniform(random, 1, 2), static_cast<int>(random() % 65)));
      measure(uniform(random, 1.0001, 3));
      measure(1 + std::ldexp(uniform(random, 0.5, 1), -static_cast<int>(random() % 52)));
      measure(1 - std::ldexp(uniform(random, 0.5, 1), -static_cast<int>(1 + random() % 52)));
      measure(std::ldexp(uniform(random, 1, 2), -static_cast<int>(random() % 1000)));
    }
    double s = std::sqrt(2.0);
    for (int i = 0; i < 100; ++i) s = std::nextafter(s, 0);
    for (int i = 0; i < 200; ++i, s = std::nextafter(s, 2)) {
      for (const int exponent : {-999, -2, -1, 0, 1, 5, 63}) measure(std::ldexp(s, exponent));
    }
    measure(std::nextafter(1.0, 2));
    measure(0x1.fffffffffffffp999);
    CHECK(worst <= 6 * unit);
    CHECK(bits_of(log_of_sum(1)) == bits_of(0.0));
  }

  TEST_CASE_TEMPLATE("one element is its own result", T, float, double) {
    generator random(3);
    for (int i = 0; i < 10000; ++i) {
      const T x = random_finite<T>(random);
      CHECK(bits_of(by_general_loop<T>({&x, 1}).value) == bits_of(x));
    }
  }

  TEST_CASE("merges of states that have no element, infinities or NaN") {
    using A = log_sum<double>;
    constexpr double inf = double_limits::infinity(), nan = double_limits::quiet_NaN();
    const auto value = [](double x, double y) {
      auto s = A::identity(), other = A::identity();
      A::merge(s, other);
      A::add(s, x);
      A::add(other, y);
      A::merge(s, other);
      A::merge(s, A::identity());
      return A::finish<double>(s, 2);
    };
    CHECK(value(-inf, -inf) == -inf);
    CHECK(value(-inf, 7) == 7);
    CHECK(value(7, -inf) == 7);
    CHECK(value(inf, -inf) == inf);
    CHECK(value(inf, inf) == inf);
    CHECK(value(double_limits::max(), double_limits::max()) == double_limits::max());
    CHECK(value(-double_limits::max(), double_limits::max()) == double_limits::max());
    for (const double other : {-inf, -1., inf, nan}) {
      CHECK(bits_of(value(-nan, other)) == bits_of(nan));
      CHECK(bits_of(value(other, nan)) == bits_of(nan));
    }
    CHECK(A::finish<double>(A::identity(), 0) == -inf);
  }

  TEST_CASE_TEMPLATE("the bound holds", T, float, double) {
    double worst = 0;
    for (const std::size_t count : {1, 2, 3, 64, 65, 1000, 5000, 20000}) {
      for (const auto& x : families<T>(count)) {
        const double share = share_of_bound(by_general_loop<T>(x), exact_value(x));
        CAPTURE(count);
        CAPTURE(x[0]);
        CHECK(share <= 1);
        worst = std::max(worst, share);
      }
    }
  }

  TEST_CASE("exponentials of floats are within their bounds") {
    generator random(4);
    double worst = 0, worst_on_host = 0;
    const auto measure = [&](float x) {
      const long_number exact = exp(long_number(x));
      const double error = relative_error(cuda::exponential_of_float(x), exact);
      worst = std::max(worst, error / ((1.1 + 0.0462 * std::fabs(x)) * unit_roundoff<float>));
      worst_on_host = std::max(worst_on_host, relative_error(exponential_of_near(x), exact));
    };
    for (int i = 0; i < 40000; ++i) {
      measure(static_cast<float>(uniform(random, -600, 600)));
      measure(static_cast<float>(uniform(random, -2, 2)));
      measure(static_cast<float>(std::ldexp(uniform(random, -1, 1), -static_cast<int>(random() % 140))));
    }
    // Around the ends of the ranges in which the exponent of the result is n.
    for (int half = -1731; half < 1731; half += 2) {
      auto x = static_cast<float>(half * 0.5 * ln2_high);
      for (int i = 0; i < 5; ++i) x = std::nextafter(x, -1000.f);
      for (int i = 0; i < 10; ++i, x = std::nextafter(x, 1000.f)) measure(x);
    }
    measure(600);
    measure(-600);
    CHECK(worst <= 1);
    CHECK(worst_on_host <= 1.6 * unit_roundoff<float>);
    CHECK(bits_of(exponential_of_near(0.f)) == bits_of(1.0));
    CHECK(bits_of(exponential_of_near(-0.0)) == bits_of(1.0));
    CHECK(bits_of(exponential_of_near(-0.f)) == bits_of(1.0));
    CHECK(bits_of(cuda::exponential_of_float(0)) == bits_of(1.0));
    CHECK(bits_of(cuda::exponential_of_float(-0.f)) == bits_of(1.0));
  }

  TEST_CASE("states of kernels keep their bound, and four units roundoff") {
    for (const std::size_t count : {1, 2, 3, 64, 65, 1000, 5000}) {
      for (const auto& x : families<float>(count)) {
        CAPTURE(count);
        CAPTURE(x[0]);
        const long_number exact = exact_value(x);
        for (computed<float> found : {by_kernel_states<4>(x), by_kernel_states<16>(x)}) {
          CHECK(share_of_bound(found, exact) <= 1);
          found.bound = {0, 0, 4 * unit_roundoff<float> * std::max(1., exact.magnitude())};
          CHECK(share_of_bound(found, exact) <= 1);
        }
      }
    }
    // The bound of 2^50 elements has this limit as well.
    const error_bound most = cuda::float_log_sum::bound<float>({0x1p20, 20}, std::uint64_t{1} << 50);
    CHECK(most.of_result + most.absolute <= 4 * unit_roundoff<float>);
  }

  TEST_CASE("states of kernels have the bits of additions one after another") {
    using A = cuda::float_log_sum;
    constexpr float inf = std::numeric_limits<float>::infinity(),
                    special[] = {-inf, -1e30f, -700, -601, -600, -599.5, -0.f, 0, 1, 600, 601, 700, 1e30f};
    generator random(5);
    for (int i = 0; i < 20000; ++i) {
      auto s = A::identity();
      const auto near = random() % 2;
      for (std::uint64_t k = random() % 3; k > 0; --k) A::add(s, special[random() % std::size(special)]);
      auto one_by_one = s;
      float x[8];
      for (float& one : x) {
        one = random() % 4 < 3 * near ? static_cast<float>(uniform(random, -30, 30))
                                      : special[random() % std::size(special)];
        A::add(one_by_one, one);
      }
      A::add_all(s, x);
      REQUIRE(s == one_by_one);
    }
  }

  TEST_CASE("special values of kernels' states") {
    using A = cuda::float_log_sum;
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const auto value = [](std::initializer_list<float> some) {
      auto added = A::identity(), merged = A::identity(), at_once = A::identity();
      float x[8];
      std::ranges::fill(x, -std::numeric_limits<float>::infinity());
      std::ranges::copy(some, x);
      A::add_all(at_once, x);
      for (const float one : some) {
        A::add(added, one);
        auto state = A::identity();
        A::add(state, one);
        A::merge(merged, state);
        A::merge(merged, A::identity());
      }
      const float found = value_of(added, some.size());
      CHECK(bits_of(value_of(merged, some.size())) == bits_of(found));
      CHECK(bits_of(value_of(at_once, 8)) == bits_of(found));
      return found;
    };
    CHECK(value({}) == -inf);
    CHECK(value({-inf, -inf}) == -inf);
    CHECK(value({inf, -inf, 3}) == inf);
    CHECK(value({inf, inf}) == inf);
    for (const float other : {-inf, -1e30f, -1.f, 700.f, inf, nan}) {
      CHECK(bits_of(value({nan, other})) == bits_of(nan));
      CHECK(bits_of(value({other, nan})) == bits_of(nan));
    }
    CHECK(value({1e30f, -1e30f, 5}) == 1e30f);
    CHECK(value({-1e30f, -1e30f}) == -1e30f);
    generator random(6);
    for (int i = 0; i < 10000; ++i) {
      const float x = random_finite<float>(random), near = static_cast<float>(uniform(random, -700, 700));
      for (const float one : {x, near}) {
        CHECK(bits_of(value({one})) == bits_of(one));
        CHECK(bits_of(value({-inf, one, -inf})) == bits_of(one));
      }
    }
  }
}

}  // namespace fanin::test
