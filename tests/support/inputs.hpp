// SPDX-License-Identifier: Apache-2.0
// Deterministic inputs for the suites; `accuracy`'s families are in oracle/families.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <fanin/request.hpp>

#include "oracle/random_input.hpp"

namespace fanin::test {

/// SplitMix64 (Steele, Lea, Flood 2014): random enough for inputs, at a fraction of the time of std::mt19937_64.
class generator {
 public:
  using result_type = std::uint64_t;
  explicit constexpr generator(std::uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  constexpr result_type operator()() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

/// Any bit pattern of a floating-point type, each equally likely.
template <class T>
T random_bits(generator& random) {
  using word =
      std::conditional_t<sizeof(T) == 8, std::uint64_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                            std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  return std::bit_cast<T>(static_cast<word>(random()));
}

/// Any bit pattern that is a finite number, each equally likely.
template <class T>
T random_finite(generator& random) {
  for (;;) {
    if (const T v = random_bits<T>(random); std::isfinite(v)) return v;
  }
}

/// Floats of both signs over 40 binades, which are the parts of complex numbers; integers small enough that no sum
/// overflows.
template <class T>
std::vector<T> mixed_values(std::size_t count, std::uint64_t seed) {
  if constexpr (complex_number<T>) {
    return oracle::paired(mixed_values<part_of<T>>(2 * count, seed));
  } else {
    generator random(seed);
    std::vector<T> x(count);
    for (T& v : x) {
      if constexpr (floating<T>) {
        constexpr int largest = std::numeric_limits<T>::max_exponent, lowest = largest < 10   ? -64
                                                                               : largest < 32 ? -56
                                                                                              : -50;
        const auto mantissa = static_cast<computed_as<T>>(static_cast<std::int32_t>(random() >> 32));
        v = static_cast<T>(std::ldexp(mantissa, static_cast<int>(random() % 40) + lowest));
      } else {
        v = static_cast<T>(static_cast<std::int64_t>(random() % 2001) -
                           (std::numeric_limits<T>::is_signed ? 1000 : 0));
      }
    }
    return x;
  }
}

/// A number of few bits and either sign: roots, products and variances of such are often ties or beside one.
template <class T>
T sparse(generator& random, int exponent) {
  const T v = std::ldexp(static_cast<T>(1 + random() % 7), exponent);
  if (!std::isfinite(v)) return std::numeric_limits<T>::max();
  return random() % 2 == 0 ? v : -v;
}

/// Integers of any size: their sums and squares overflow or not, as it happens.
template <class T>
std::vector<T> any_integers(std::size_t count, std::uint64_t seed) {
  generator random(seed);
  std::vector<T> x(count);
  for (T& v : x) v = static_cast<T>(random() >> random() % 64);
  return x;
}

/// Factors of one with random signs where T has them, and among 2^15 of them one 2 (and for floats one 1/2): any part
/// of 2^20 factors has an exact product. Every second complex factor is such a number times i.
template <class T>
std::vector<T> unit_factors(std::size_t count, std::uint64_t seed) {
  if constexpr (complex_number<T>) {
    return oracle::turned(unit_factors<part_of<T>>(count, seed));
  } else {
    generator random(seed);
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = T{1};
      if (random() % (1 << 15) == 0) x[i] = floating<T> && i % 2 == 0 ? static_cast<T>(0.5) : T{2};
      if (std::numeric_limits<T>::is_signed && random() % 2 == 0) x[i] = static_cast<T>(0 - x[i]);
    }
    return x;
  }
}

/// The element -0, both parts of a complex one.
template <class T>
T negative_zero() {
  if constexpr (complex_number<T>) return {-0.0f, -0.0f};
  if constexpr (!complex_number<T>) return static_cast<T>(-0.0f);
}

/// Factors within 2^-8 of one, of complex ones either part. Numbers of 16 bits are so coarse there that most factors
/// are one, lest a million of them have a product of zero.
template <class T>
std::vector<T> near_one(std::size_t count, std::uint64_t seed) {
  if constexpr (complex_number<T>) {
    std::vector<T> x = oracle::paired(near_one<part_of<T>>(2 * count, seed));
    for (T& v : x) v -= T(0, 1);
    return x;
  } else {
    generator random(seed);
    std::vector<T> x(count, T{1});
    constexpr std::size_t apart = narrow_float<T> ? 1024 : 1;
    for (std::size_t i = 0; i < count; i += apart) {
      const auto mantissa = static_cast<computed_as<T>>(static_cast<std::int32_t>(random() >> 32));
      x[i] = static_cast<T>(1 + std::ldexp(mantissa, -39));
    }
    return x;
  }
}

/// The numbers as elements of type T: rounded, and those beyond its largest number that one.
template <class T>
std::vector<T> as_elements(const std::vector<computed_as<T>>& numbers) {
  if constexpr (computable<T>) {
    return numbers;
  } else {
    std::vector<T> x;
    for (const float v : numbers) {
      constexpr T most = std::numeric_limits<T>::max();
      x.push_back(std::isfinite(v) ? static_cast<T>(std::clamp<float>(v, -most, most)) : static_cast<T>(v));
    }
    return x;
  }
}

}  // namespace fanin::test
