// SPDX-License-Identifier: Apache-2.0
// Arrays with elements that do not take part.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include <fanin/result.hpp>

#include "tests/support/inputs.hpp"

namespace fanin::test {

/// Elements, a mask of them, and which of them take part if NaN are skipped too.
template <class T>
struct masked_case {
  std::vector<T> x;
  std::vector<std::uint8_t> mask;
  std::vector<std::size_t> present;

  explicit masked_case(std::vector<T> elements, std::vector<std::uint8_t> bytes)
      : x(std::move(elements)), mask(std::move(bytes)) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (mask[i] != 0 && x[i] == x[i]) present.push_back(i);
    }
  }
  std::vector<T> compacted() const {
    std::vector<T> some;
    for (const std::size_t i : present) some.push_back(x[i]);
    return some;
  }
};

/// A NaN. A complex NaN has one part that is NaN.
template <class T>
T not_a_number(generator& random) {
  constexpr auto nan = std::numeric_limits<part_of<T>>::quiet_NaN();
  if constexpr (complex_number<T>) return random() % 2 == 0 ? T(nan, 1) : T(1, nan);
  if constexpr (!complex_number<T>) return nan;
}

/// The first `lead` elements and then of every 16 about `sixteenths` are absent, half of floats as NaN.
template <class T>
masked_case<T> masked(std::vector<T> x, std::size_t lead, unsigned sixteenths, generator& random) {
  std::vector<std::uint8_t> mask(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool absent = i < lead || random() % 16 < sixteenths;
    const bool as_nan = !std::is_integral_v<T> && random() % 2 == 0;
    if (absent && as_nan) x[i] = not_a_number<T>(random);
    mask[i] = absent && !as_nan ? 0 : static_cast<std::uint8_t>(1 + random() % 255);
  }
  return masked_case<T>(std::move(x), std::move(mask));
}

/// The mask as bits, behind `first` others that are set.
inline std::vector<std::uint8_t> bits_of_mask(const std::vector<std::uint8_t>& mask, std::size_t first) {
  std::vector<std::uint8_t> bits((mask.size() + first) / 8 + 1, 0xff);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) bits[(first + i) / 8] &= static_cast<std::uint8_t>(~(1u << (first + i) % 8));
  }
  return bits;
}

/// Whether no order of whole_numbers() makes a difference.
inline bool adds_whole_numbers(operation what) { return what != operation::log_sum_exp; }

/// Small whole numbers, which add up without rounding in any order; for products one and minus one. They are parts of
/// complex numbers, but for products and sums of moduli, where every second one is a whole number times i.
template <class T>
std::vector<T> whole_numbers(operation what, std::size_t count, generator& random) {
  if constexpr (complex_number<T>) {
    const bool on_axes = what == operation::product || what == operation::sum_of_magnitudes;
    const auto parts = whole_numbers<part_of<T>>(what, on_axes ? count : 2 * count, random);
    return on_axes ? oracle::turned(parts) : oracle::paired(parts);
  } else {
    std::vector<T> x(count);
    for (T& v : x) {
      const int size = what == operation::product ? 1 : static_cast<int>(random() % 4);
      const bool minus = std::numeric_limits<T>::is_signed && random() % 2 == 0;
      v = static_cast<T>(static_cast<computed_as<T>>(minus ? -size : size));
    }
    return x;
  }
}

/// The result with an index of the compacted elements in place of one of the input.
inline scalar with_position(scalar value, const std::vector<std::size_t>& present) {
  fanin::visit(
      [&]<class R>(R& r) {
        if constexpr (result_traits<R>::form == result_form::indexed) r.index = present[r.index];
      },
      value);
  return value;
}

}  // namespace fanin::test
