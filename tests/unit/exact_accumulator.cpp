// SPDX-License-Identifier: Apache-2.0
// Tests of exact accumulators: special values, ill-conditioned sums, and merging.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <fanin/accumulator/exact.hpp>

namespace {

using fanin::exact_accumulator;
using fanin::exact_square_accumulator;

template <class T>
using limits = std::numeric_limits<T>;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

template <class A, class T = typename A::value_type>
A accumulate(const std::vector<T>& x) {
  A sum;
  sum.add(std::span<const T>(x));
  return sum;
}

template <class T>
T rounded_sum(const std::vector<T>& x) {
  return accumulate<exact_accumulator<T>>(x).round();
}

template <class T>
std::vector<T> negated(std::vector<T> x) {
  for (T& v : x) v = -v;
  return x;
}

/// Checks that the sum of x in several orders is `expected`, that the sum of the negated x is -expected, and that the
/// sum of x appended to itself is 2 * expected.
template <class T>
void check_sum(std::vector<T> x, T expected) {
  CAPTURE(x.size());
  CAPTURE(expected);
  CHECK(bits(rounded_sum(x)) == bits(expected));
  CHECK(bits(rounded_sum(negated(x))) == bits(expected == 0 ? T{0} : -expected));
  std::mt19937_64 random(x.size());
  for (int i = 0; i < 4; ++i) {
    std::shuffle(x.begin(), x.end(), random);
    CHECK(bits(rounded_sum(x)) == bits(expected));
  }
  std::vector<T> twice = x;
  twice.insert(twice.end(), x.begin(), x.end());
  if (std::abs(expected) >= limits<T>::min()) CHECK(bits(rounded_sum(twice)) == bits(2 * expected));
}

}  // namespace

TEST_SUITE_BEGIN("unit/exact_accumulator");

TEST_CASE_TEMPLATE("special values", T, float, double) {
  const T inf = limits<T>::infinity();
  const T nan = limits<T>::quiet_NaN();
  const T minus_zero = -T{0};
  const auto canonical = sizeof(T) == 8 ? bits(double(nan)) : bits(float(nan));
  CHECK(canonical == (sizeof(T) == 8 ? 0x7ff8000000000000u : 0x7fc00000u));

  CHECK(bits(rounded_sum<T>({})) == bits(T{0}));
  CHECK(bits(rounded_sum<T>({minus_zero})) == bits(minus_zero));
  CHECK(bits(rounded_sum<T>({minus_zero, minus_zero})) == bits(minus_zero));
  CHECK(bits(rounded_sum<T>({minus_zero, T{0}})) == bits(T{0}));
  CHECK(bits(rounded_sum<T>({T{0}, minus_zero})) == bits(T{0}));
  CHECK(bits(rounded_sum<T>({T{-1}, T{1}})) == bits(T{0}));
  CHECK(bits(rounded_sum<T>({T{-1}, T{1}, minus_zero})) == bits(T{0}));
  CHECK(rounded_sum<T>({1, inf, 2}) == inf);
  CHECK(rounded_sum<T>({1, -inf, 2, -inf}) == -inf);
  CHECK(bits(rounded_sum<T>({inf, 1, -inf})) == canonical);
  CHECK(bits(rounded_sum<T>({inf, -nan, 1})) == canonical);
  CHECK(bits(rounded_sum<T>({limits<T>::signaling_NaN()})) == canonical);

  exact_accumulator<T> zeros;
  zeros.add(minus_zero);
  CHECK(bits(zeros.template mean<T>(3)) == bits(minus_zero));
  CHECK(bits(zeros.template round<double>()) == bits(-0.0));
  CHECK(bits(exact_accumulator<T>().template mean<T>(1)) == bits(T{0}));

  using squares = exact_square_accumulator<T>;
  CHECK(bits(accumulate<squares>(std::vector<T>{minus_zero, minus_zero}).round()) == bits(T{0}));
  CHECK(accumulate<squares>(std::vector<T>{-inf, inf}).round() == inf);
  CHECK(bits(accumulate<squares>(std::vector<T>{-inf, nan}).round()) == canonical);
}

TEST_CASE_TEMPLATE("one rounding, of the magnitude", T, float, double) {
  const int digits = limits<T>::digits;
  const T half_ulp = std::ldexp(T{1}, -digits);
  const T tiny = limits<T>::denorm_min();
  const T next = std::nextafter(T{1}, T{2});
  check_sum<T>({-1}, -1);
  check_sum<T>({-1, -half_ulp}, -1);
  check_sum<T>({1, half_ulp, tiny}, next);
  check_sum<T>({1, half_ulp, -tiny}, 1);
  check_sum<T>({next, half_ulp}, std::nextafter(next, T{2}));
  check_sum<T>({next, half_ulp, -tiny}, next);
  check_sum<T>({1, -half_ulp / 2, -tiny}, std::nextafter(T{1}, T{0}));
  check_sum<T>({1, -half_ulp / 2}, 1);
}

