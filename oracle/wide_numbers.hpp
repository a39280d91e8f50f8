// SPDX-License-Identifier: Apache-2.0
// Real numbers of every element type as numbers of three types, so that the oracle computes with these types alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <fanin/request.hpp>

namespace fanin::oracle {

/// The type that holds every number of the real type T: double, std::int64_t or std::uint64_t.
template <class T>
using wide_number =
    std::conditional_t<floating<T>, double, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Returns `f.operator()<W>()`, where W holds every number of `type`, which is no complex type.
template <class F>
auto with_wide_number(element_type type, F f) {
  if (is_floating(type)) return f.template operator()<double>();
  if (is_signed_integer(type)) return f.template operator()<std::int64_t>();
  return f.template operator()<std::uint64_t>();
}

/// Writes the numbers from x[begin] on to `out`, without rounding. The type of `out` holds every number of x.type.
void read(const array_view& x, std::size_t begin, std::span<double> out);
void read(const array_view& x, std::size_t begin, std::span<std::int64_t> out);
void read(const array_view& x, std::size_t begin, std::span<std::uint64_t> out);

/// Writes the numbers to an array of type `type`, which is no complex type, from element `begin` on. A float is the
/// nearest float of that type, and an integer has the low bits of the number, which is an integer of 64 bits.
void write(std::span<const double> numbers, element_type type, void* out, std::size_t begin);
void write(std::span<const std::uint64_t> numbers, element_type type, void* out, std::size_t begin);

/// How many numbers are read or written at a time.
inline constexpr std::size_t piece_size = 1024;

}  // namespace fanin::oracle
