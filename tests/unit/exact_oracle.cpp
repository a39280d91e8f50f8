// SPDX-License-Identifier: Apache-2.0
// Tests the exact accumulators against MPFR with 4400 bits, in which every sum here is exact.
#include <doctest/doctest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <vector>

#include <fanin/accumulator/exact.hpp>

#include "tests/support/inputs.hpp"

namespace {

using fanin::test::generator;
using fanin::test::random_finite;
using fanin::test::sparse;

/// An MPFR number with enough bits for an exact sum of squares of doubles.
class wide {
 public:
  wide() {
    mpfr_init2(value_, 4400);
    mpfr_set_zero(value_, 1);
  }
  ~wide() { mpfr_clear(value_); }
  wide(const wide&) = delete;
  wide& operator=(const wide&) = delete;
  mpfr_ptr get() { return value_; }

  /// The number correctly rounded to R, with gradual underflow and overflow.
  template <class R>
  R round() {
    return rounded<R>(0);
  }
  /// The number divided by `count`, correctly rounded to R.
  template <class R>
  R mean(std::uint64_t count) {
    wide quotient;
    const int inexact = mpfr_div_ui(quotient.value_, value_, count, MPFR_RNDN);
    return quotient.rounded<R>(inexact);
  }

 private:
  /// The number rounded to R. `inexact` is not 0 if the 4400 bits were rounded already; then a second rounding is
  /// right unless the 4400 bits are a tie of R.
  template <class R>
  R rounded(int inexact) {
    const auto emin = mpfr_get_emin();
    const auto emax = mpfr_get_emax();
    mpfr_t small;
    mpfr_init2(small, std::numeric_limits<R>::digits);
    REQUIRE((inexact == 0 || mpfr_min_prec(value_) > std::numeric_limits<R>::digits + 1));
    const int direction = mpfr_set(small, value_, MPFR_RNDN);
    mpfr_set_emin(std::numeric_limits<R>::min_exponent - std::numeric_limits<R>::digits + 1);
    mpfr_set_emax(std::numeric_limits<R>::max_exponent);
    mpfr_subnormalize(small, mpfr_check_range(small, direction, MPFR_RNDN), MPFR_RNDN);
    const R result = sizeof(R) == 8 ? static_cast<R>(mpfr_get_d(small, MPFR_RNDN))
                                    : static_cast<R>(mpfr_get_flt(small, MPFR_RNDN));
    mpfr_clear(small);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return result;
  }

  mpfr_t value_;
};

template <class R>
auto bits(R x) {
  if constexpr (sizeof(R) == 8)
    return std::bit_cast<std::uint64_t>(x);
  else
    return std::bit_cast<std::uint32_t>(x);
}

template <class T>
void check_against_mpfr(const std::vector<T>& x, std::uint64_t count) {
  fanin::exact_accumulator<T> sum;
  fanin::exact_square_accumulator<T> squares;
  wide wide_sum, wide_squares, square;
  for (const T v : x) {
    sum.add(v);
    squares.add(v);
    mpfr_add_d(wide_sum.get(), wide_sum.get(), static_cast<double>(v), MPFR_RNDN);
    mpfr_set_d(square.get(), static_cast<double>(v), MPFR_RNDN);
    mpfr_sqr(square.get(), square.get(), MPFR_RNDN);
    mpfr_add(wide_squares.get(), wide_squares.get(), square.get(), MPFR_RNDN);
  }
  const auto same = [&](auto got, auto expected) {
    // The rules for the sign of zero differ from MPFR's; exact_accumulator.cpp tests them.
    if (got == 0 && expected == 0) return;
    if (bits(got) == bits(expected)) return;
    std::ostringstream elements;
    for (const T v : x) elements << std::hexfloat << v << ' ';
    CAPTURE(elements.str());
    CAPTURE(count);
    CHECK(bits(got) == bits(expected));
  };
  same(sum.template round<double>(), wide_sum.round<double>());
  same(sum.template round<float>(), wide_sum.round<float>());
  same(squares.template round<double>(), wide_squares.round<double>());
  same(squares.template round<float>(), wide_squares.round<float>());
  same(sum.template mean<double>(count), wide_sum.mean<double>(count));
  same(sum.template mean<float>(count), wide_sum.mean<float>(count));
  same(squares.template mean<double>(count), wide_squares.mean<double>(count));
  same(squares.template mean<float>(count), wide_squares.mean<float>(count));
}

template <class T>
std::vector<T> random_terms(generator& random, unsigned kind) {
  constexpr int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  constexpr int high = std::numeric_limits<T>::max_exponent;
  constexpr int digits = std::numeric_limits<T>::digits;
  std::vector<T> x(1 + random() % 8);
  const int exponent = low + static_cast<int>(random() % static_cast<unsigned>(high - low));
  const auto offset = [&](int range) { return static_cast<int>(random() % static_cast<unsigned>(range)); };
  switch (kind) {
    case 0:  // Random exponents.
      for (T& v : x) v = random_finite<T>(random);
      break;
    case 1:  // Ties and their neighbours at any exponent.
      for (T& v : x) v = sparse<T>(random, exponent - (random() % 2 == 0 ? 0 : digits - 1 + offset(3)));
      x.push_back(sparse<T>(random, low + offset(high - low)));
      break;
    case 2:  // Ties of float in sums of any type.
      for (T& v : x) v = sparse<T>(random, exponent - (random() % 2 == 0 ? 0 : 23 + offset(3)));
      break;
    case 3:  // Cancellation down to the last bits.
      for (T& v : x) v = random_finite<T>(random);
      for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
      x.push_back(sparse<T>(random, exponent));
      x.push_back(random_finite<T>(random));
      break;
    case 4:  // Numbers near the smallest number.
      for (T& v : x) v = sparse<T>(random, low + offset(60));
      break;
    case 5:  // Numbers near overflow.
      for (T& v : x) v = random() % 3 == 0 ? sparse<T>(random, high - 1 - offset(70)) : std::numeric_limits<T>::max();
      break;
    case 6:  // Numbers near the smallest and largest float.
      for (T& v : x) v = sparse<T>(random, (random() % 2 == 0 ? -149 : 100) - 5 + offset(32));
      break;
    default:  // Numbers of similar size.
      for (T& v : x) v = std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), exponent / 2);
      for (T& v : x) v = std::isfinite(v) ? v : T{1};
  }
  return x;
}

}  // namespace

