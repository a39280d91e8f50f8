// SPDX-License-Identifier: Apache-2.0
// Random inputs for the ladder, the benchmarks and the tests. The exact result of every operation fits its result
// type.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include <fanin/request.hpp>

namespace fanin::oracle {

enum class terms {
  random,  ///< floats uniform in [0, 1), integers of up to 32 bits, or 16 bits for sum_of_squares
  exact,   ///< zeros and at most 2^23 elements 1 or -1: every partial sum is exact, in any order and type
};

/// The numbers times 1 and i, in turns.
template <class P>
std::vector<std::complex<P>> turned(const std::vector<P>& numbers) {
  std::vector<std::complex<P>> x(numbers.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 2 == 0 ? std::complex<P>(numbers[i], 0) : std::complex<P>(0, numbers[i]);
  }
  return x;
}

/// The complex numbers whose parts are two neighbours each.
template <class P>
std::vector<std::complex<P>> paired(const std::vector<P>& numbers) {
  std::vector<std::complex<P>> x(numbers.size() / 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return x;
}

/// A random input has the same bits on every machine. The factors of a product are 1 and at most 60 other powers of
/// two, of either sign, so that every partial product is exact. Complex factors are such numbers times 1 and i, in
/// turns.
class random_input {
 public:
  random_input(operation what, element_type type, std::size_t count, terms kind = terms::random);
  array_view view() const;

 private:
  element_type type_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

}  // namespace fanin::oracle
