// SPDX-License-Identifier: Apache-2.0
// Numbers as integers in the same order.
#include <doctest/doctest.h>

#include <fanin/recipe.hpp>

#include "backends/cuda/fold/extremum_keys.cuh"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// Checks that the least and the largest of the keys of x and y are the keys of their extrema.
template <class T>
void check_pair(T x, T y) {
  const auto extremum = [&]<bool Largest>() {
    using A = accumulator::of_floats_t<
        typename recipe<Largest ? operation::max : operation::min, method::fast, T>::accumulator>;
    auto s = A::identity();
    A::add(s, x);
    A::add(s, y);
    return static_cast<T>(A::template finish<typename A::element>(s, 2));
  };
  const auto least = std::min(cuda::key_of(x, true), cuda::key_of(y, true));
  CHECK(bits_of(accumulator::of_ordered<T>(least)) == bits_of(extremum.template operator()<false>()));
  const auto largest = std::max(cuda::key_of(x, false), cuda::key_of(y, false));
  CHECK(bits_of(accumulator::of_ordered<T>(largest)) == bits_of(extremum.template operator()<true>()));
}

}  // namespace

TEST_SUITE("unit/extremum_keys") {
  TEST_CASE_TEMPLATE("pairs of floating-point numbers", T, float, double, f16, bf16, e5m2, e4m3) {
    using limits = std::numeric_limits<T>;
    generator random(51);
    const T special[] = {T(0.f),
                         T(-0.f),
                         limits::max(),
                         limits::lowest(),
                         limits::denorm_min(),
                         limits::min(),
                         limits::infinity(),
                         limits::quiet_NaN(),
                         T(-1.f),
                         T(1.f)};
    for (const T x : special) {
      for (const T y : special) check_pair(x, y);
      for (int i = 0; i < 200; ++i) {
        const auto bits = static_cast<typename detail::float_format<T>::bits>(random());
        check_pair(x, detail::from_bits<T>(bits));
      }
    }
  }

  TEST_CASE_TEMPLATE("pairs of integers", T, std::int8_t, std::uint16_t, std::int32_t, std::int64_t, std::uint64_t) {
    using limits = std::numeric_limits<T>;
    for (const T x : {limits::min(), T(limits::min() + 1), T{0}, T{1}, T(limits::max() / 2 + 1), limits::max()}) {
      for (const T y : {limits::min(), T{0}, T{77}, limits::max()}) check_pair(x, y);
    }
  }

  TEST_CASE("the first extremal element of many participants") {
    constexpr std::uint64_t none = cuda::candidate::without_elements;
    const cuda::candidate all[] = {{9, none, 0}, {5, 3, 10}, {9, none, 0}, {4, 1, 6},
                                   {9, 0, 2},    {4, 0, 1},  {9, 1, 3}};
    const auto is = [](const cuda::candidate& found, std::int64_t key, std::uint64_t index) {
      return found.key == key && found.index == index;
    };
    CHECK(is(cuda::first_of(all, 7, true), 4, 11));
    CHECK(is(cuda::first_of(all, 7, false), 9, 16));
    CHECK(is(cuda::first_of(all, 3, true), 5, 3));
    CHECK(is(cuda::first_of(all, 1, false), 9, none));
  }
}

}  // namespace fanin::test
