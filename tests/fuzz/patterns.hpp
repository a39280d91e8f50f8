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

/// The exponents where something begins or ends: the subnormal and the largest numbers of T, the windows of words
/// that short messages of sums and of products have, and the roots of each. An exponent that T does not have
/// becomes another one.
template <class T>
int edge(std::size_t choice) {
  using limits = std::numeric_limits<T>;
  constexpr int least = limits::min_exponent - limits::digits, most = limits::max_exponent - 1,
                all = most - least + 1;
  constexpr int edges[] = {301, 302, 315, 151, 157, 250, -260, -287, -338, -169, least, limits::min_exponent, most};
  const int chosen = edges[choice % (2 * std::size(edges)) / 2];
  const int rooted = choice % 2 == 1 ? chosen / 2 : chosen;
  return least + (rooted - least + 8 * all) % all;
}

/// An element for each two bytes: a float next to an edge, which may cancel the float before, or an integer next
/// to a power of two. Few of them add up to about an edge.
template <class T>
std::vector<T> near_edges(raw_bytes bytes) {
  std::vector<T> x(bytes.size() / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const unsigned place = bytes[2 * i], shape = bytes[2 * i + 1];
    if constexpr (std::is_integral_v<T>) {
      const auto power = std::uint64_t{1} << place % std::numeric_limits<std::make_unsigned_t<T>>::digits;
      x[i] = static_cast<T>(shape >= 128 ? 0 - power - shape % 4 : power - shape % 4);
    } else {
      constexpr T eps = std::numeric_limits<T>::epsilon();
      constexpr T mantissas[] = {1, 1 + eps, T(1.5), 2 - eps};
      const int offset = static_cast<int>(shape / 4 % 4) - 2;
      x[i] = std::ldexp(mantissas[shape % 4], edge<T>(bytes[0] % 4 == 0 ? place : bytes[0]) + offset);
      if (!std::isfinite(x[i])) x[i] = std::numeric_limits<T>::max();
      if (shape >= 192) x[i] = -x[i];
      if (shape % 64 / 16 == 3 && i > 0) x[i] = -x[i - 1];
    }
  }
  return x;
}

template <class T>
std::vector<T> elements_of(std::size_t kind, raw_bytes bytes) {
  constexpr std::vector<T> (*kinds[])(raw_bytes) = {plain_elements<T>, few_bits<T>, near_one<T>, random_elements<T>,
                                                    near_edges<T>};
  return kinds[kind % std::size(kinds)](bytes);
}

}  // namespace fanin::fuzz
