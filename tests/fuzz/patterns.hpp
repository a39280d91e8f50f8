// SPDX-License-Identifier: Apache-2.0
// The elements that an input of the differential fuzzer describes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace fanin::fuzz {

using raw_bytes = std::span<const std::uint8_t>;

/// The bytes themselves.
template <class T>
std::vector<T> plain_elements(raw_bytes bytes) {
  std::vector<T> x(bytes.size() / sizeof(T));
  if (!x.empty()) std::memcpy(x.data(), bytes.data(), x.size() * sizeof(T));
  return x;
}

/// An element for each two bytes: floats with a mantissa of 4 bits and any exponent, integers of up to 16 bits. Sums,
/// squares and products of such floats are often ties, subnormal or beyond the largest float.
template <class T>
std::vector<T> few_bits(raw_bytes bytes) {
  std::vector<T> x(bytes.size() / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int word = bytes[2 * i] * 256 + bytes[2 * i + 1];
    if constexpr (std::is_integral_v<T>) {
      x[i] = static_cast<T>(word);
    } else {
      constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits - 4;
      constexpr int most = std::numeric_limits<T>::max_exponent - 4;
      x[i] = std::ldexp(static_cast<T>(word % 16 - 8), least + word / 16 % (most - least));
    }
  }
  return x;
}

/// An element for each byte: floats from -1 to 1 in steps of 1/8, integers from 0 to 3, with a minus where T has one.
/// Their products often neither overflow nor underflow.
template <class T>
std::vector<T> near_one(raw_bytes bytes) {
  std::vector<T> x(bytes.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      const int size = bytes[i] % 16 == 0 ? 0 : 1 + bytes[i] % 16 / 14 * (bytes[i] / 64 % 2 + 1);
      x[i] = static_cast<T>(std::is_signed_v<T> && bytes[i] >= 128 ? -size : size);
    } else {
      x[i] = static_cast<T>(bytes[i] % 17 - 8) / 8;
    }
  }
  return x;
}

/// Up to 200 random elements, at times up to 3000; the bytes are the seed. Integers have any size, and floats both
/// signs over some binades.
template <class T>
std::vector<T> random_elements(raw_bytes bytes) {
  std::seed_seq seed(bytes.begin(), bytes.end());
  std::mt19937_64 random(seed);
  std::vector<T> x(1 + random() % (random() % 16 == 0 ? 3000 : 200));
  const auto binades = static_cast<int>(1 + random() % (3 * sizeof(T) * 8));
  for (T& one : x) {
    if constexpr (std::is_integral_v<T>) {
      one = static_cast<T>(random() >> random() % 64);
    } else {
      const auto mantissa = static_cast<T>(static_cast<std::int64_t>(random()) >> 10);
      one = std::ldexp(mantissa, static_cast<int>(random() % static_cast<unsigned>(binades)) - 54);
    }
  }
  return x;
}

template <class T>
std::vector<T> elements_of(std::size_t kind, raw_bytes bytes) {
  constexpr std::vector<T> (*kinds[])(raw_bytes) = {plain_elements<T>, few_bits<T>, near_one<T>, random_elements<T>};
  return kinds[kind % std::size(kinds)](bytes);
}

}  // namespace fanin::fuzz
