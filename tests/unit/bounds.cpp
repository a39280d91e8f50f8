// SPDX-License-Identifier: Apache-2.0
// Tests the error bounds of accumulators in the fixed order against values computed by hand. A row has 64 f32 or 32
// f64.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

namespace {

using namespace fanin;
using namespace fanin::accumulator;

constexpr double infinity = std::numeric_limits<double>::infinity();

using bound_function = error_bound (*)(std::uint64_t);

template <class A>
rounding_chain chain_of(std::uint64_t count) {
  return fanin::detail::fixed_order_chain(fanin::detail::row_width_of<A>, count);
}

template <class A, class R>
error_bound general_bound(std::uint64_t count) {
  return A::template bound<R>(chain_of<A>(count), count);
}

template <class T>
constexpr bound_function all_bounds[] = {
    general_bound<plain_sum<T>, T>,       general_bound<plain_square_sum<T>, T>,
    general_bound<compensated_sum<T>, T>, general_bound<compensated_square_sum<T>, T>,
    general_bound<plain_product<T>, T>,   general_bound<log_sum<T>, T>};

template <class T>
double chain_length(std::uint64_t count) {
  return chain_of<plain_sum<T>>(count).length();
}

/// Whether `bound` is `expected`, or larger by a relative 2^-40 at most.
bool is(double bound, double expected) { return bound >= expected && bound <= expected * (1 + 0x1p-40); }

}  // namespace

TEST_SUITE("unit/bounds") {
  TEST_CASE("chains") {
    constexpr double adds = fanin::detail::rows_in_leaf - 1;
    constexpr std::uint64_t leaf = fanin::detail::leaf_of<plain_sum<float>>;
    CHECK(chain_length<float>(0) == 6);
    CHECK(chain_length<float>(64) == 6);
    CHECK(chain_length<float>(65) == 7);
    CHECK(chain_length<float>(leaf) == adds + 6);
    CHECK(chain_length<float>(leaf + 1) == adds + 6 + 1);
    CHECK(chain_length<float>(3 * leaf) == adds + 6 + 2);
    CHECK(chain_length<double>(32) == 5);
    CHECK(chain_length<double>(33) == 6);
    CHECK(chain_length<double>(leaf / 2) == adds + 5);
    CHECK(chain_length<double>((leaf / 2) << 27) == adds + 5 + 27);
  }

  TEST_CASE("growth") {
    CHECK(growth<float>(0) == 0);
    CHECK(is(growth<float>(1), 0x1p-24 / (1 - 0x1p-24)));
    CHECK(is(growth<double>(4), 0x1p-51 / (1 - 0x1p-51)));
    CHECK(is(growth<float>(0x1p23), 1));
    CHECK(growth<float>(0x1p24) == infinity);
    CHECK(growth<float>(0x1p30) == infinity);
    CHECK(growth<double>(0x1p53) == infinity);
  }

  TEST_CASE("plain and compensated sums") {
    CHECK(is(general_bound<plain_sum<float>, float>(64).of_magnitudes, 6 * 0x1p-24 / (1 - 6 * 0x1p-24)));
    CHECK(general_bound<plain_sum<float>, float>(64).of_result == 0);
    CHECK(is(general_bound<plain_square_sum<double>, double>(32).of_result, 6 * 0x1p-53 / (1 - 6 * 0x1p-53)));
    CHECK(general_bound<plain_square_sum<double>, double>(32).absolute == 32 * 0x1p-1074);
    const error_bound compensated = general_bound<compensated_sum<float>, float>(64);
    CHECK(compensated.of_result == 0x1p-24);
    const double errors = 6 * 0x1p-24 / (1 - 6 * 0x1p-24);
    const double carried_on = 13 * 0x1p-24 / (1 - 13 * 0x1p-24);
    CHECK(is(compensated.of_magnitudes, (1 + 0x1p-24) * errors * carried_on));
    CHECK(general_bound<compensated_square_sum<float>, float>(10).absolute == 20 * 0x1p-149);
  }

  TEST_CASE("products") {
    CHECK(product_bound<float>(0).of_result == 0);
    CHECK(product_bound<float>(1).of_result == 0);
    CHECK(is(product_bound<float>(2).of_result, 0x1p-24 / (1 - 0x1p-24)));
    CHECK(product_bound<float>((1 << 24) + 1).of_result == infinity);
    CHECK(std::isfinite(product_bound<double>((1 << 24) + 1).of_result));
    CHECK(product_bound<double>((std::uint64_t{1} << 53) + 1).of_result == infinity);
  }

  TEST_CASE("one rounding, and a mean's further ones") {
    CHECK(rounded_bound<float>().of_result == 0x1p-24);
    CHECK(rounded_bound<float>().absolute == 0x1p-150);
    CHECK(rounded_bound<double>().of_result == 0x1p-53);
    CHECK(rounded_bound<double>().absolute == 0x1p-1074);
    const error_bound sum = general_bound<plain_sum<float>, float>(100);
    const error_bound mean = divided<float>(sum);
    CHECK(mean.of_magnitudes > sum.of_magnitudes);
    CHECK(mean.of_result >= 0x1p-24);
    CHECK(mean.of_result < 0x1.001p-24);
    CHECK(mean.absolute == 0x1p-149);
  }

  TEST_CASE("logarithms of sums of exponentials") {
    constexpr double u = 0x1p-53;
    const error_bound of_one = log_sum_bound<double>({0, 0}, 1);
    CHECK(is(of_one.of_result, u));
    CHECK(of_one.of_magnitudes == 0);
    CHECK(of_one.absolute == 0x1p-1074);
    const error_bound of_many = log_sum_bound<double>({31, 9}, 1000);
    const double steps = 160 * u / (1 - 160 * u);
    const double of_sum = steps + (1 + steps) * 1.001 * u * std::log(1000.0);
    const double of_log = of_sum / (1 - of_sum);
    CHECK(is(of_many.absolute, (of_log + 6 * u * (std::log(1000.0) + of_log)) * (1 + u)));
    const error_bound of_floats = log_sum_bound<float>({31, 9}, 1000);
    CHECK(is(of_floats.of_result, 0x1p-24 * (1 + u) + u));
    CHECK(of_floats.absolute > of_many.absolute);
    CHECK(of_floats.absolute < of_many.absolute * (1 + 0x1p-22));
    const error_bound of_terms = log_sum_bound<float>({31, 9}, 1000, 0x1p-24);
    CHECK(of_terms.absolute - of_floats.absolute >= 0x1p-24);
    CHECK(of_terms.absolute - of_floats.absolute <= 0x1.0001p-24);
    CHECK(log_sum_bound<double>({0x1p51, 0}, 1000).of_result == infinity);
    CHECK(log_sum_bound<double>({0x1p50, 0}, 1000).of_result == infinity);
    CHECK(std::isfinite(log_sum_bound<double>({0x1p49, 0}, 1000).of_result));
  }

  TEST_CASE_TEMPLATE("bounds never fall as the count grows, and promise nothing beyond precision", T, float, double) {
    for (const bound_function bound : all_bounds<T>) {
      error_bound before = bound(0);
      for (std::uint64_t count = 1; count < std::uint64_t{1} << 60; count += 1 + count / 5) {
        const error_bound now = bound(count);
        CAPTURE(count);
        REQUIRE(now.of_magnitudes >= before.of_magnitudes);
        REQUIRE(now.of_result >= before.of_result);
        REQUIRE(now.absolute >= before.absolute);
        before = now;
      }
      CHECK(std::isfinite(before.of_magnitudes));  // The length of the chain grows with the logarithm of the count.
    }
  }
}
