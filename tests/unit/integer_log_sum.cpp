// SPDX-License-Identifier: Apache-2.0
// Tests the states in which kernels fold log_sum_exp of integers against MPFR: errors stay below the proven bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/log_sum_truth.hpp"
#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
// These headers have to come after the CUDA extensions.
#include "backends/cuda/fold/finish_kernel.cuh"
#include "backends/cuda/runtime/state_functions.hpp"

namespace fanin::test {
namespace {

template <class T>
using recipe_of = cuda::recipe_of_log_sum<T>;
template <class T>
using form_on_device = cuda::device_accumulator_of<recipe_of<T>>;
template <class T>
const cuda::element_rule rule = cuda::rule_of(operation::log_sum_exp, type_of<T>);

template <class T>
auto number_of(T x) {
  typename form_on_device<T>::element word;
  std::memcpy(&word, &x, sizeof x);
  return form_on_device<T>::read(word, rule<T>);
}
template <class T>
void add_one_by_one(typename form_on_device<T>::state& s, std::span<const T> x) {
  for (const T one : x) form_on_device<T>::add(s, number_of(one));
}
/// Adds up to as many elements as a vector has, at once if the kernels of T do so. The words behind them are others.
template <class T>
void add_vector(typename form_on_device<T>::state& s, std::span<const T> x) {
  using A = form_on_device<T>;
  typename A::element words[16 / sizeof(T)];
  std::memset(words, 0x5b, sizeof words);
  std::memcpy(words, x.data(), x.size_bytes());
  if constexpr (requires { A::add_words(s, words, rule<T>, 1); }) {
    A::add_words(s, words, rule<T>, static_cast<int>(x.size()));
  } else {
    add_one_by_one(s, x);
  }
}
template <class T>
double value_of(const typename form_on_device<T>::state& s, std::size_t count) {
  return accumulator::log_sum<double>::finish<double>(cuda::device_recipe<recipe_of<T>>::total(s), count);
}
/// The value of x by vectors in two states, and the elements behind these in single states.
template <class T>
double value_of(std::span<const T> x) {
  using A = form_on_device<T>;
  constexpr std::size_t size = 16 / sizeof(T);
  auto s = A::identity(), other = A::identity();
  std::size_t i = 0;
  for (; i + size <= x.size(); i += size) add_vector<T>(i % (2 * size) == 0 ? s : other, x.subspan(i, size));
  A::merge(s, other);
  for (; i < x.size(); ++i) {
    auto single = A::identity();
    add_one_by_one<T>(single, x.subspan(i, 1));
    A::merge(s, single);
  }
  return value_of<T>(s, x.size());
}
template <class T>
error_bound bound_of(std::size_t count) {
  const rounding_chain chain{static_cast<double>(count), 16};
  return sizeof(T) == 8 ? accumulator::log_sum_bound<double>(chain, count)
                        : cuda::bound_of_near_integers(chain, count);
}
template <class T>
void check_bound(const std::vector<T>& x) {
  const long_number exact = log_sum_exp_of<T>(x, [](std::size_t) { return 1; });
  const double found = value_of<T>(x);
  const error_bound bound = bound_of<T>(x.size());
  CAPTURE(x.size());
  CAPTURE(+x[0]);
  CAPTURE(found);
  CHECK((long_number(found) - exact).magnitude() <= bound.of_result * exact.magnitude() + bound.absolute);
}

/// An integer that is a double: the upper 53 bits of x.
template <class T>
constexpr T exact(T x) {
  return sizeof(T) == 8 ? static_cast<T>(x / 2048 * 2048) : x;
}
template <class T>
std::vector<T> integers_of(std::size_t count, auto element) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(element(i));
  return x;
}

}  // namespace

