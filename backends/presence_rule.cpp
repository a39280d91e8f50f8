// SPDX-License-Identifier: Apache-2.0
#include "backends/presence_rule.hpp"

#include <cstring>
#include <limits>

namespace fanin {
namespace {

template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

template <class T>
T value_of(stand_in absent) {
  if (absent == stand_in::one) return static_cast<T>(1.0f);
  if constexpr (floating<T>) {
    return static_cast<T>(absent == stand_in::minus_infinity ? -std::numeric_limits<float>::infinity() : -0.0f);
  } else {
    return 0;
  }
}

}  // namespace

presence_rule::presence_rule(operation what, element_type type, nan_policy nan) noexcept
    : absent(row_of(what).absent), element_bytes(byte_size(type)), words(is_complex(type) ? 2 : 1) {
  with_element(part_type(type), [&]<class T>() {
    if constexpr (!complex_number<T>) {
      constexpr std::uint64_t every_magnitude = ~std::uint64_t{0} >> (65 - 8 * sizeof(T));
      largest_number = every_magnitude;
      if constexpr (floating<T>) {
        using limits = std::numeric_limits<T>;
        if (nan == nan_policy::skip)
          largest_number = bits_of(limits::has_infinity ? limits::infinity() : limits::max());
      }
      has_stand_in = absent != stand_in::minus_infinity || std::numeric_limits<T>::has_infinity;
      in_place[0][0] = in_place[0][1] = bits_of(value_of<T>(absent));
      if (words == 2 && absent == stand_in::one) in_place[0][1] = 0;
      in_place[1][0] = in_place[1][1] = 0;
    }
  });
}

}  // namespace fanin
