// SPDX-License-Identifier: Apache-2.0
// Random inputs for the ladder, the benchmarks and the tests. The exact result of every operation fits its result
// type.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include <fanin/request.hpp>

namespace fanin::oracle {

enum class terms {
  random,  ///< floats uniform in [0, 1), integers of up to 32 bits, or 16 bits for sum_of_squares
  exact,   ///< zeros and at most 2^23 elements 1 or -1: every partial sum is exact, in any order and type
};

namespace detail {
template <std::size_t... I>
std::variant<std::vector<fanin::detail::element_at<I>>...> variant_of_vectors(std::index_sequence<I...>);
}  // namespace detail

/// A random input has the same bits on every machine. The factors of a product are 1 and at most 60 other powers of
/// two, of either sign, so that every partial product is exact.
class random_input {
 public:
  random_input(operation what, element_type type, std::size_t count, terms kind = terms::random);
  array_view view() const;

 private:
  decltype(detail::variant_of_vectors(std::make_index_sequence<element_count>())) x_;
};

}  // namespace fanin::oracle
