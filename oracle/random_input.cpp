// SPDX-License-Identifier: Apache-2.0
#include "oracle/random_input.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

namespace fanin::oracle {

namespace {

template <class T>
std::vector<T> random_terms(std::size_t count, int integer_bits) {
  std::mt19937_64 random(1);
  std::vector<T> x(count);
  for (T& term : x) {
    if constexpr (floating<T>) {
      constexpr int digits = std::numeric_limits<T>::digits;
      term = static_cast<T>(std::ldexp(static_cast<double>(random() >> (64 - digits)), -digits));
    } else if constexpr (std::is_signed_v<T>) {
      term = static_cast<T>(static_cast<std::int64_t>(random()) >> (64 - integer_bits));
    } else {
      term = static_cast<T>(random() >> (64 - integer_bits));
    }
  }
  return x;
}

template <class T>
std::vector<T> random_factors(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<T> x(count);
  const std::size_t apart = count / 60 + 1;
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = T{1};
    if (i % apart == 0) x[i] = floating<T> && i / apart % 2 == 1 ? static_cast<T>(0.5) : T{2};
    if (std::numeric_limits<T>::is_signed && random() % 2 == 0) x[i] = static_cast<T>(-x[i]);
  }
  return x;
}

template <class T>
std::vector<T> exact_terms(std::size_t count) {
  std::mt19937_64 random(2);
  std::vector<T> x(count);
  const std::size_t apart = (count >> 23) + 1;
  for (std::size_t i = 0; i < count; i += apart) {
    x[i] = !std::numeric_limits<T>::is_signed || random() % 2 == 0 ? T{1} : static_cast<T>(-1);
  }
  return x;
}

}  // namespace

random_input::random_input(operation what, element_type type, std::size_t count, terms kind) {
  with_element(type, [&]<class T>() {
    using P = part_of<T>;
    const auto numbers = [&](std::size_t n) {
      return what == operation::product ? random_factors<P>(n)
             : kind == terms::exact     ? exact_terms<P>(n)
                                        : random_terms<P>(n, what == operation::sum_of_squares ? 16 : 32);
    };
    if constexpr (complex_number<T>) {
      x_ = what == operation::product ? turned<P>(numbers(count)) : paired<P>(numbers(2 * count));
    } else {
      x_ = numbers(count);
    }
  });
}

array_view random_input::view() const {
  return std::visit([]<class T>(const std::vector<T>& x) { return array_view(std::span<const T>(x)); }, x_);
}

}  // namespace fanin::oracle