TEST_SUITE("unit/integer_log_sum") {
  TEST_CASE("exponentials of near integers are within 3.01 units roundoff, and their logarithms are the integers") {
    double worst = 0;
    for (int x = -255; x <= 255; ++x) {
      worst = std::max(worst, relative_error(cuda::exponential_of_integer(x), exp(long_number(x))));
      CHECK(accumulator::log_of_sum(cuda::exponential_of_integer(x)) == x);
    }
    CHECK(worst <= 3.01 * accumulator::unit_roundoff<double>);
    CHECK(cuda::exponential_of_integer(0) == 1);
  }

#define FANIN_INTEGERS std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t
  TEST_CASE_TEMPLATE("the bound holds", T, FANIN_INTEGERS) {
    using limits = std::numeric_limits<T>;
    constexpr T least = limits::min(), most = exact(limits::max());
    generator random(1);
    for (const std::size_t count : {1, 2, 3, 17, 64, 1000, 5003}) {
      for (const T same : {least, T{0}, T{1}, T{100}, most}) {
        check_bound(integers_of<T>(count, [&](std::size_t) { return same; }));
      }
      check_bound(integers_of<T>(count, [&](std::size_t) { return exact(static_cast<T>(random())); }));
      check_bound(integers_of<T>(count, [&](std::size_t i) { return i % 3 == 0 ? most : least; }));
      check_bound(integers_of<T>(count, [&](std::size_t i) { return i == count / 2 ? most : T{0}; }));
      for (const std::uint64_t range : {4, 100, 250, 300, 1000, 100000}) {
        const std::int64_t below = std::is_signed_v<T> ? static_cast<std::int64_t>(range / 2) : 0;
        check_bound(
            integers_of<T>(count, [&](std::size_t) { return static_cast<std::int64_t>(random() % range) - below; }));
        check_bound(integers_of<T>(count, [&](std::size_t i) { return i * range / 128; }));
      }
    }
  }

  TEST_CASE_TEMPLATE("an integer is its own result", T, FANIN_INTEGERS) {
    using A = form_on_device<T>;
    generator random(2);
    for (int i = 0; i < 5000; ++i) {
      const T x = exact(static_cast<T>(random() >> random() % 64));
      auto s = A::identity(), none = A::identity();
      A::merge(s, none);
      add_one_by_one<T>(s, {&x, 1});
      A::merge(s, none);
      A::merge(none, s);
      REQUIRE(value_of<T>(s, 1) == static_cast<double>(x));
      REQUIRE(value_of<T>(none, 1) == static_cast<double>(x));
    }
    CHECK(value_of<T>(A::identity(), 0) == -std::numeric_limits<double>::infinity());
  }

  TEST_CASE_TEMPLATE("vectors have the bits of additions one after another", T, FANIN_INTEGERS) {
    using A = form_on_device<T>;
    constexpr std::size_t size = 16 / sizeof(T);
    generator random(3);
    for (int i = 0; i < 20000; ++i) {
      auto at_once = A::identity();
      std::vector<T> x = integers_of<T>(
          size + random() % 3, [&](std::size_t) { return exact(static_cast<T>(random() >> random() % 64)); });
      const std::span<const T> first = std::span(x).subspan(size);
      if (random() % 2 == 0) {
        for (T& one : x) one = static_cast<T>(one % 128);
      }
      add_one_by_one<T>(at_once, first);
      auto one_by_one = at_once;
      const std::span<const T> some = std::span(x).first(1 + random() % size);
      add_vector<T>(at_once, some);
      add_one_by_one<T>(one_by_one, some);
      REQUIRE(bits_of(value_of<T>(at_once, 1)) == bits_of(value_of<T>(one_by_one, 1)));
    }
  }

  TEST_CASE_TEMPLATE("the kernel that ends reductions merges the states of kernels", T, FANIN_INTEGERS) {
    using A = form_on_device<T>;
    const std::vector<T> x = integers_of<T>(3 * 16, [](std::size_t i) { return i % 90; });
    typename A::state states[3], total = A::identity();
    for (std::size_t part = 0; part < 3; ++part) {
      states[part] = A::identity();
      add_one_by_one<T>(states[part], std::span(x).subspan(16 * part, 16));
      A::merge(total, states[part]);
    }
    cuda::batch_elements all{};
    all.kind = layout::rows;
    all.results = 1;
    all.chunks = std::size(states);
    device_result<double> found{};
    cuda::batch_output out{};
    out.states = states;
    out.results = &found;
    out.result = element_type::f64;
    cuda::finish_target target =
        cuda::target_of(operation::log_sum_exp, type_of<T>, element_type::f64, operation::log_sum_exp);
    target.is_single = true;
    target.takes_short_ends = false;
    target.count = x.size();
    const cuda::state_source from{cuda::form_of_integer_log_sum(type_of<T>), sizeof(typename A::state), nullptr};
    launch(1, 32, [&] { cuda::finish_kernel<accumulator::log_sum<double>>(all, out, from, target, 1); });
    CHECK(found.value == doctest::Approx(value_of<T>(total, x.size())).epsilon(1e-15));
    CHECK(found.overflowed == 0);
  }

  TEST_CASE_TEMPLATE("an integer that is no double is read as NaN", T, std::int64_t, std::uint64_t) {
    constexpr T limit = T{1} << 53;
    for (const T x : {T{limit + 1}, T{2 * limit + 2}, std::numeric_limits<T>::max(),
                      std::is_signed_v<T> ? T{0} - limit - 1 : T{4 * limit + 8 + 1}}) {
      CHECK(std::isnan(number_of(x)));
      CHECK(std::isnan(value_of<T>(std::vector<T>{1, x, 2})));
    }
    for (const T x : {limit, T{limit + 2}, T{limit - 1}, T{T{1} << 62}, std::numeric_limits<T>::min()}) {
      CHECK(number_of(x) == static_cast<double>(x));
    }
  }
}

}  // namespace fanin::test
