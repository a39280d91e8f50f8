// SPDX-License-Identifier: Apache-2.0
// Extrema, places and counts of several short arrays of elements of 8 or 16 bits, which are compared as integers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fanin/catalog/operations.hpp>
#include <fanin/loop.hpp>
#include <fanin/narrow_float.hpp>

namespace fanin::cpu {

/// How the bits of an element become a signed integer, its key, which orders the elements: bits of `if_negative` are
/// turned over where the sign bit is set, and then the bits of `always`. The same steps turn a key into the element.
struct key_form {
  std::uint16_t if_negative, always;
  std::int32_t largest;     ///< the largest key of an element that is not NaN; the smallest one is -largest - 1
  std::uint16_t magnitude;  ///< the bits that are 0 in an element that is 0
  std::uint16_t not_a_number;
  bool is_float;
  std::size_t bytes;
};
template <class T>
constexpr key_form key_form_of() {
  if constexpr (std::integral<T>) {
    constexpr auto sign = static_cast<std::uint16_t>(std::signed_integral<T> ? 0 : 1u << (8 * sizeof(T) - 1));
    return {0, sign, 0xffff, 0xffff, 0, false, sizeof(T)};
  } else {
    constexpr auto magnitude = static_cast<std::uint16_t>(T::sign_bit - 1);
    return {magnitude, 0,        T::has_infinity ? T::after_largest : T::after_largest - 1, magnitude, T::quiet_nan,
            true,      sizeof(T)};
  }
}

/// Acts as arithmetic::reduce_each() for the operations that round nothing, on elements of the form's type, which is
/// the type of results that are elements. All arrays are left if one is empty or longer than 4096 elements, and
/// without vectors. For argmin and argmax arrays with NaN are left.
std::uint64_t compare_words(operation what, const key_form& form, const detail::operands* runs,
                            const std::size_t* counts, std::size_t number, void* out);

}  // namespace fanin::cpu