TEST_SUITE_BEGIN("unit/exact_oracle");

TEST_CASE_TEMPLATE("sums, squares and means agree with MPFR", T, float, double) {
  generator random(20 + sizeof(T));
  for (unsigned i = 0; i < 52000; ++i) {
    const std::vector<T> x = random_terms<T>(random, i % 8);
    const std::uint64_t counts[] = {
        x.size(), 3, 1 + random() % 1000, random() | 1, (random() >> 31) | 1ull << 32, 1ull << 63, ~std::uint64_t{0}};
    check_against_mpfr<T>(x, counts[random() % std::size(counts)]);
  }
}

TEST_CASE("what a long division leaves over decides between the neighbours of a tie") {
  generator random(6);
  // A few units are divided by almost 2^64. About one quotient in 2000 looks like a tie unless the remainder is
  // considered.
  for (int i = 0; i < 60000; ++i) {
    const auto units = static_cast<float>(1 + random() % 7) * std::numeric_limits<float>::denorm_min();
    const std::uint64_t count = random() | std::uint64_t{1} << 63;
    fanin::exact_accumulator<float> sum;
    sum.add(units);
    wide expected;
    mpfr_set_flt(expected.get(), units, MPFR_RNDN);
    if (sum.mean<double>(count) == expected.mean<double>(count)) continue;
    CAPTURE(units);
    CAPTURE(count);
    CHECK(sum.mean<double>(count) == expected.mean<double>(count));
  }
}

TEST_CASE("ill-conditioned sums agree with MPFR") {
  generator random(5);
  // Half of the numbers have random exponents; each of the others cancels most of the sum so far [Ogita, Rump, Oishi
  // 2005, algorithm 6.1].
  for (int log_condition = 7; log_condition <= 660; log_condition += 7) {
    std::vector<double> x;
    const auto scaled = [&](int exponent) {
      return std::ldexp(2 * std::generate_canonical<double, 53>(random) - 1, exponent);
    };
    const auto exponents = static_cast<unsigned>(log_condition);
    for (int i = 0; i < 100; ++i) x.push_back(scaled(static_cast<int>(random() % exponents)));
    wide so_far;
    for (const double v : x) mpfr_add_d(so_far.get(), so_far.get(), v, MPFR_RNDN);
    for (int i = 0; i < 100; ++i) {
      x.push_back(scaled(log_condition * (99 - i) / 99) - so_far.round<double>());
      mpfr_add_d(so_far.get(), so_far.get(), x.back(), MPFR_RNDN);
    }
    check_against_mpfr<double>(x, x.size());
  }
}

TEST_SUITE_END();
