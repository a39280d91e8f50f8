// SPDX-License-Identifier: Apache-2.0
// Tests exact sums in few words, in which kernels of batches add: whatever fits has the bits of the exact
// accumulator, and what lies close enough together fits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cuda/batch/scaled_sum.cuh"
#include "tests/support/adversary.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
using sums = cuda::scaled_sum<T>;

/// The states of neighbouring vectors, merged in random order. The last vector is filled up with -0.
template <class T, int N>
typename sums<T>::state sum_of(std::span<const T> x, generator& random) {
  std::vector<typename sums<T>::state> states;
  for (std::size_t i = 0; i < x.size(); i += N) {
    T v[N];
    for (std::size_t k = 0; k < N; ++k) v[k] = i + k < x.size() ? x[i + k] : T(-0.0f);
    // A state that holds others before the vector, or the vector alone.
    if (states.empty() || random() % 2 == 0) states.push_back(sums<T>::identity());
    sums<T>::add_vector(states.back(), v);
  }
  typename sums<T>::state all = sums<T>::identity();
  while (!states.empty()) {
    std::swap(states[random() % states.size()], states.back());
    const auto next = states.back();
    states.pop_back();
    if (!states.empty() && random() % 2 == 0) {
      sums<T>::merge(states.front(), next);
    } else {
      sums<T>::merge(all, next);
    }
  }
  return all;
}

/// Whether the state fits. If it does, its sum and mean are compared with the sum and mean of the accumulator.
template <class T, int N>
bool check_fit(std::span<const T> x, generator& random) {
  using number = typename sums<T>::number;
  const auto s = sum_of<T, N>(x, random);
  if (!s.fits()) return false;
  exact_accumulator<number> expected;
  for (const T one : x) expected.add(static_cast<number>(one));
  const std::uint64_t count = x.size();
  const auto same = []<class R>(R a, R b) { return detail::to_bits(a) == detail::to_bits(b); };
  CHECK(same(sums<T>::template finish<number>(s, count, false), expected.template round<number>()));
  const auto total = sums<T>::total(s, count);
  CHECK(same(total.template round<float>(), expected.template round<float>()));
  CHECK(same(total.template round<double>(), expected.template round<double>()));
  CHECK(total.finite());
  if (count == 0) return true;
  for (const std::uint64_t divisor : {count, std::uint64_t{1} << 20, (std::uint64_t{1} << 40) - 1}) {
    CHECK(same(sums<T>::template finish<number>(s, divisor, true), expected.template mean<number>(divisor)));
  }
  return true;
}

