// SPDX-License-Identifier: Apache-2.0
// The catalogue: one row for each operation, each element type and each method. Nothing else lists operations or
// types. Names, checks, default result types, the interfaces of C, Python, MPI and NCCL, the command's subcommands
// and help, benchmarks, tests and the documents' tables all read these rows. The headers of accumulator/ have the
// arithmetic, and assign it to the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <fanin/catalog/elements.hpp>
#include <fanin/catalog/operations.hpp>
#include <fanin/error.hpp>

namespace fanin {

inline constexpr auto all_operations = [] {
  std::array<operation, operation_count> all{};
  for (std::size_t i = 0; i < operation_count; ++i) all[i] = operation_rows[i].what;
  return all;
}();
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

constexpr bool is_method(method how) { return static_cast<std::size_t>(how) < std::size(method_rows); }

/// Whether the library offers the operation on elements of `type` with the method.
constexpr bool is_offered(operation what, element_type type, method how) {
  const operation_row& row = row_of(what);
  if (is_integer(type)) return row.of_integers && is_method(how);
  return (is_complex(type) ? row.of_complex : row.of_floats).has(how);
}

/// The method whose arithmetic serves `how`. If nothing rounds, `fast` serves all methods.
constexpr method arithmetic_method(operation what, element_type type, method how) {
  return is_method(how) && (row_of(what).unrounded || is_integer(type)) ? method::fast : how;
}

/// The method of a call that names no method: the strictest one that the operation has for the type.
constexpr method default_method(operation what, element_type type) {
  for (std::size_t i = all_methods.size(); i-- > 1;) {
    if (is_offered(what, type, all_methods[i])) return all_methods[i];
  }
  return method::fast;
}

/// The type of the number in the result of a call that names no type.
constexpr element_type default_result(operation what, element_type type) {
  const auto of_integers = [type](result_rule rule) {
    if (rule == result_rule::quotient || rule == result_rule::distance) return element_type::f64;
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
      if (is_complex(type)) {
        return rule == result_rule::length || rule == result_rule::distance ? part_type(type) : type;
      }
      if (is_integer(type)) return of_integers(rule);
      return byte_size(type) < 4 && rule != result_rule::magnitude ? element_type::f32 : type;
  }
}

/// Whether the number in a result can have that type. The default type is always possible. If something is rounded,
/// method::exact also offers f64 or the element's type in place of f32, and c128 in place of c64.
constexpr bool is_result(operation what, element_type type, method how, element_type result) {
  const element_type default_type = default_result(what, type);
  const bool is_other = default_type == element_type::f32
                            ? result == element_type::f64 || (result == type && is_floating(type))
                            : default_type == element_type::c64 && result == element_type::c128;
  return is_method(how) && (result == default_type || (is_other && how == method::exact && !row_of(what).unrounded));
}

}  // namespace fanin
