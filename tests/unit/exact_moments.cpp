// SPDX-License-Identifier: Apache-2.0
// Tests exact norm2 and variance against arithmetic without rounding.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <vector>

#include <fanin/accumulator/moments.hpp>

#include "tests/support/exact_number.hpp"
#include "tests/support/inputs.hpp"

namespace {

using namespace fanin;
using namespace fanin::test;

template <class T>
using limits = std::numeric_limits<T>;

template <class T>
using values = std::vector<T>;

template <class T>
exact_moments_accumulator<T> moments(const values<T>& x) {
  exact_moments_accumulator<T> all;
  for (const T v : x) all.add(v);
  return all;
}

template <class T>
T root(const values<T>& x) {
  return moments(x).squares.root();
}

template <class T>
T variance_of(const values<T>& x) {
  return moments(x).variance(x.size());
}

/// The sum and the sum of squares, computed without fanin.
struct wide_oracle {
  exact_number sum, squares;
  template <class T>
  explicit wide_oracle(const values<T>& x) {
    for (const T v : x) {
      const exact_number exact = static_cast<double>(v);
      sum += exact;
      squares += exact * exact;
    }
  }
};

template <class R, class T>
void check_rounded_to(const values<T>& x) {
  const wide_oracle exact(x);
  const auto all = moments(x);
  const auto told = [&](R value) {
    std::ostringstream text;
    for (const T v : x) text << std::hexfloat << v << ' ';
    text << "give " << value;
    return text.str();
  };
  const R norm = all.squares.template root<R>();
  if (!is_root(norm, exact.squares)) FAIL_CHECK("norm: " << told(norm));
  for (const dispersion_measure measure : {dispersion_measure{false, 0}, {true, 0}, {false, 1}, {true, 1}}) {
    if (x.size() <= measure.ddof) continue;
    const R value = all.template dispersion_of<R>(x.size(), measure);
    if (is_dispersion(value, exact.sum, exact.squares, x.size(), measure)) continue;
    FAIL_CHECK((measure.root ? "deviation, " : "variance, ") << measure.ddof << ": " << told(value));
  }
}

template <class T>
void check_rounded(const values<T>& x) {
  check_rounded_to<float>(x);
  check_rounded_to<double>(x);
}

template <class T>
values<T> random_elements(generator& random, unsigned kind) {
  constexpr int low = limits<T>::min_exponent - limits<T>::digits;
  constexpr int high = limits<T>::max_exponent;
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const int exponent = low + below(high - low);
  values<T> x(1 + random() % 8);
  switch (kind) {
    case 0:  // Random exponents.
      for (T& v : x) v = random_finite<T>(random);
      break;
    case 1:  // Squares whose exponents differ by about 0, 1 or 2 significands.
      for (T& v : x) v = sparse<T>(random, exponent - below(3) * (limits<T>::digits / 2) - below(2));
      break;
    case 2:  // Squares near the smallest number of T or of float.
      for (T& v : x) v = sparse<T>(random, std::max(low, (random() % 2 == 0 ? low : -149) / 2 + below(60) - 40));
      break;
    case 3:  // Numbers near the smallest number.
      for (T& v : x) v = sparse<T>(random, low + below(50));
      break;
    case 4:  // Numbers near the largest number, and numbers whose squares begin to overflow.
      for (T& v : x) v = sparse<T>(random, (random() % 2 == 0 ? high : high / 2) - below(10));
      break;
    case 5:  // One number with small noise, so that the variance cancels.
      for (T& v : x)
        v = std::ldexp(T(1.25), exponent) + sparse<T>(random, exponent - limits<T>::digits / 2 - below(20));
      break;
    case 6:  // Numbers of one exponent and the smallest number.
      for (T& v : x) v = random() % 2 == 0 ? sparse<T>(random, exponent) : limits<T>::denorm_min();
      break;
    default:  // Small integers, with many exact roots and variances.
      for (T& v : x) v = static_cast<T>(below(13) - 6);
  }
  for (T& v : x) v = std::isfinite(v) ? v : limits<T>::max();
  return x;
}

/// Appends one or two numbers whose squares sum to 2^exponent.
template <class T>
void add_square(values<T>& x, int exponent) {
  const bool odd = exponent % 2 != 0;
  x.insert(x.end(), odd ? 2 : 1, std::ldexp(T{1}, (exponent - (odd ? 1 : 0)) / 2));
}

}  // namespace

