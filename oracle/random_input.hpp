// Inputs for the ladder and the benchmark: whatever the operation and the type, its exact result fits.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include <fanin/request.hpp>

namespace fanin::oracle {

enum class terms {
  random,  ///< floats uniform in [0, 1), integers of up to 32 bits, of 16 for sum_of_squares
  exact,   ///< at most 2^23 ones of either sign, and zeros: every partial sum is exact, in any order and type
};

namespace detail {
template <std::size_t... I>
std::variant<std::vector<fanin::detail::element_at<I>>...> variant_of_vectors(std::index_sequence<I...>);
}  // namespace detail

/// The same on every machine. Factors of a product are ones, and at most 60 other powers of two, of either sign, so
/// that every part of it is exact.
class random_input {
 public:
  random_input(operation what, element_type type, std::size_t count, terms kind = terms::random);
  array_view view() const;

 private:
  decltype(detail::variant_of_vectors(std::make_index_sequence<element_count>())) x_;
};

}  // namespace fanin::oracle
