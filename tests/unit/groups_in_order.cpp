// SPDX-License-Identifier: Apache-2.0
// Tests on every instruction set of this machine that variances and log_sum_exp of groups in host memory add the
// elements of each group one after another, and keep their bounds; and exact sums of groups of many elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fanin/accumulator/dispersion.hpp>
#include <fanin/accumulator/log_sum.hpp>
#include <fanin/fanin.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/log_sum_truth.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr operation dispersions[] = {operation::variance, operation::standard_deviation, operation::sample_variance,
                                     operation::sample_standard_deviation};

template <class T>
double uniform(generator& random, T width) {
  return static_cast<double>(width) * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1);
}

/// Integers are added as doubles.
template <class T>
using added_as = std::conditional_t<std::is_integral_v<T>, double, computed_as<T>>;

struct sum_and_errors {
  double sum = 0, errors = 0;
  void add(double x, double error) {
    const double total = sum + x, of_x = total - sum;
    errors += (sum - (total - of_x)) + (x - of_x) + error;
    sum = total;
  }
};

template <class N>
N dispersion_in_order(operation what, method how, const std::vector<N>& x) {
  sum_and_errors sum, squares;
  for (const double v : x) {
    const double square = v * v;
    if (how == method::fast && sizeof(N) < sizeof(double)) {
      sum.sum += v;
      squares.sum += square;
    } else {
      sum.add(v, 0);
      squares.add(square, std::fma(v, v, -square));
    }
  }
  const auto value = accumulator::dispersion_of_sums({{sum.sum, sum.errors}, {squares.sum, squares.errors}}, x.size(),
                                                     dispersion_named(what));
  return static_cast<N>(accumulator::canonical(value));
}

template <class N>
N log_sum_in_order(const std::vector<N>& x) {
  using far_sum = accumulator::log_sum<double>;
  double near = 0;
  std::vector<N> near_elements;
  far_sum::state all = far_sum::identity();
  for (const N v : x) {
    if (std::fabs(v) <= 600) {
      near += accumulator::exponential_of_near(v);
      near_elements.push_back(v);
    } else if (v != -infinity) {
      far_sum::add(all, v);
    }
  }
  if (near_elements.size() == 1) far_sum::add(all, near_elements[0]);
  if (near_elements.size() > 1) far_sum::merge(all, {0, near});
  return accumulator::log_sum<N>::template finish<N>(all, x.size());
}

/// How elements are shared out to groups.
struct shape {
  std::size_t count, groups;
  unsigned threads;
};

/// Checks the results of groups, and of groups of which a mask leaves out some elements.
template <class T>
void check(operation what, method how, const std::vector<T>& x, shape of) {
  using N = added_as<T>;
  const options chosen{.backend = of.threads == 1 ? "serial" : "openmp", .method = how, .threads = of.threads};
  CAPTURE(std::string(to_string(what)));
  CAPTURE(of.count);
  CAPTURE(of.groups);
  generator random(of.count);
  std::vector<std::int64_t> keys(of.count);
  std::vector<std::uint8_t> mask(of.count);
  std::vector<std::vector<N>> members(of.groups), present(of.groups);
  for (std::size_t i = 0; i < of.count; ++i) {
    keys[i] = static_cast<std::int64_t>(random() % of.groups);
    mask[i] = random() % 3 != 0 ? 1 : 0;
    const auto group = static_cast<std::size_t>(keys[i]);
    members[group].push_back(static_cast<N>(x[i]));
    if (mask[i] != 0) present[group].push_back(static_cast<N>(x[i]));
  }
  const auto check_each = [&](const batch& many, const std::vector<std::vector<N>>& of_group) {
    std::vector<N> found(of.groups);
    reduce(what, many, found, chosen);
    std::size_t wrong = 0;
    for (std::size_t g = 0; g < of.groups; ++g) {
      if (of_group[g].size() < least_count(what)) continue;
      const N expected = row_of(what).adds == summand::exponentials ? log_sum_in_order(of_group[g])
                                                                    : dispersion_in_order(what, how, of_group[g]);
      wrong += same(scalar(found[g]), scalar(expected)) ? 0 : 1;
    }
    CHECK(wrong == 0);
  };
  check_each(groups(x, keys, of.groups), members);
  check_each(groups(where(x, mask), keys, of.groups), present);
}

constexpr shape shapes[] = {{1, 1, 1}, {9, 9, 1}, {129, 3, 1}, {3000, 70, 1}};
/// These are long enough for a sort and for buckets.
constexpr shape long_shapes[] = {{600000, 900, 8}, {600000, 9000, 8}};

template <class T>
std::vector<T> deviating(std::size_t count, double mean, bool with_others) {
  generator random(count);
  std::vector<T> x(count);
  for (T& v : x) {
    v = static_cast<T>(static_cast<computed_as<T>>(mean + uniform(random, 1)));
    if (!with_others || random() % 100 != 0) continue;
    const double others[] = {0, -0., 1e-40, -3e4, infinity, -infinity, nan};
    v = static_cast<T>(static_cast<computed_as<T>>(others[random() % std::size(others)]));
  }
  return x;
}

template <class T>
std::vector<T> exponents(std::size_t count, bool with_others) {
  generator random(count);
  std::vector<T> x(count);
  const double others[] = {0, -0., 600, -600, 601, -601, 900, -3e4, infinity, -infinity, -infinity, nan};
  for (T& v : x) {
    const double some = uniform(random, random() % 2 == 0 ? 3 : 100);
    v = static_cast<T>(static_cast<added_as<T>>(std::is_unsigned_v<T> ? std::fabs(some) : some));
    if constexpr (floating<T>) {
      if (with_others && random() % 50 == 0) v = T(static_cast<computed_as<T>>(others[random() % std::size(others)]));
    } else {
      if (with_others && sizeof(T) > 2 && random() % 50 == 0) v = static_cast<T>(random() % 5000);
    }
  }
  return x;
}

