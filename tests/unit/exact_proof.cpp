// SPDX-License-Identifier: Apache-2.0
// Tests exact sums and means of a million adversarial inputs in every floating-point environment against big
// integers. The CPU backends take turns at short inputs, and each has all long inputs.
#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <string>

#include <fanin/fanin.hpp>

#include "tests/support/adversary.hpp"
#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/float_environment.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t inputs_per_type = 600'000;
constexpr std::size_t shortest_vectorised = 64;

/// The length of an input: mostly a few elements, sometimes about a tile of the windows, sometimes enough for several
/// threads.
template <class T>
std::size_t length(adversary<T>& random, std::size_t input) {
  if (input % 20'000 == 0) return (std::size_t{2} << 20) / sizeof(T) + random.below(40'000);
  if (input % 200 == 0) return shortest_vectorised + random.below(9000);
  return random.below(41);
}

/// The elements' bits as integers, from which an input can be reproduced.
template <class T>
std::string in_hex(std::span<const T> x) {
  std::string text;
  for (const T v : x.first(std::min<std::size_t>(x.size(), 1000))) {
    char word[24];
    std::snprintf(word, sizeof word, " 0x%" PRIx64, static_cast<std::uint64_t>(bits_of(v)));
    text += word;
  }
  return x.size() <= 1000 ? text : text + " ...";
}

/// Whether `b` rounds the sum, or the mean, correctly according to `exact`. Reports a failure if not.
template <class T>
bool agrees(const backend& b, operation what, std::span<const T> x, options chosen, const sum_oracle& exact) {
  chosen.backend = b.name();
  const auto count = what == operation::mean ? static_cast<std::uint32_t>(x.size()) : 1;
  const scalar value = reduce(what, x, chosen).value;
  const bool right = fanin::visit(
      [&](auto v) {
        if constexpr (std::is_floating_point_v<decltype(v)>) return exact.accepts(v, count);
        return false;
      },
      value);
  if (!right) {
    FAIL_CHECK(told(what, x, chosen) << ", " << b.name() << ": " << shown(value) << " for" << in_hex(x));
  }
  return right;
}

/// Checks all operations and result types of the exact sum with all backends, in a random floating-point environment.
template <class T>
bool all_agree(std::span<const backend* const> backends, std::span<const T> x, const sum_oracle& exact,
               adversary<T>& random) {
  constexpr int roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  const auto threads = 1 + static_cast<unsigned>(random.below(16));
  const options own{.method = method::exact, .threads = threads};
  const options wide{.method = method::exact, .result = element_type::f64, .threads = threads};
  const changed_environment here(roundings[random.below(4)],
                                 random.below(2) == 0 ? subnormals::flushed : subnormals::kept);
  bool right = true;
  for (const backend* b : backends) {
    right = agrees(*b, operation::sum, x, own, exact) && right;
    if (!x.empty()) right = agrees(*b, operation::mean, x, own, exact) && right;
    if (sizeof(T) == 4) right = agrees(*b, operation::sum, x, wide, exact) && right;
  }
  return right && here.unchanged();
}

}  // namespace

TEST_SUITE("unit/exact_proof") {
  TEST_CASE("the oracle knows the neighbours of what is right") {
    const auto check = [](std::vector<double> x, double right, std::uint32_t count = 1) {
      const sum_oracle exact{std::span<const double>(x)};
      const double inf = std::numeric_limits<double>::infinity();
      CHECK(exact.accepts(right, count));
      CHECK(!exact.accepts(-right, count));
      CHECK(!exact.accepts(std::numeric_limits<double>::quiet_NaN(), count));
      if (right < inf) CHECK(!exact.accepts(std::nextafter(right, inf), count));
      CHECK(!exact.accepts(std::nextafter(right, -inf), count));
    };
    constexpr double max = std::numeric_limits<double>::max();
    check({1, 0x1p-53}, 1);
    check({1, 0x1p-53, 0x1p-1074}, 1 + 0x1p-52);
    check({1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51);
    check({1 + 0x1p-52, 0x1p-53, -0x1p-1074}, 1 + 0x1p-52);
    check({1, -0x1p-54}, 1);
    check({1, -0x1p-54, -0x1p-1074}, 1 - 0x1p-53);
    check({max, 0x1p970}, std::numeric_limits<double>::infinity());
    check({max, 0x1p970, -0x1p-1074}, max);
    check({max, max}, max, 2);
    check({0x1p-1074}, 0, 2);
    check({0x3p-1074}, 0x2p-1074, 2);
    check({-1, 1}, 0);
    check({-0.0, -0.0}, -0.0);
    check({}, 0);
    check({1, 1, 5}, 0x1.2aaaaaaaaaaabp1, 3);
  }

  TEST_CASE_TEMPLATE("a stream of adversarial inputs", T, float, double) {
    const auto kinds = adversary<T>::kinds();
    const auto backends = cpu_backends();
    const auto targets = hwy::SupportedAndGeneratedTargets();
    adversary<T> random(1);
    for (std::size_t input = 0; input < inputs_per_type; ++input) {
      const auto& kind = kinds[random.below(kinds.size())];
      const std::vector<T> data = random.make(kind, length(random, input));
      const std::span<const T> x(data);
      const sum_oracle exact(x);
      bool right = true;
      if (x.size() < shortest_vectorised) {
        right = all_agree<T>(std::span(backends).subspan(input % backends.size(), 1), x, exact, random);
      } else {
        for (const auto target : targets) {
          const only_target here(target);
          right = all_agree(backends, x, exact, random) && right;
        }
      }
      if (!right) FAIL("input " << input << ", " << std::string(kind.name));
    }
  }
}

}  // namespace fanin::test