TEST_SUITE("unit/moments") {
  TEST_CASE_TEMPLATE("norm2 and variance are correctly rounded", T, float, double) {
    generator random(30 + sizeof(T));
    for (unsigned i = 0; i < 40000; ++i) check_rounded(random_elements<T>(random, i % 8));
  }

  TEST_CASE_TEMPLATE("special values", T, float, double) {
    constexpr T inf = limits<T>::infinity();
    constexpr T nan = limits<T>::quiet_NaN();
    CHECK(bits_of(root<T>({})) == bits_of(T{0}));
    for (const auto& zeros : {values<T>{-T{0}}, {0, -T{0}}, {-T{0}, -T{0}, -T{0}}}) {
      CHECK(bits_of(root(zeros)) == bits_of(T{0}));
      CHECK(bits_of(variance_of(zeros)) == bits_of(T{0}));
    }
    for (const auto& x : {values<T>{inf}, {1, -inf}, {inf, inf, -1}, {inf, -inf}, {0, inf}}) {
      CHECK(root(x) == inf);
      CHECK(bits_of(variance_of(x)) == bits_of(nan));
      auto merged = moments<T>({1, 2});
      merged.merge(moments(x));
      CHECK(merged.squares.root() == inf);
      CHECK(bits_of(merged.variance(x.size() + 2)) == bits_of(nan));
    }
    for (const auto& x : {values<T>{nan}, {1, -nan}, {inf, nan}, {limits<T>::signaling_NaN(), 0}}) {
      CHECK(bits_of(root(x)) == bits_of(nan));
      CHECK(bits_of(variance_of(x)) == bits_of(nan));
    }
  }

  TEST_CASE_TEMPLATE("no square overflows or underflows on the way", T, float, double) {
    constexpr T most = limits<T>::max();
    constexpr T tiny = limits<T>::denorm_min();
    const T big = std::ldexp(T{1}, limits<T>::max_exponent - 5);
    CHECK(root<T>({most}) == most);
    CHECK(root<T>({-most, tiny}) == most);
    CHECK(root<T>({most, most}) == limits<T>::infinity());
    CHECK(root<T>({3 * big, -4 * big}) == 5 * big);
    CHECK(root<T>({3 * tiny, -4 * tiny}) == 5 * tiny);
    CHECK(root<T>({tiny, tiny}) == tiny);
    CHECK(root<T>({tiny, tiny, tiny}) == 2 * tiny);
    CHECK(variance_of<T>({most, most, most}) == 0);
    CHECK(variance_of<T>({most, -most}) == limits<T>::infinity());
    CHECK(bits_of(variance_of<T>({tiny, -tiny})) == bits_of(T{0}));
    const T small = std::ldexp(T{1}, std::ilogb(tiny) / 2 + 1);
    CHECK(variance_of<T>({small, -small}) == small * small);
    CHECK(variance_of<T>({small, -small}) > 0);
    const double wide = limits<float>::max();
    CHECK(moments<float>({limits<float>::max(), -limits<float>::max()}).variance<double>(2) == wide * wide);
  }

  TEST_CASE_TEMPLATE("ties go to even, and the smallest square decides beside them", T, float, double) {
    constexpr int digits = limits<T>::digits;
    const T whole = std::ldexp(T{1}, digits);
    // The sums of squares are (2^d + 1)^2 and (2^d + 3)^2, whose roots are ties between two numbers of d digits.
    values<T> lower{whole, 1}, upper{whole, 3};
    add_square(lower, digits + 1);
    add_square(upper, digits + 1);
    add_square(upper, digits + 2);
    CHECK(root(lower) == whole);
    CHECK(root(upper) == whole + 4);
    for (int exponent = 0; exponent > -2 * digits - 100; --exponent) {
      values<T> beside = lower;
      add_square(beside, exponent);
      CHECK(root(beside) == whole + 2);
    }
    values<T> with_least = lower;
    with_least.push_back(limits<T>::denorm_min());
    CHECK(root(with_least) == whole + 2);
    // The variance of v and -v is v^2, which has d + 1 bits here.
    const T first = std::ceil(std::sqrt(whole));
    for (T v = std::fmod(first, T{2}) == 1 ? first : first + 1; v < first + 200; v += 2) check_rounded<T>({v, -v});
  }

  TEST_CASE_TEMPLATE("standard deviations that are ties go to even, and the smallest square decides beside them", T,
                     float, double) {
    const T whole = std::ldexp(T{1}, limits<T>::digits);
    const auto deviation = [](const auto& all) { return all.dispersion_of(2, {true, 0}); };
    CHECK(deviation(moments<T>({whole, -1})) == whole / 2);
    CHECK(deviation(moments<T>({whole, -3})) == whole / 2 + 2);
    auto beside = moments<T>({whole, -1});
    beside.squares.add_scaled(1, 2 * fanin::detail::float_format<T>::low);
    CHECK(deviation(beside) == whole / 2 + 1);
    CHECK(moments<T>({1, 3}).dispersion_of(2, {true, 1}) == std::sqrt(T{2}));
  }

  TEST_CASE_TEMPLATE("a variance that cancels", T, float, double) {
    for (const T v : {T(0.1), T(1e8), limits<T>::max(), limits<T>::denorm_min(), T(-1e-20)}) {
      for (const std::size_t count : {1, 2, 3, 1000})
        CHECK(bits_of(variance_of(values<T>(count, v))) == bits_of(T{0}));
    }
    const T ulp = std::nextafter(T(1e8), T(2e8)) - T(1e8);
    values<T> noisy;
    for (int i = 0; i < 1001; ++i) noisy.push_back(T(1e8) + static_cast<T>(i % 3) * ulp);
    CHECK(variance_of(noisy) > ulp * ulp / 2);
    CHECK(variance_of(noisy) < ulp * ulp);
    check_rounded(noisy);
  }

  TEST_CASE_TEMPLATE("2^62 elements, by merging", T, float, double) {
    for (const auto& x : {values<T>{1, 3}, {limits<T>::max(), -limits<T>::max()}, {limits<T>::denorm_min(), 0}}) {
      constexpr int doublings = 61;
      auto all = moments(x);
      for (int i = 0; i < doublings; ++i) all.merge(exact_moments_accumulator<T>(all));
      all.add(5);
      wide_oracle exact(x);
      exact.sum = exact.sum.scaled(doublings);
      exact.squares = exact.squares.scaled(doublings);
      exact.sum += 5;
      exact.squares += 25;
      const std::uint64_t count = (std::uint64_t{1} << (doublings + 1)) + 1;
      CHECK(is_root(all.squares.root(), exact.squares));
      CHECK(is_dispersion(all.variance(count), exact.sum, exact.squares, count, {}));
      CHECK(is_dispersion(all.template variance<double>(count), exact.sum, exact.squares, count, {}));
    }
  }

  TEST_CASE("integer roots beside squares") {
    constexpr std::uint64_t most = ~std::uint32_t{0};
    std::size_t wrong = 0;
    const auto check = [&](std::uint64_t x, std::uint64_t root) {
      wrong += fanin::detail::floor_root(x) != root ? 1 : 0;
    };
    generator random(19);
    for (int i = 0; i < 100000; ++i) {
      const std::uint64_t root = i < 2000 ? most - static_cast<std::uint64_t>(i) : 1 + random() % most;
      check(root * root, root);
      check(root * root - 1, root - 1);
      check(root * root + 2 * root, root);
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("what the long division leaves over decides beside a tie") {
    // One number v and n - 1 zeros have the variance v^2 (n - 1) / n^2; v, -v and n - 2 zeros have v^2 2 / n. For
    // these n the variance differs from a tie by at most 2^-54 of its unit, which is below the last bit of the
    // quotient.
    constexpr float tiny = limits<float>::denorm_min();
    constexpr std::uint64_t large = std::uint64_t{1} << 62;
    const exact_number unit = tiny, square = unit * unit;
    for (std::uint64_t i = 1; i < 40; ++i) {
      const std::uint64_t alone = large + 256 * i - 1, both = large + 256 * i;
      CHECK(is_dispersion(moments<float>({tiny}).variance<double>(alone), unit, square, alone, {}));
      CHECK(is_dispersion(moments<float>({tiny, -tiny}).variance<double>(both), 0, square.scaled(1), both, {}));
    }
  }

  TEST_CASE("what the first long division alone leaves over decides beside a tie") {
    // The sums are in units of the smallest float and of its square. The numerator n Q - S^2 is (n^2 c + 3) 2^-68,
    // where c has 54 bits. It would be a tie of double without the remainder 3 * 2^60 of the division by n. The
    // second division has no remainder.
    constexpr std::uint64_t found[][3] = {{4788455012986738729, 1697315583721001903, 601901202552467937},
                                          {6915180944008110481, 919277648608388866, 122503909215469820},
                                          {5993679185970701263, 1596062295110797399, 425302790695463796}};
    for (const auto& [count, sum, squares] : found) {
      const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
      exact_accumulator<float>::sum_type::words sum_words = {low(sum), low(sum >> 32)};
      exact_square_accumulator<float>::sum_type::words square_words = {low(squares), low(squares >> 32)};
      const exact_moments_accumulator<float> all{exact_accumulator<float>::restore(sum_words, true, 0),
                                                 exact_square_accumulator<float>::restore(square_words, true, 0)};
      CHECK(is_dispersion(all.variance<double>(count), exact_number::of(sum).scaled(-149),
                          exact_number::of(squares).scaled(-298), count, {}));
    }
  }
  TEST_CASE("a quotient or its root that doubles decide is the rounded one") {
    generator random(5);
    std::size_t undecided = 0, wrong = 0, roots = 0;
    const auto check = [&](std::uint64_t a, std::uint64_t b) {
      for (const bool root : {false, true}) {
        double found;
        roots += root ? 1 : 0;
        if (!accumulator::decide_quotient(a, b, root, found)) {
          ++undecided;
          continue;
        }
        const std::uint32_t sum[1] = {0},
                            squares[2] = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)};
        wrong += found != fanin::detail::rounded_dispersion<double>(sum, squares, 0, b, {root, 0}) ? 1 : 0;
      }
    };
    for (int i = 0; i < 100000; ++i) {
      check(random() >> (11 + random() % 53), (random() >> (11 + random() % 53)) + 1);
      const std::uint64_t k = random() >> (38 + random() % 26);
      check(k * k, 1 + random() % 9);
      check(k * k + random() % 3, 1);
      check(k * k + k, 4 * (random() % 2) + 1);  // nearly (k + 1/2)^2
    }
    CHECK(wrong == 0);
    CHECK(undecided < roots / 100);
    double found;
    CHECK(!accumulator::decide_quotient(std::uint64_t{1} << 53, 3, false, found));
    CHECK(!accumulator::decide_quotient(3, std::uint64_t{1} << 53, false, found));
  }
  TEST_CASE("a norm or a measure of dispersion of integers that doubles decide is the rounded one") {
    using accumulator::integer_moments;
    generator random(7);
    std::size_t wrong = 0, dispersions = 0, norms = 0;
    double found;
    for (int i = 0; i < 100000; ++i) {
      const std::uint64_t count = 2 + (random() >> (32 + random() % 32));
      const std::uint64_t mean = random() >> (34 + random() % 30), size = random() >> (11 + random() % 53);
      // As if each element were the mean or one of its neighbours.
      integer_moments s{static_cast<fanin::detail::int128>(mean) * count,
                        static_cast<fanin::detail::uint128>(mean) * mean * count + random() % (count + 1), 0};
      if (i % 2 == 0) s.sum = -s.sum;
      if (i % 3 == 0) s = {0, size, 0};
      for (const dispersion_measure wanted : {dispersion_measure{false, 0}, {true, 0}, {false, 1}, {true, 1}}) {
        if (!accumulator::decide_dispersion(s, count, wanted, found)) continue;
        ++dispersions;
        wrong += found != accumulator::rounded_dispersion(s, count, wanted) ? 1 : 0;
      }
      const std::uint64_t k = random() >> (38 + random() % 26);
      for (const std::uint64_t squares : {size, k * k, k * k + k, k * k + k + 1, (std::uint64_t{1} << 53) - k % 2}) {
        if (!accumulator::decide_norm({0, squares, 0}, found)) continue;
        ++norms;
        const std::uint32_t words[] = {static_cast<std::uint32_t>(squares),
                                       static_cast<std::uint32_t>(squares >> 32)};
        wrong += found != fanin::detail::rounded_root<double>(words, 0) ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
    CHECK(dispersions > 100000);
    CHECK(norms > 300000);
    CHECK(!accumulator::decide_norm({0, std::uint64_t{1} << 53, 0}, found));
    CHECK(!accumulator::decide_norm({0, 0, 1}, found));
    CHECK(!accumulator::decide_dispersion({0, 3, 1}, 3, {}, found));
    CHECK(!accumulator::decide_dispersion({0, std::uint64_t{1} << 62, 0}, 4, {}, found));
  }
}
