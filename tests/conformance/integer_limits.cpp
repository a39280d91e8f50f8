// SPDX-License-Identifier: Apache-2.0
// Integers at the edges of 64 bits: the mathematical value or the error, wherever in the input they stand.
#include <algorithm>
#include <iterator>

#include "tests/conformance/checks.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {
namespace {

/// Values that stand among the fill. The expected results come from the reference in 128 bits.
template <class T>
void expect_among(const backend& b, const std::vector<operation>& operations, T fill, const std::vector<T>& values,
                  findings& found) {
  for (const std::size_t length : telling_lengths) {
    if (length < values.size()) continue;
    std::vector<T> x(length, fill);
    for (std::size_t i = 0; i < values.size(); ++i) x[(length - 1) * i / (values.size() - 1)] = values[i];
    const auto input = std::span<const T>(x);
    const integer_reference<T> exact(input);
    for (const operation what : operations) {
      const auto expected = exact.result(what);
      std::optional<scalar> value;
      try {
        value = call(b, what, input, {.threads = 3}).value;
      } catch (const overflow&) {
      }
      found.expect(value.has_value() == expected.has_value() && (!value || same(*value, *expected)), [&] {
        return told(what, input) + ": " + (value ? shown(*value) : "overflow") + " instead of " +
               (expected ? shown(*expected) : "overflow");
      });
    }
  }
}

/// The operations on T that `b` has, or of these only the ones that compare.
template <class T>
std::vector<operation> operations_of(const backend& b, bool comparisons_only) {
  std::vector<operation> operations;
  std::ranges::copy_if(all_operations, std::back_inserter(operations), [&](operation what) {
    return has(b, what, type_of<T>, method::fast) && (!comparisons_only || only_compares(what));
  });
  return operations;
}

template <class T>
void expect_wide(const backend& b, findings& found) {
  constexpr T least = std::numeric_limits<T>::min();
  constexpr T most = std::numeric_limits<T>::max();
  constexpr T root = T{1} << 32;
  for (const auto& x : {std::vector<T>{most, 1}, {most, 0}, {least, 0}, {most, most}, {most, 1, 1}}) {
    expect_among(b, {operation::sum, operation::mean, operation::variance}, T{0}, x, found);
    expect_among(b, {operation::variance}, most, x, found);
  }
  for (const auto& x : {std::vector<T>{root, root},
                        {root, root / 2},
                        {root, root / 4},
                        {root, root, 0},
                        {most, 1},
                        {least, 1},
                        {most, 2},
                        {most, most, 0},
                        {root / 2, root / 2, 2}}) {
    expect_among(b, {operation::product}, T{1}, x, found);
  }
  for (const T v : {T{3037000499}, T{3037000500}, T{4294967295}, root, root / 2, most, least}) {
    expect_among(b, {operation::sum_of_squares}, T{0}, {v, 0}, found);
    expect_among(b, {operation::sum_of_squares}, T{0}, {v, v, v}, found);
  }
  for (const auto& x : {std::vector<T>{most, least}, {least, most}, {most, most}, {least, least}}) {
    expect_among(b, operations_of<T>(b, true), T{7}, x, found);
  }
}

void expect_signed(const backend& b, findings& found) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t quarter = std::int64_t{1} << 62;
  using values = std::vector<std::int64_t>;
  for (const auto& x : {values{most, 1, -1}, {-1, least, 1}, {least, -1}, {least, most}, {most, most, least}}) {
    expect_among<std::int64_t>(b, {operation::sum, operation::mean}, 0, x, found);
    expect_among<std::int64_t>(b, {operation::variance}, least, x, found);
  }
  for (const auto& x : {values{quarter, 2, -1},
                        {-quarter, 2},
                        {quarter, 2},
                        {least, -1},
                        {least, -1, 0},
                        {least, -1, -1},
                        {least, least},
                        {least, 1}}) {
    expect_among<std::int64_t>(b, {operation::product}, 1, x, found);
  }
}

template <class T>
void expect_narrow(const backend& b, findings& found) {
  constexpr T least = std::numeric_limits<T>::min();
  constexpr T most = std::numeric_limits<T>::max();
  const std::vector<operation> operations = operations_of<T>(b, false);
  for (const auto& x : {std::vector<T>{most, most}, {least, least}, {least, most}, {most, most, most}}) {
    expect_among(b, operations, T{1}, x, found);
  }
  expect_among(b, operations, most, {most, most}, found);
  expect_among(b, operations, least, {least, least}, found);
}

}  // namespace

void check_integer_limits(const backend& b, findings& found) {
  expect_wide<std::int64_t>(b, found);
  if (has(b, operation::sum, element_type::u64, method::fast)) expect_wide<std::uint64_t>(b, found);
  expect_signed(b, found);
  expect_narrow<std::int32_t>(b, found);
  expect_narrow<std::uint32_t>(b, found);
  expect_narrow<std::int8_t>(b, found);
  expect_narrow<std::uint8_t>(b, found);
  expect_narrow<std::int16_t>(b, found);
  expect_narrow<std::uint16_t>(b, found);
}

}  // namespace fanin::test