TEST_CASE_TEMPLATE("overflow is decided at the end", T, float, double) {
  const T max = limits<T>::max();
  const T half_ulp = std::ldexp(T{1}, limits<T>::max_exponent - limits<T>::digits - 1);
  const T inf = limits<T>::infinity();
  check_sum<T>({max, max, -max}, max);
  check_sum<T>({max, half_ulp}, inf);
  check_sum<T>({max, std::nextafter(half_ulp, T{0})}, max);
  check_sum<T>({max, half_ulp, -limits<T>::denorm_min()}, max);
  check_sum<T>({max, max}, inf);
  const exact_accumulator<T> two = accumulate<exact_accumulator<T>>(std::vector<T>{max, max});
  CHECK(two.template mean<T>(2) == max);
}

TEST_CASE_TEMPLATE("subnormals count in full", T, float, double) {
  const T tiny = limits<T>::denorm_min();
  const T least = limits<T>::min();
  check_sum<T>({tiny, tiny, tiny}, 3 * tiny);
  check_sum<T>({least, -tiny}, least - tiny);
  check_sum<T>({least - tiny, tiny}, least);
  check_sum<T>(std::vector<T>(1 << 12, least / 2), std::ldexp(least, 11));
}

TEST_CASE("classic hard sums") {
  check_sum<double>({1, 1e100, 1, -1e100}, 2);
  check_sum<double>({1e16, 1, -1e16}, 1);
  check_sum<double>({1e100, 1, -1e100, 1e-100, 1e50, -1, -1e50}, 1e-100);
  check_sum<double>({0x1p53, 1, 0x1p-100}, 0x1p53 + 2);
  for (int n = -1074; n <= 970; ++n) {
    const double low = std::ldexp(1.0, n);
    const double expected = std::ldexp(3.0, n + 50) + low;
    check_sum<double>({low, -std::ldexp(1.0, n + 50), std::ldexp(1.0, n + 52)}, expected);
  }
  for (const double count : {3.0, 1000.0, 65537.0}) {
    const std::vector<double> equal(static_cast<std::size_t>(count), 0.1);
    check_sum<double>(equal, static_cast<double>(static_cast<long double>(0.1) * count));
  }
  std::vector<double> telescope;
  for (int i = 0; i < 1000; ++i) {
    telescope.push_back(std::pow(1.7, i));
    telescope.push_back(-std::pow(1.7, i + 1));
  }
  check_sum<double>(telescope, 1 - std::pow(1.7, 1000));
}

TEST_CASE_TEMPLATE("any split and order of merging saves the same bytes", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  using T = typename A::value_type;
  static_assert(std::is_trivially_copyable_v<A>);
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<T> x(1 + random() % 300);
    for (T& v : x) v = std::bit_cast<T>(static_cast<word>(random()));
    if (round % 2 == 0) std::erase_if(x, [](T v) { return !std::isfinite(v); });
    const A whole = accumulate<A>(x);
    std::shuffle(x.begin(), x.end(), random);
    std::vector<A> parts(1 + random() % 9);
    for (const T v : x) parts[random() % parts.size()].add(v);
    A merged;
    while (!parts.empty()) {
      const std::size_t at = random() % parts.size();
      if (random() % 2 == 0) {
        merged.merge(parts[at]);
      } else {
        parts[at].merge(merged);
        merged = parts[at];
      }
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
    }
    CHECK(merged.save() == whole.save());
    CHECK(bits(merged.round()) == bits(whole.round()));
    const A loaded = A::load(whole.save());
    CHECK(loaded.save() == whole.save());
    CHECK(bits(loaded.round()) == bits(whole.round()));
  }
}

TEST_CASE("doubling by merging reaches 2^62 additions without losing a carry") {
  exact_accumulator<double> sum;
  sum.add(limits<double>::max());
  sum.add(-1.0);
  for (int i = 0; i < 61; ++i) sum.merge(exact_accumulator<double>(sum));
  sum.add(1.0);
  CHECK(sum.round() == limits<double>::infinity());
  CHECK(sum.mean(std::uint64_t{1} << 61) == limits<double>::max());
  exact_accumulator<float> ones;
  ones.add(-1.0f);
  for (int i = 0; i < 62; ++i) ones.merge(exact_accumulator<float>(ones));
  ones.add(0x1p62f);
  ones.add(0x1p-149f);
  CHECK(ones.round<double>() == 0x1p-149);
  CHECK(exact_accumulator<double>::load(sum.save()).save() == sum.save());
}

TEST_SUITE_END();
