// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/exact_window.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {
namespace {

/// The last word of the sum of `count` elements stays below 2^62.
int bits_of_last_word(std::size_t count) {
  return std::min(word_bits - 2, 61 - static_cast<int>(std::bit_width(count)));
}

}  // namespace

int bits_of_groups(exact_terms terms, std::size_t count) {
  if (are_short(terms)) return std::min(short_word_bits, (126 - static_cast<int>(std::bit_width(count))) / 2);
  return terms == exact_terms::moments ? (3 * word_bits + bits_of_last_word(count)) / 2
                                       : 2 * word_bits + bits_of_last_word(count);
}

int bits_of_columns(exact_terms terms, element_type type, std::size_t count) {
  constexpr int last_word = 51;  // carries go to the next word
  const bool is_double = type == element_type::f64;
  // The elements of a float's only word are smaller, so that sums of rows_together of them seldom need more bits.
  if (terms == exact_terms::elements) return is_double ? word_bits + last_word : last_word - 2;
  return is_double ? bits_of_groups(terms, count) : (word_bits + last_word) / 2;
}

std::vector<double> sample_of(std::size_t count, element_type type,
                              const std::function<const void*(std::size_t)>& at) {
  const std::size_t most = std::clamp<std::size_t>(count / 256, 64, 1024);
  std::vector<double> sample;
  for (std::size_t i = 0; i < count; i += count / most + 1) {
    float narrow;
    if (type == element_type::f64) {
      sample.push_back(*static_cast<const double*>(at(i)));
    } else if (type == element_type::f32) {
      sample.push_back(*static_cast<const float*>(at(i)));
    } else {
      widen(at(i), 1, type, &narrow);
      sample.push_back(narrow);
    }
  }
  return sample;
}

std::optional<exact_window> find_window(const std::vector<double>& sample, element_type type, exact_terms terms,
                                        int bits, std::size_t one_misfit_in) {
  struct bit_range {
    int leading, last;  ///< the exponents of the leading and of the last bit
  };
  std::vector<bit_range> numbers;
  std::size_t misfits = 0;
  for (const double value : sample) {
    if (value == 0) {
      misfits += std::signbit(value) && !have_squares(terms) ? 1 : 0;
      continue;
    }
    if (!std::isfinite(value)) {
      ++misfits;
      continue;
    }
    const auto [mantissa, exponent] = detail::unpack<double>(std::bit_cast<std::uint64_t>(std::fabs(value)));
    const auto digits = static_cast<int>(std::bit_width(mantissa));
    numbers.push_back({exponent + digits - 1, exponent + std::countr_zero(mantissa)});
  }
  int leading = 0;
  if (!numbers.empty()) {
    const auto most = numbers.end() - 1 - static_cast<std::ptrdiff_t>(numbers.size() / 64);
    std::nth_element(numbers.begin(), most, numbers.end(),
                     [](const bit_range& a, const bit_range& b) { return a.leading < b.leading; });
    leading = most->leading;
  }
  const bool squares = have_squares(terms);
  const int above = bits / 16;  // the room for elements that are larger than those of the sample
  // Doubles hold the units of squares, and the rounding errors of squares, which are multiples of these units.
  const int low = type == element_type::f64 ? detail::float_format<double>::low : detail::float_format<float>::low;
  const int lowest = squares ? std::max(low, detail::float_format<double>::low / 2) : low;
  exact_window window{terms};
  window.unit = std::max(leading + 1 + above - bits, lowest);
  const int from_word_to_word = are_short(terms) ? short_word_bits : word_bits;
  const auto constant = [=](int unit, int word) { return std::ldexp(1.5, unit + word * from_word_to_word + 52); };
  for (int j = 0; j < 3; ++j) window.constant[j] = constant(window.unit, j);
  for (int j = 0; j < 4 && squares; ++j) window.square_constant[j] = constant(2 * window.unit, j);
  window.limit = std::ldexp(1, window.unit + bits);
  if (!std::isfinite(2 * window.constant[2]) || !std::isfinite(2 * window.square_constant[3])) return std::nullopt;
  for (const bit_range& one : numbers) {
    misfits += one.leading >= window.unit + bits || one.last < window.unit ? 1 : 0;
  }
  if (misfits > sample.size() / one_misfit_in) return std::nullopt;
  return window;
}

}  // namespace fanin::cpu
