// SPDX-License-Identifier: Apache-2.0
// Tests exact sums of products in few words, and both sums of a variance: whatever fits has the bits of the exact
// accumulators, and what lies close enough together fits.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "backends/cuda/batch/scaled_products.cuh"
#include "tests/support/adversary.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
using products = cuda::scaled_products<cuda::word_for<T>>;
template <class T>
using moments = cuda::scaled_moments<cuda::word_for<T>>;

template <class T>
const cuda::element_rule rule = cuda::rule_of(operation::dot, type_of<T>);
template <class T>
cuda::word_for<T> word_of(T x) {
  cuda::word_for<T> word;
  std::memcpy(&word, &x, sizeof x);
  return word;
}

/// The sum of pairs, by several windows in random order. N neighbours are added at once, and the last ones are
/// filled up with zeros.
template <class A, int N, class T>
typename A::state sum_of(const std::vector<T>& x, const std::vector<T>& y, generator& random) {
  using word = typename A::element;
  cuda::term_window<A> windows[3];
  typename A::state all = A::identity();
  const auto flush = [&](const typename A::state& s) { A::merge(all, s); };
  for (std::size_t i = 0; i < x.size(); i += N) {
    word a[N], b[N];
    for (std::size_t k = 0; k < N; ++k) {
      a[k] = word_of(i + k < x.size() ? x[i + k] : T(-0.0f));
      b[k] = word_of(i + k < x.size() ? y[i + k] : T(0));
    }
    cuda::registers_of_words<word, N> p, q;
    std::memcpy(p, a, sizeof p);
    std::memcpy(q, b, sizeof q);
    auto& window = windows[random() % 3];
    const auto add = [&](const auto& pairs) { window.add(pairs, flush, [&](const auto& f) { f(pairs); }); };
    if (&x == &y) {
      add(cuda::pairs_of_words<word, N, true>(p, p, rule<T>));
    } else {
      add(cuda::pairs_of_words<word, N, false>(p, q, rule<T>));
    }
    if (random() % 8 == 0) window.close(flush);
  }
  for (auto& window : windows) window.close(flush);
  return all;
}

/// Whether the finished sum, and the sum of the exact accumulator that is made of the state, agree with `expected`
/// in several formats.
template <class A, class Exact, class Rounded>
void check_values(const typename A::state& s, std::uint64_t count, typename A::use use, const Exact& expected,
                  Rounded rounded) {
  const auto check = [&]<class R>(R) {
    const auto to = detail::number_format::of<R>();
    const std::uint64_t bits = rounded(expected, to);
    CHECK(A::finish(s, count, use, to) == bits);
    CHECK(rounded(A::template total<Exact>(s, count), to) == bits);
  };
  check(float());
  check(double());
  check(bf16());
  check(e4m3());
}

template <int N, class T>
bool check_squares(const std::vector<T>& x, generator& random) {
  using A = products<T>;
  const auto s = sum_of<A, N>(x, x, random);
  if (!s.fits()) return false;
  exact_square_accumulator<T> expected;
  for (const T one : x) expected.add(one);
  check_values<A>(s, x.size(), false, expected,
                  [](const auto& sum, const auto& to) { return sum.template round<std::uint64_t>(to); });
  check_values<A>(s, x.size(), true, expected,
                  [](const auto& sum, const auto& to) { return sum.template root<std::uint64_t>(to); });
  return true;
}
template <int N, class T>
bool check_products(const std::vector<T>& x, const std::vector<T>& y, generator& random) {
  using A = products<T>;
  const auto s = sum_of<A, N>(x, y, random);
  if (!s.fits()) return false;
  exact_dot_accumulator<T> expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.add(x[i], y[i]);
  check_values<A>(s, x.size(), false, expected,
                  [](const auto& sum, const auto& to) { return sum.template round<std::uint64_t>(to); });
  return true;
}
template <int N, class T>
bool check_moments(const std::vector<T>& x, generator& random) {
  using A = moments<T>;
  const auto s = sum_of<A, N>(x, x, random);
  if (!s.fits()) return false;
  const int above = s.squares.place() - 2 * s.sum.place();
  CHECK((above == 0 || above == 1));  // finish() has room for one more word
  exact_moments_accumulator<T> expected;
  for (const T one : x) expected.add(one);
  for (const dispersion_measure measure : {dispersion_measure{false, 0}, {true, 0}, {false, 1}, {true, 1}}) {
    check_values<A>(s, x.size(), measure, expected, [&](const auto& both, const auto& to) {
      if (x.size() <= measure.ddof) return to.quiet_nan;
      return both.template dispersion_of<std::uint64_t>(x.size(), measure, to);
    });
  }
  return true;
}
/// Whether all of them fit.
template <int N, class T>
bool check_fit(const std::vector<T>& x, generator& random) {
  std::vector<T> y = x;
  for (std::size_t i = 1; i < y.size(); ++i) std::swap(y[i], y[random() % i]);
  for (std::size_t i = 0; i < y.size(); i += 1 + random() % 3) y[i] = -y[i];
  const bool fit = check_squares<N>(x, random), of_moments = check_moments<N>(x, random);
  CHECK(fit == of_moments);
  return static_cast<int>(check_products<N>(x, y, random)) + static_cast<int>(fit) == 2;
}