TEST_SUITE("unit/scaled_sums") {
  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    constexpr int size = 16 / sizeof(T);
    adversary<T> data(18);
    generator random(19);
    for (int round = 0; round < 40; ++round) {
      for (const auto& kind : adversary<T>::kinds()) {
        CAPTURE(kind.name);
        const std::vector<T> x = data.make(kind, data.below(round % 2 == 0 ? 20 : 600));
        check_fit<T, size>(x, random);
        check_fit<T, 1>(x, random);
      }
    }
  }

  TEST_CASE_TEMPLATE("numbers of every exponent whose neighbours are less than 32 binades away", T, float, double) {
    constexpr int size = 16 / sizeof(T), fields = std::numeric_limits<T>::max_exponent * 2 - 1;
    // Below, the factor or a part's constant has no place for lower bits, and above, the constant would overflow.
    constexpr int least = sizeof(T) == 4 ? 23 : 20, most = sizeof(T) == 4 ? fields : fields - 16;
    constexpr int binades = sizeof(T) == 4 ? 37 : 31;
    adversary<T> data(20);
    generator random(21);
    for (int low = least; low < most; ++low) {
      const int span = std::min(binades, most - low);
      std::vector<T> x(1 + data.below(300));
      for (T& one : x) one = data.number(static_cast<std::size_t>(low) + data.below(static_cast<std::size_t>(span)));
      for (std::size_t i = data.below(3); i < x.size(); i += 1 + data.below(9)) x[i] = random() % 2 == 0 ? T{} : -T{};
      if (random() % 4 == 0) {  // cancellation
        for (std::size_t i = 1; i < x.size(); i += 2) x[i] = -x[i - 1];
        if (x.size() % 2 != 0) x.back() = 0;
      }
      CAPTURE(low);
      CHECK(check_fit<T, size>(x, random));
    }
  }

  TEST_CASE_TEMPLATE("all finite numbers of 8 and 16 bits", T, f16, bf16, e5m2, e4m3) {
    constexpr int size = 16 / sizeof(T);
    generator random(22);
    for (int round = 0; round < 300; ++round) {
      std::vector<T> x(random() % 200);
      for (T& one : x) {
        do one = T::of_bits(static_cast<unsigned>(random()) & ((1u << T::width) - 1));
        while (!std::isfinite(static_cast<float>(one)) ||
               (std::is_same_v<T, bf16> && std::abs(std::log2(std::abs(static_cast<float>(one)))) > 20));
      }
      CHECK(check_fit<T, size>(x, random));
    }
    for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
      const T x[] = {T{1}, T(special)};
      if (!std::isfinite(static_cast<float>(x[1]))) CHECK_FALSE(check_fit<T, size>(x, random));
    }
  }

  TEST_CASE_TEMPLATE("numbers of 16 bits in the halves of registers", T, f16, bf16) {
    constexpr int size = 8;
    using vectors = cuda::scaled_vector<float>;
    generator random(25);
    for (int round = 0; round < 4000; ++round) {
      // The numbers have neighbouring exponents, but for a few zeros and numbers of any exponent.
      const auto base = static_cast<std::uint32_t>(random());
      std::uint32_t pairs[size];
      T of_half[2][size];
      for (int k = 0; k < size; ++k) {
        for (int half = 0; half < 2; ++half) {
          const auto bits = static_cast<std::uint32_t>(random());
          const std::uint32_t near = (base & 0x7c00) | (bits & 0x83ff),
                              one = random() % 8 == 0 ? bits & 0x8000 : near;
          of_half[half][k] = T::of_bits(static_cast<std::uint16_t>(random() % 64 == 0 ? bits : one));
        }
        pairs[k] = std::uint32_t{of_half[1][k].bits} << 16 | of_half[0][k].bits;
      }
      typename vectors::state sum[] = {{}, {}};
      vectors::add_halves<T>(sum[0], sum[1], pairs);
      for (int half = 0; half < 2; ++half) {
        const auto expected = sums<T>::of_vector(of_half[half]);
        CHECK(sum[half].fits() >= expected.fits());
        exact_accumulator<float> exact;
        for (const T one : of_half[half]) exact.add(static_cast<float>(one));
        CHECK(sum[half].fits() <= exact.finite());
        if (!sum[half].fits()) continue;
        const float found = sums<T>::template finish<float>(sum[half], size, false);
        CHECK(detail::to_bits(found) == detail::to_bits(exact.round<float>()));
      }
    }
  }

  TEST_CASE_TEMPLATE("zeros", T, float, double, bf16) {
    constexpr int size = 16 / sizeof(T);
    generator random(23);
    const T minus(-0.0f), plus(0.0f), one(1.0f), minus_one(-1.0f);
    for (const std::vector<T>& x : {std::vector<T>{},
                                    {minus},
                                    {plus},
                                    {minus, minus, minus, minus, minus},
                                    {minus, minus, minus, minus, plus},
                                    {plus, minus},
                                    {one, minus_one},
                                    {minus_one, minus_one, one, one, minus},
                                    {minus, one, minus}}) {
      CAPTURE(x.size());
      CHECK(check_fit<T, size>(x, random));
    }
  }

  TEST_CASE_TEMPLATE("the most elements that a state holds, of every exponent", T, float, double) {
    constexpr int size = 16, fields = std::numeric_limits<T>::max_exponent * 2 - 1;
    constexpr int least = sizeof(T) == 4 ? 23 : 20, most = sizeof(T) == 4 ? fields : fields - 16;
    for (int field = least; field < most; ++field) {
      // All bits of the mantissa are set, so that the sum is as long as a sum of this exponent can be.
      const auto mantissa = static_cast<T>((std::uint64_t{1} << std::numeric_limits<T>::digits) - 1);
      const int unit = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
      const T largest = std::ldexp(mantissa, field - 1 + unit);
      for (const T x : {largest, -largest}) {
        T v[size];
        std::ranges::fill(v, x);
        auto s = sums<T>::identity();
        sums<T>::add_vector(s, v);
        exact_accumulator<T> expected;
        expected.add(std::span<const T>(v));
        std::uint64_t count = size;
        for (; count < sums<T>::most_elements; count *= 2) {
          sums<T>::merge(s, typename sums<T>::state(s));
          expected.merge(exact_accumulator<T>(expected));
        }
        CAPTURE(x);
        CHECK(count == sums<T>::most_elements);
        CHECK(s.fits());
        CHECK(sums<T>::template finish<double>(s, count, false) == expected.template round<double>());
        CHECK(sums<T>::template finish<T>(s, count, true) == x);
      }
    }
  }

  TEST_CASE_TEMPLATE("what does not fit says so", T, float, double) {
    constexpr int size = 16 / sizeof(T);
    using limits = std::numeric_limits<T>;
    generator random(24);
    for (const T large : {T{1}, limits::max(), limits::infinity(), limits::quiet_NaN()}) {
      std::vector<T> x(9, T{});
      for (const std::size_t i : {1, 8}) {
        x[i] = large;
        x[0] = x[4] = limits::denorm_min();
        CHECK_FALSE(check_fit<T, size>(x, random));
        x[i] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