/// Whether the value of a group of all elements keeps its bound.
template <class T>
bool keeps_bound(operation what, method how, const std::vector<T>& x) {
  std::vector<computed_as<T>> found(1);
  const report told =
      reduce(what, groups(x, std::vector<int>(x.size()), 1), found, {.backend = "serial", .method = how});
  const auto value = found[0];
  if (what != operation::log_sum_exp) return exact_reference<T>(x).keeps(what, value, told.bound);
  std::vector<double> numbers;
  for (const T v : x) numbers.push_back(static_cast<double>(static_cast<computed_as<T>>(v)));
  const long_number exact = log_sum_exp_of<double>(numbers, [](std::size_t) { return 1; });
  const double error = (long_number(static_cast<double>(value)) - exact).magnitude();
  return error <= told.bound.of_result * exact.magnitude() + told.bound.absolute;
}

}  // namespace

TEST_SUITE("unit/groups_in_order") {
  TEST_CASE_TEMPLATE("variances", T, float, double, f16, bf16) {
    on_every_target([] {
      for (const shape of : shapes) {
        for (const method how : {method::fast, method::compensated}) {
          for (const operation what : dispersions) check(what, how, deviating<T>(of.count, 20, false), of);
          check(operation::variance, how, deviating<T>(of.count, 0, true), of);
        }
      }
    });
    for (const shape of : long_shapes) check(operation::variance, method::fast, deviating<T>(of.count, 5, true), of);
  }

  TEST_CASE_TEMPLATE("log_sum_exp of floats", T, float, double, f16, bf16, e5m2) {
    on_every_target([] {
      for (const shape of : shapes) {
        for (const bool with_others : {false, true})
          check(operation::log_sum_exp, method::fast, exponents<T>(of.count, with_others), of);
      }
    });
    for (const shape of : long_shapes) check(operation::log_sum_exp, method::fast, exponents<T>(of.count, true), of);
  }

  TEST_CASE_TEMPLATE("log_sum_exp of integers", T, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                     std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    on_every_target([] {
      for (const shape of : shapes) check(operation::log_sum_exp, method::fast, exponents<T>(of.count, true), of);
    });
    check(operation::log_sum_exp, method::fast, exponents<T>(long_shapes[0].count, true), long_shapes[0]);
  }

  TEST_CASE_TEMPLATE("log_sum_exp of one element, and of others that are -infinity, is the element", T, float,
                     double) {
    constexpr std::size_t count = 2000;
    generator random(9);
    std::vector<T> x(2 * count, static_cast<T>(-infinity)), found(count);
    std::vector<int> keys(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = static_cast<T>(uniform(random, i % 2 == 0 ? 1 : 700));
      keys[i] = keys[2 * count - 1 - i] = static_cast<int>(i);
    }
    log_sum_exp(groups(x, keys, count), found);
    CHECK(std::equal(found.begin(), found.end(), x.begin()));
  }

  TEST_CASE_TEMPLATE("bounds", T, float, double, f16, bf16) {
    for (const std::size_t count : {1, 2, 3, 100, 3000}) {
      CAPTURE(count);
      for (const method how : {method::fast, method::compensated}) {
        for (const double mean : {0., 1., 1000., 3e4}) {
          for (const operation what : dispersions) {
            if (count >= least_count(what)) CHECK(keeps_bound(what, how, deviating<T>(count, mean, false)));
          }
        }
      }
      for (const double width : {1., 30., 599., 2000.}) {
        generator random(count);
        std::vector<T> x(count);
        for (const double mean : {0., -500., 590., 30000.}) {
          for (T& v : x) v = static_cast<T>(static_cast<computed_as<T>>(mean + uniform(random, width)));
          CHECK(keeps_bound(operation::log_sum_exp, method::fast, x));
        }
      }
    }
  }

  TEST_CASE("the bound of many equal elements") {
    const std::vector<double> x(1000, 0.1);
    std::vector<double> found(1);
    const report told = log_sum_exp(groups(x, std::vector<int>(1000), 1), found);
    const double exact = 0.1 + std::log(1000.);
    CHECK(told.bound.of_result * exact + told.bound.absolute < 1e-12);
    CHECK(std::fabs(found[0] - exact) < 1e-13);
  }

  TEST_CASE_TEMPLATE("a group of more elements than its words take without carries", T, float, double) {
    // 1 and the others differ so much that the digits of the others, or of their squares, fill a word.
    constexpr std::size_t count = (std::size_t{1} << 24) + 65536;
    const std::vector<std::uint32_t> keys(count, 7);
    std::vector<double> sums(300);
    const options exact{.backend = "serial", .method = method::exact, .result = element_type::f64};
    const auto check_sum = [&](operation what, T others) {
      std::vector<T> x(count, others);
      for (std::size_t i = 0; i < count; i += count / 1024 + 1) x[i] = 1;
      reduce(what, groups(x, keys, 300), sums, exact);
      CHECK(sums[7] == fanin::get<double>(reduce(what, array_view(std::span<const T>(x)), exact).value));
    };
    check_sum(operation::sum, static_cast<T>(0x1p-28 - 0x1p-52));
    check_sum(operation::sum_of_squares, static_cast<T>(0x1.6a09e6p-14));
    // Among ones, 8 would be too large for the words of short sums.
    check_sum(operation::sum, static_cast<T>(0x1.fffffep2));
    check_sum(operation::variance, static_cast<T>(0x1.fffffep2));
  }
}

}  // namespace fanin::test
