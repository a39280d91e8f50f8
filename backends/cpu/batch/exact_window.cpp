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

/// Up to some 1024 elements from all parts of x, as doubles.
std::vector<double> sample_of(const array_view& x) {
  constexpr std::size_t most = 1024;
  std::vector<double> sample;
  const std::size_t bytes = byte_size(x.type);
  for (std::size_t i = 0; i < x.count; i += x.count / most + 1) {
    const void* const at = static_cast<const std::byte*>(x.data) + i * bytes;
    float narrow;
    if (bytes == 8) {
      sample.push_back(*static_cast<const double*>(at));
    } else if (bytes == 4) {
      sample.push_back(*static_cast<const float*>(at));
    } else {
      widen(at, 1, x.type, &narrow);
      sample.push_back(narrow);
    }
  }
  return sample;
}

/// The bits that elements may have above 2^u. The last word of `count` elements together stays below 2^62.
int bits_of_elements(exact_terms terms, std::size_t count) {
  const int last_word = std::min(word_bits - 2, 61 - static_cast<int>(std::bit_width(count)));
  return terms == exact_terms::moments ? (3 * word_bits + last_word) / 2 : 2 * word_bits + last_word;
}

}  // namespace

std::optional<exact_window> find_window(const array_view& x, exact_terms terms) {
  struct bit_range {
    int leading, last;  ///< the exponents of the leading and of the last bit
  };
  std::vector<bit_range> sample;
  const std::vector<double> sampled = sample_of(x);
  std::size_t misfits = 0;
  for (const double value : sampled) {
    if (value == 0) continue;
    if (!std::isfinite(value)) {
      ++misfits;
      continue;
    }
    const auto [mantissa, exponent] = detail::unpack<double>(std::bit_cast<std::uint64_t>(std::fabs(value)));
    const auto digits = static_cast<int>(std::bit_width(mantissa));
    sample.push_back({exponent + digits - 1, exponent + std::countr_zero(mantissa)});
  }
  int leading = 0;
  if (!sample.empty()) {
    const auto most = sample.end() - 1 - static_cast<std::ptrdiff_t>(sample.size() / 64);
    std::nth_element(sample.begin(), most, sample.end(),
                     [](const bit_range& a, const bit_range& b) { return a.leading < b.leading; });
    leading = most->leading;
  }
  const bool squares = terms == exact_terms::moments;
  const int bits = bits_of_elements(terms, x.count);
  const int above = squares ? 4 : 8;  // the room for elements that are larger than those of the sample
  // Doubles hold the units of squares, and the rounding errors of squares, which are multiples of these units.
  const int low = x.type == element_type::f64 ? detail::float_format<double>::low : detail::float_format<float>::low;
  const int lowest = squares ? std::max(low, detail::float_format<double>::low / 2) : low;
  exact_window window{};
  window.unit = std::max(leading + 1 + above - bits, lowest);
  const auto constant = [](int unit, int word) { return std::ldexp(1.5, unit + word * word_bits + 52); };
  for (int j = 0; j < 3; ++j) window.constant[j] = constant(window.unit, j);
  for (int j = 0; j < 4 && squares; ++j) window.square_constant[j] = constant(2 * window.unit, j);
  window.limit = std::ldexp(1, window.unit + bits);
  if (!std::isfinite(2 * window.constant[2]) || !std::isfinite(2 * window.square_constant[3])) return std::nullopt;
  for (const bit_range& one : sample) {
    misfits += one.leading >= window.unit + bits || one.last < window.unit ? 1 : 0;
  }
  if (misfits > sampled.size() / 16) return std::nullopt;
  return window;
}

}  // namespace fanin::cpu
