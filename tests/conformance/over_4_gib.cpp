// SPDX-License-Identifier: Apache-2.0
// An input of more than 2^32 bytes: 64 MiB of memory, mapped again and again, and a last part of its own.
#include <cmath>

#include "tests/conformance/checks.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/repeated_memory.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t repeats = 64;

/// Small whole numbers, so that what 64 repeats add up to is known exactly.
template <class T>
void expect_known_totals(const backend& b, findings& found) {
  std::vector<T> piece(repeated_memory<T>::piece_elements);
  std::int64_t total = 0;
  std::int64_t magnitudes = 0;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const auto v = static_cast<std::int64_t>(i * 2654435761u >> 7 & 15) - 6;
    piece[i] = static_cast<T>(v);
    total += v;
    magnitudes += std::abs(v);
  }
  const std::vector<T> rest{1, 100, -200, 3, 5};
  total = total * static_cast<std::int64_t>(repeats) - 91;
  magnitudes = magnitudes * static_cast<std::int64_t>(repeats) + 309;

  const repeated_memory<T> memory(std::span<const T, repeated_memory<T>::piece_elements>(piece), repeats, rest);
  const auto x = memory.elements();
  const auto expect = [&](operation what, const options& chosen, scalar expected) {
    const scalar value = call(b, what, x, chosen).value;
    found.expect(same(value, expected),
                 [&] { return told(what, x, chosen) + ": " + shown(value) + " instead of " + shown(expected); });
  };
  expect(operation::min, {}, T{-200});
  expect(operation::max, {}, T{100});
  if constexpr (floating<T>) {
    expect(operation::sum, {.method = method::exact}, static_cast<T>(total));
    const options plain{.method = method::fast};
    const reduction sum = call(b, operation::sum, x, plain);
    const double error = std::abs(static_cast<double>(fanin::get<T>(sum.value)) - static_cast<double>(total));
    found.expect(error <= sum.bound.of_magnitudes * static_cast<double>(magnitudes),
                 [&] { return told(operation::sum, x, plain) + ": " + shown(sum.value) + " breaks its bound"; });
  } else {
    expect(operation::sum, {}, scalar(total));
  }
}

}  // namespace

void check_over_4_gib(const backend& b, findings& found) {
  expect_known_totals<std::int32_t>(b, found);
  expect_known_totals<float>(b, found);
}

}  // namespace fanin::test
