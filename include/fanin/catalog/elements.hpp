// SPDX-License-Identifier: Apache-2.0
// The element types: one row for each. CONTRIBUTING.md says what else a new element type takes.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <fanin/complex_number.hpp>
#include <fanin/error.hpp>
#include <fanin/narrow_float.hpp>

namespace fanin {

// -Wshadow of g++ 12 warns of enumerators that have the names of types, although they have a scope of their own.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class element_type : std::uint8_t {
  f32,
  f64,
  i32,
  i64,
  u32,
  u64,
  i8,
  u8,
  i16,
  u16,
  f16,
  bf16,
  e5m2,
  e4m3,
  c64,
  c128
};
#pragma GCC diagnostic pop

template <class T>
struct element_row {
  using type = T;
  element_type enumerator;
  std::string_view name;
  std::string_view npy;    ///< the type's code in .npy files, without the byte order
  std::string_view story;  ///< one line, for tables
};

/// The rows of element types, each as a base class. A std::tuple of the rows would compile more slowly, in every file
/// that includes fanin.hpp.
template <class... T>
struct element_table : element_row<T>... {
  using types = std::tuple<T...>;
  static constexpr std::size_t size = sizeof...(T);
  /// The array of f(row) for all rows.
  template <class F>
  constexpr auto for_each(F f) const {
    return std::array{f(static_cast<const element_row<T>&>(*this))...};
  }
};
template <class... T>
element_table(element_row<T>...) -> element_table<T...>;

inline constexpr element_table element_rows{
    element_row<float>{element_type::f32, "f32", "f4", "IEEE binary32"},
    element_row<double>{element_type::f64, "f64", "f8", "IEEE binary64"},
    element_row<std::int32_t>{element_type::i32, "i32", "i4", "signed, 32 bits"},
    element_row<std::int64_t>{element_type::i64, "i64", "i8", "signed, 64 bits"},
    element_row<std::uint32_t>{element_type::u32, "u32", "u4", "unsigned, 32 bits"},
    element_row<std::uint64_t>{element_type::u64, "u64", "u8", "unsigned, 64 bits"},
    element_row<std::int8_t>{element_type::i8, "i8", "i1", "signed, 8 bits"},
    element_row<std::uint8_t>{element_type::u8, "u8", "u1", "unsigned, 8 bits; bool too"},
    element_row<std::int16_t>{element_type::i16, "i16", "i2", "signed, 16 bits"},
    element_row<std::uint16_t>{element_type::u16, "u16", "u2", "unsigned, 16 bits"},
    element_row<f16>{element_type::f16, "f16", "f2", "IEEE binary16"},
    element_row<bf16>{element_type::bf16, "bf16", "V2", "bfloat16: the upper half of a binary32"},
    element_row<e5m2>{element_type::e5m2, "e5m2", "V1", "8 bits: the upper half of a binary16"},
    element_row<e4m3>{element_type::e4m3, "e4m3", "V1", "8 bits without infinities, up to 448"},
    element_row<std::complex<float>>{element_type::c64, "c64", "c8", "complex, of two f32"},
    element_row<std::complex<double>>{element_type::c128, "c128", "c16", "complex, of two f64"},
};
inline constexpr std::size_t element_count = element_rows.size;

namespace detail {

template <std::size_t I>
using element_at = std::tuple_element_t<I, decltype(element_rows)::types>;

template <class T>
inline constexpr bool is_listed = std::is_base_of_v<element_row<T>, decltype(element_rows)>;

constexpr bool elements_are_in_order() {
  const auto enumerators = element_rows.for_each([](const auto& row) { return row.enumerator; });
  for (std::size_t i = 0; i < element_count; ++i) {
    if (static_cast<std::size_t>(enumerators[i]) != i) return false;
  }
  return true;
}
static_assert(elements_are_in_order(),
              "the rows of element types stand in the order of the enumerators, all of them");

template <std::size_t I, class F>
constexpr auto with_element_from(element_type type, F& f) {
  if constexpr (I + 1 < element_count) {
    if (static_cast<std::size_t>(type) != I) return with_element_from<I + 1>(type, f);
  } else {
    if (static_cast<std::size_t>(type) != I) throw invalid_argument("there is no such element type");
  }
  return f.template operator()<element_at<I>>();
}

}  // namespace detail

/// A type whose arrays can be reduced.
template <class T>
concept element = detail::is_listed<T>;

/// The listed type that has the representation of T. It is T itself if T is listed, and u8 for bool. `long` and
/// `long long` may be two types of one size: only one of them is listed, and it is the listed type of both. Void
/// if there is no such type. Characters are no numbers.
template <class T>
struct listed_as {
  using type = void;
};
template <element T>
struct listed_as<T> {
  using type = T;
};
template <>
struct listed_as<bool> {
  using type = std::uint8_t;
};
template <class T>
requires(!element<T> && (std::same_as<T, long> || std::same_as<T, long long>)) struct listed_as<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
};
template <class T>
requires(!element<T> && (std::same_as<T, unsigned long> || std::same_as<T, unsigned long long>)) struct listed_as<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};

template <element T>
inline constexpr element_type type_of = static_cast<const element_row<T>&>(element_rows).enumerator;

/// The C++ type of an element type known at compile time.
template <element_type Type>
using element_of_type = detail::element_at<static_cast<std::size_t>(Type)>;

/// Returns `f.operator()<T>()`, where T is the C++ type of `type`. @throws invalid_argument if `type` is no
/// enumerator
template <class F>
constexpr auto with_element(element_type type, F f) {
  return detail::with_element_from<0>(type, f);
}

inline constexpr auto all_element_types = element_rows.for_each([](const auto& row) { return row.enumerator; });

/// The size of an element in bytes.
constexpr std::size_t byte_size(element_type type) {
  return with_element(type, [&]<class T>() { return sizeof(T); });
}
constexpr bool is_floating(element_type type) {
  return with_element(type, [&]<class T>() { return floating<T>; });
}
constexpr bool is_complex(element_type type) {
  return with_element(type, [&]<class T>() { return complex_number<T>; });
}
constexpr bool is_integer(element_type type) {
  return with_element(type, [&]<class T>() { return std::integral<T>; });
}
/// Whether the type is an integer type with a sign.
constexpr bool is_signed_integer(element_type type) {
  return with_element(type, [&]<class T>() { return std::signed_integral<T>; });
}

/// The type of the parts of a complex type. For any other type, the type itself.
constexpr element_type part_type(element_type type) {
  return with_element(type, [&]<class T>() { return type_of<part_of<T>>; });
}

}  // namespace fanin
