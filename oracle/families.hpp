// SPDX-License-Identifier: Apache-2.0
// Families of input data for `fanin generate` and `fanin accuracy`. The data have the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <fanin/catalog.hpp>

namespace fanin::oracle {

class random_bits;
class family_output;

/// A family of input data. `parameter` describes the number in NAME:NUMBER; it is empty if the family takes none.
struct family {
  std::string_view name;
  std::string_view story;
  std::string_view parameter;
  double standard, least, most;  ///< default, minimum and maximum of the number
  /// These two write the elements of a floating type and of an integer type. The second one is null if the family has
  /// no integers. @throws invalid_argument
  void (*write_floats)(family_output& x, random_bits& random, double parameter);
  void (*write_integers)(family_output& x, random_bits& random, double parameter) = nullptr;
};
std::span<const family> families();

/// The inputs that `fanin accuracy` measures by default.
std::span<const std::string_view> accuracy_specs();

/// Writes `count` elements of the family that `spec` names, as in "uniform" or "condition:1e20". The parts
/// of complex numbers are twice as many elements of the family.
/// @throws invalid_argument if there is no such family (the message suggests a name), if it has no elements of
/// that type or one would be beyond the type's largest number, or if so few elements cannot have the condition
/// number that `spec` asks for
void fill(std::string_view spec, std::uint64_t seed, element_type type, void* x, std::size_t count);

/// The elements that fill() writes, as a vector.
template <element T>
std::vector<T> generate(std::string_view spec, std::size_t count, std::uint64_t seed) {
  std::vector<T> x(count);
  fill(spec, seed, type_of<T>, x.data(), count);
  return x;
}

}  // namespace fanin::oracle
