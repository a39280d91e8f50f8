// SPDX-License-Identifier: Apache-2.0
// The catalogue: one row for each operation, each element type and each method. Names, checks, default result types,
// the command's subcommands and help, benchmarks, tests and the README's table read these rows, and nothing else
// lists operations or types. The headers of accumulator/ have the arithmetic, and assign it to the rows;
// backends/README.md says what a new row takes.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fanin/complex_number.hpp>
#include <fanin/error.hpp>
#include <fanin/narrow_float.hpp>

namespace fanin {

enum class operation : std::uint8_t {
  sum,
  product,
  min,
  max,
  sum_of_squares,
  mean,
  norm2,
  variance,
  dot,
  sum_of_magnitudes,
  argmin,
  argmax,
  minmax,
  max_magnitude,
  count_nonzero,
  any,
  all,
  standard_deviation,
  sample_variance,
  sample_standard_deviation,
  log_sum_exp,
  vdot
};

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

/// How floating-point results are computed. In the bounds, u is the unit roundoff, g(k) = k u / (1 - k u), d and d'
/// are the longest chains of rounded additions, S is the exact sum; docs/numerics.md has the proofs. Results of
/// integers, and of operations in which nothing rounds, are the same with every method.
enum class method : std::uint8_t {
  fast,         ///< one addition per element, error <= g(d) sum|x|
  compensated,  ///< error-free transformations, error <= u |S| + (1 + u) g(d) g(d') sum|x|
  exact,        ///< the correctly rounded value: the same bits for any order, split, backend and machine
};

/// The rule for the default type of the number in a result. Results of complex numbers are complex, unless the rule
/// says otherwise.
enum class result_rule : std::uint8_t {
  element,    ///< the element's type
  widened,    ///< the element's type for floats, but at least f32; i64 or u64 for integers
  length,     ///< as widened; for complex numbers the type of their parts
  quotient,   ///< the element's type for floats, but at least f32; f64 for integers
  magnitude,  ///< the element's type for floats; u64 for integers
  count,      ///< u64
  truth,      ///< u8, which is 0 or 1, as a bool in memory
};

/// What a result consists of (form.hpp).
enum class result_form : std::uint8_t {
  number,    ///< one number of the type that the rule gives
  indexed,   ///< fanin::indexed: such a number and its 64-bit index
  extremes,  ///< fanin::extremes: two such numbers
};

/// The value for no elements. With `none` the call throws invalid_argument, with `none_of_one` for one element too.
enum class empty_value : std::uint8_t { zero, one, minus_infinity, none, none_of_one };

/// What stands for an element that does not take part: a value that changes nothing.
enum class stand_in : std::uint8_t {
  zero,            ///< -0 for floats
  one,             ///< 1
  minus_infinity,  ///< a float
  other,           ///< a copy of an element that takes part, behind it
};

/// A set of methods.
struct method_set {
  bool fast, compensated, exact;
  constexpr bool has(method how) const noexcept {
    return how == method::fast ? fast : how == method::compensated ? compensated : how == method::exact && exact;
  }
};
inline constexpr method_set every_method{true, true, true}, fast_only{true, false, false},
    no_method{false, false, false};

struct operation_row {
  operation what;
  std::string_view name;
  std::string_view story;  ///< one line, for help and tables
  int inputs;              ///< how many arrays it reads
  result_rule result;
  empty_value empty;
  method_set of_floats;   ///< the methods that exist for floating-point elements
  method_set of_complex;  ///< and for complex ones
  bool of_integers;       ///< whether it exists for integers, with every method
  bool unrounded;         ///< whether nothing rounds, whatever the method: all methods are the same
  stand_in absent;        ///< for an element that does not take part
  result_form form = result_form::number;
  method usual = method::fast;  ///< the method of a call that names none
};

inline constexpr operation_row operation_rows[] = {
    {operation::sum, "sum", "Sum of all elements", 1, result_rule::widened, empty_value::zero, every_method,
     every_method, true, false, stand_in::zero},
    {operation::product, "product", "Product of all elements", 1, result_rule::widened, empty_value::one, fast_only,
     fast_only, true, false, stand_in::one},
    {operation::min, "min", "Smallest element", 1, result_rule::element, empty_value::none, every_method, no_method,
     true, true, stand_in::other},
    {operation::max, "max", "Largest element", 1, result_rule::element, empty_value::none, every_method, no_method,
     true, true, stand_in::other},
    {operation::sum_of_squares, "sum_of_squares", "Sum of the squares of all elements", 1, result_rule::widened,
     empty_value::zero, every_method, no_method, true, false, stand_in::zero},
    {operation::mean, "mean", "Mean of all elements", 1, result_rule::quotient, empty_value::none, every_method,
     every_method, true, false, stand_in::zero},
    {operation::norm2, "norm2", "Square root of the sum of the squares of all elements", 1, result_rule::length,
     empty_value::zero, every_method, every_method, false, false, stand_in::zero, result_form::number, method::exact},
    {operation::variance, "variance", "Population variance of all elements", 1, result_rule::quotient,
     empty_value::none, every_method, no_method, true, false, stand_in::zero, result_form::number, method::exact},
    {operation::dot, "dot", "Dot product of two inputs", 2, result_rule::widened, empty_value::zero, every_method,
     every_method, false, false, stand_in::zero},
    {operation::sum_of_magnitudes, "sum_of_magnitudes", "Sum of the magnitudes of all elements (L1 norm)", 1,
     result_rule::length, empty_value::zero, every_method, fast_only, true, false, stand_in::zero},
    {operation::argmin, "argmin", "Index of the first smallest element, and the element", 1, result_rule::element,
     empty_value::none, every_method, no_method, true, true, stand_in::other, result_form::indexed},
    {operation::argmax, "argmax", "Index of the first largest element, and the element", 1, result_rule::element,
     empty_value::none, every_method, no_method, true, true, stand_in::other, result_form::indexed},
    {operation::minmax, "minmax", "Smallest and largest element", 1, result_rule::element, empty_value::none,
     every_method, no_method, true, true, stand_in::other, result_form::extremes},
    {operation::max_magnitude, "max_magnitude", "Largest magnitude of the elements (infinity norm)", 1,
     result_rule::magnitude, empty_value::zero, every_method, no_method, true, true, stand_in::zero},
    {operation::count_nonzero, "count_nonzero", "Number of elements that are not zero", 1, result_rule::count,
     empty_value::zero, every_method, no_method, true, true, stand_in::zero},
    {operation::any, "any", "Whether an element is not zero", 1, result_rule::truth, empty_value::zero, every_method,
     no_method, true, true, stand_in::zero},
    {operation::all, "all", "Whether no element is zero", 1, result_rule::truth, empty_value::one, every_method,
     no_method, true, true, stand_in::one},
    {operation::standard_deviation, "standard_deviation", "Population standard deviation of all elements", 1,
     result_rule::quotient, empty_value::none, every_method, no_method, true, false, stand_in::zero,
     result_form::number, method::exact},
    {operation::sample_variance, "sample_variance", "Variance of a sample, divided by n - 1", 1,
     result_rule::quotient, empty_value::none_of_one, every_method, no_method, true, false, stand_in::zero,
     result_form::number, method::exact},
    {operation::sample_standard_deviation, "sample_standard_deviation", "Standard deviation of a sample, with n - 1",
     1, result_rule::quotient, empty_value::none_of_one, every_method, no_method, true, false, stand_in::zero,
     result_form::number, method::exact},
    {operation::log_sum_exp, "log_sum_exp", "Logarithm of the sum of the exponentials of all elements", 1,
     result_rule::quotient, empty_value::minus_infinity, fast_only, no_method, false, false,
     stand_in::minus_infinity},
    {operation::vdot, "vdot", "Dot product of the complex conjugate of the first input and the second", 2,
     result_rule::widened, empty_value::zero, every_method, every_method, false, false, stand_in::zero},
};
inline constexpr std::size_t operation_count = std::size(operation_rows);

/// The most arrays that an operation reads.
inline constexpr std::size_t most_inputs = 2;

template <class T>
struct element_row {
  using type = T;
  element_type enumerator;
  std::string_view name;
  std::string_view npy;    ///< the type's code in .npy files, without the byte order
  std::string_view story;  ///< one line, for tables
};

inline constexpr std::tuple element_rows{
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
inline constexpr std::size_t element_count = std::tuple_size_v<decltype(element_rows)>;

struct method_row {
  method how;
  std::string_view name;
};
inline constexpr method_row method_rows[] = {
    {method::fast, "fast"}, {method::compensated, "compensated"}, {method::exact, "exact"}};

namespace detail {

template <std::size_t I>
using element_at = typename std::tuple_element_t<I, std::remove_const_t<decltype(element_rows)>>::type;

template <class T, std::size_t... I>
constexpr bool is_listed(std::index_sequence<I...>) {
  return (std::same_as<T, element_at<I>> || ...);
}

/// The array of f(row) for all element rows.
template <class F>
constexpr auto for_each_element_row(F f) {
  return std::apply([&](const auto&... row) { return std::array{f(row)...}; }, element_rows);
}

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < operation_count; ++i) {
    if (static_cast<std::size_t>(operation_rows[i].what) != i) return false;
  }
  const auto enumerators = for_each_element_row([](const auto& row) { return row.enumerator; });
  for (std::size_t i = 0; i < element_count; ++i) {
    if (static_cast<std::size_t>(enumerators[i]) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "the rows of the catalogue stand in the order of the enumerators, all of them");

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

/// A type of which arrays can be reduced.
template <class T>
concept element = detail::is_listed<T>(std::make_index_sequence<element_count>());

/// The listed type that has the representation of T: T itself, for bool u8, or of two integer types of one size and
/// sign, as `long` and `long long` may be, the one that is listed. Void if there is none; characters are no numbers.
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
inline constexpr element_type type_of = std::get<element_row<T>>(element_rows).enumerator;

/// The C++ type of an element type known at compile time.
template <element_type Type>
using element_of_type = detail::element_at<static_cast<std::size_t>(Type)>;

/// Returns `f.operator()<T>()`, where T is the C++ type of `type`. @throws invalid_argument if `type` is no
/// enumerator
template <class F>
constexpr auto with_element(element_type type, F f) {
  return detail::with_element_from<0>(type, f);
}

inline constexpr auto all_operations = [] {
  std::array<operation, operation_count> all{};
  for (std::size_t i = 0; i < operation_count; ++i) all[i] = operation_rows[i].what;
  return all;
}();
inline constexpr auto all_element_types =
    detail::for_each_element_row([](const auto& row) { return row.enumerator; });
inline constexpr std::array all_methods{method::fast, method::compensated, method::exact};

/// The row of an operation. @throws invalid_argument if `what` is no enumerator
constexpr const operation_row& row_of(operation what) {
  const auto i = static_cast<std::size_t>(what);
  if (i >= operation_count) throw invalid_argument("there is no such operation");
  return operation_rows[i];
}

/// The fewest elements that have a value.
constexpr std::uint64_t least_count(operation what) {
  const empty_value empty = row_of(what).empty;
  return empty == empty_value::none_of_one ? 2 : empty == empty_value::none ? 1 : 0;
}

/// The size of an element in bytes.
constexpr std::size_t size_of(element_type type) {
  return with_element(type, [&]<class T>() { return sizeof(T); });
}
constexpr bool is_floating(element_type type) {
  return with_element(type, [&]<class T>() { return floating<T>; });
}
constexpr bool is_complex(element_type type) {
  return with_element(type, [&]<class T>() { return complex_number<T>; });
}
constexpr bool is_integer(element_type type) { return !is_floating(type) && !is_complex(type); }

/// The type of the parts of complex numbers; of any others, their own type.
constexpr element_type part_type(element_type type) {
  return with_element(type, [&]<class T>() { return type_of<part_of<T>>; });
}

constexpr bool is_method(method how) { return static_cast<std::size_t>(how) < std::size(method_rows); }

/// Whether the library offers the operation on elements of `type` with the method.
constexpr bool is_offered(operation what, element_type type, method how) {
  const operation_row& row = row_of(what);
  if (is_integer(type)) return row.of_integers && is_method(how);
  return (is_complex(type) ? row.of_complex : row.of_floats).has(how);
}

/// The method whose arithmetic serves `how`: where nothing rounds, all methods are `fast`.
constexpr method arithmetic_method(operation what, element_type type, method how) {
  return is_method(how) && (row_of(what).unrounded || is_integer(type)) ? method::fast : how;
}

/// The method of a call that names none: `exact` for norms, variances and standard deviations, else `fast`.
constexpr method default_method(operation what) { return row_of(what).usual; }

/// The type of the number in the result of a call that names none.
constexpr element_type default_result(operation what, element_type type) {
  const auto of_integers = [type](result_rule rule) {
    if (rule == result_rule::quotient) return element_type::f64;
    if (rule == result_rule::magnitude) return element_type::u64;
    return with_element(type, [&]<class T>() { return std::is_signed_v<T> ? element_type::i64 : element_type::u64; });
  };
  switch (const result_rule rule = row_of(what).result; rule) {
    case result_rule::count:
      return element_type::u64;
    case result_rule::truth:
      return element_type::u8;
    case result_rule::element:
      return type;
    default:
      if (is_complex(type)) return rule == result_rule::length ? part_type(type) : type;
      if (is_integer(type)) return of_integers(rule);
      return size_of(type) < 4 && rule != result_rule::magnitude ? element_type::f32 : type;
  }
}

/// Whether the number in a result can have that type: the default, and where something is rounded, with method::exact
/// f64 or the element's type in place of f32, and c128 in place of c64.
constexpr bool is_result(operation what, element_type type, method how, element_type result) {
  const element_type usual = default_result(what, type);
  const bool is_other = usual == element_type::f32
                            ? result == element_type::f64 || (result == type && is_floating(type))
                            : usual == element_type::c64 && result == element_type::c128;
  return is_method(how) && (result == usual || (is_other && how == method::exact && !row_of(what).unrounded));
}

}  // namespace fanin