/// The number of binades that elements may be apart, wherever they are. The other two are limits of the exponent
/// fields: between them all products have errors that are not rounded, and constants that are finite.
template <class T>
constexpr int binades = sizeof(T) == 4 ? 48 : 19;
template <class T>
constexpr int least_field = sizeof(T) == 4 ? 1 : 564;
template <class T>
constexpr int end_field = sizeof(T) == 4 ? 255 : 1533;

TEST_SUITE("unit/scaled_products") {
  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    adversary<T> data(28);
    generator random(29);
    for (int round = 0; round < 30; ++round) {
      for (const auto& kind : adversary<T>::kinds()) {
        CAPTURE(kind.name);
        const std::vector<T> x = data.make(kind, data.below(round % 2 == 0 ? 20 : 300));
        check_fit<8>(x, random);
        check_fit<4>(x, random);
      }
    }
  }

  TEST_CASE_TEMPLATE("numbers of every exponent that are not far apart", T, float, double) {
    adversary<T> data(30);
    generator random(31);
    for (int low = least_field<T>; low < end_field<T>; low += sizeof(T) == 4 ? 1 : 3) {
      const int span = std::min(binades<T>, end_field<T> - low);
      std::vector<T> x(1 + data.below(100));
      for (T& one : x) one = data.number(static_cast<std::size_t>(low) + data.below(static_cast<std::size_t>(span)));
      for (std::size_t i = data.below(3); i < x.size(); i += 1 + data.below(9)) x[i] = random() % 2 == 0 ? T{} : -T{};
      CAPTURE(low);
      CHECK(check_fit<8>(x, random));
      CHECK(check_fit<16>(x, random));
    }
  }

  TEST_CASE("products of floats of every exponent whose factors are") {
    adversary<float> data(32);
    generator random(33);
    for (int low = 1; low < 255; low += 2) {
      std::vector<float> x(40), y(40);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto up = data.below(20);
        x[i] = data.number(static_cast<std::size_t>(std::min(low + static_cast<int>(up), 254)));
        y[i] = data.number(static_cast<std::size_t>(std::max(230 - low - static_cast<int>(up), 0)));
      }
      CAPTURE(low);
      CHECK(check_products<8>(x, y, random));
    }
  }

  TEST_CASE_TEMPLATE("ties, zeros and cancellation", T, float, double) {
    generator random(34);
    const T half = std::ldexp(T{1}, -std::numeric_limits<T>::digits), tiny = std::ldexp(T{1}, -40);
    for (const std::vector<T>& x : {std::vector<T>{},
                                    {T{0}},
                                    {-T{0}},
                                    {-T{0}, -T{0}, T{0}},
                                    {T{1}, std::ldexp(T{1}, -std::numeric_limits<T>::digits / 2)},
                                    {T{1}, half},
                                    {T{3}, T{3}, T{3}},
                                    {T{1}, -T{1}},
                                    {T{1}, tiny},
                                    {T{4}, T{5}, T{6}, T{7}, tiny, -tiny}}) {
      CAPTURE(x.size());
      CHECK(check_fit<8>(x, random));
    }
    // The products of these are +-2^-24 and 1, and ties in formats of 24 digits; or -0, or cancel.
    const T e = std::ldexp(T{1}, -12);
    CHECK(check_products<8>(std::vector<T>{1, e}, std::vector<T>{1, e}, random));
    CHECK(check_products<8>(std::vector<T>{1, e}, std::vector<T>{1, -e / 2}, random));
    CHECK(check_products<8>(std::vector<T>{-T{0}, T{0}}, std::vector<T>{1, -T{3}}, random));
    CHECK(check_products<8>(std::vector<T>{-T{0}, T{0}}, std::vector<T>{1, T{3}}, random));
    CHECK(check_products<8>(std::vector<T>{T{3}, e, T{5}}, std::vector<T>{T{5}, 0, -T{3}}, random));
  }

  TEST_CASE_TEMPLATE("what does not fit says so", T, float, double) {
    using limits = std::numeric_limits<T>;
    generator random(35);
    for (const T x : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
      CHECK_FALSE(check_squares<8>(std::vector<T>{1, x}, random));
      CHECK_FALSE(check_moments<8>(std::vector<T>{1, x}, random));
      CHECK_FALSE(check_products<8>(std::vector<T>{1, x}, std::vector<T>{1, 0}, random));
    }
    for (const T x : {limits::min(), limits::denorm_min()}) {
      CHECK_FALSE(check_squares<8>(std::vector<T>{limits::max(), x}, random));
      CHECK_FALSE(check_moments<8>(std::vector<T>{1, x}, random));
    }
    // Squares of the first doubles overflow. Squares of the next doubles underflow, or have errors that do.
    CHECK(check_squares<8>(std::vector<T>{limits::max() / 2}, random) == (sizeof(T) == 4));
    for (const T x : {limits::min(), limits::denorm_min(), std::sqrt(limits::min()) * T{1.1f}}) {
      CHECK(check_squares<8>(std::vector<T>{x}, random) == (sizeof(T) == 4));
      CHECK(check_squares<8>(std::vector<T>{x, 0}, random) == (sizeof(T) == 4));
      CHECK_FALSE(check_products<8>(std::vector<T>{x, 1}, std::vector<T>{x, 1}, random));
    }
  }

  TEST_CASE("chains of the largest doubles") {
    generator random(37);
    // Four squares of each number are just below the most of a chain.
    CHECK(check_moments<8>(std::vector<double>(16, 0x1.6ap+509), random));
  }

  TEST_CASE("chains of doubles whose squares are near the most of a chain") {
    generator random(39);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> x;
      for (int round = 0; round < 200; ++round) {
        x.resize(x.size() + 32, 0.3);  // The unit of these takes 4 squares of less than 1.
        for (int i = 0; i < 8; ++i) x.push_back(sign + std::ldexp(static_cast<double>(random() % 64) - 32, -53));
      }
      CHECK(check_moments<8>(x, random));
    }
  }

  TEST_CASE("chains of small doubles behind zeros, which set the unit") {
    generator random(38);
    for (const double small : {0x1.6p-460, 0x1.6ap-461, 0x1.fp-459}) {
      std::vector<double> x(64, 0.0);
      x.resize(128, small);
      CHECK(check_moments<8>(x, random));
    }
  }

  TEST_CASE_TEMPLATE("the most elements that a state holds", T, float, double) {
    generator random(36);
    const auto mantissa = static_cast<T>((std::uint64_t{1} << std::numeric_limits<T>::digits) - 1);
    for (int exponent = sizeof(T) == 4 ? -140 : -480; exponent < (sizeof(T) == 4 ? 104 : 450); exponent += 3) {
      const T x = std::ldexp(mantissa, exponent);
      auto s = sum_of<moments<T>, 16>(std::vector<T>(16, x), std::vector<T>(16, x), random);
      exact_moments_accumulator<T> expected;
      for (int i = 0; i < 16; ++i) expected.add(x);
      std::uint64_t count = 16;
      for (; count < moments<T>::most_elements; count *= 2) {
        moments<T>::merge(s, typename moments<T>::state(s));
        expected.merge(exact_moments_accumulator<T>(expected));
      }
      CHECK(count == moments<T>::most_elements);
      CHECK(s.fits());
      const auto to = detail::number_format::of<double>();
      CHECK(products<T>::finish(s.squares, count, false, to) == expected.squares.template round<std::uint64_t>(to));
      exact_accumulator<T> sum;
      cuda::add_words(s.sum, sum);
      CHECK(sum.template round<double>() == expected.sum.template round<double>());
      CHECK(moments<T>::finish(s, count, {}, to) == 0);
    }
  }
}

}  // namespace
}  // namespace fanin::test
