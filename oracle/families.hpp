// SPDX-License-Identifier: Apache-2.0
// Families of input data for `fanin generate` and `fanin accuracy`. The data have the same bits on every machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fanin::oracle {

class random_bits;

/// A family of input data. `parameter` describes the number in NAME:NUMBER; it is empty if the family takes none.
struct family {
  std::string_view name;
  std::string_view story;
  std::string_view parameter;
  double standard, least, most;  ///< default, minimum and maximum of the number
  void (*fill_f32)(std::span<float> x, random_bits& random, double parameter);
  void (*fill_f64)(std::span<double> x, random_bits& random, double parameter);
};
std::span<const family> families();

/// The inputs that `fanin accuracy` measures by default.
std::span<const std::string_view> study_specs();

/// `count` elements of the family that `spec` names, as in "uniform" or "condition:1e20".
/// @throws invalid_argument if there is no such family (the message suggests a name), or if so few elements cannot
/// have the condition number that `spec` asks for
template <std::floating_point T>
std::vector<T> generate(std::string_view spec, std::size_t count, std::uint64_t seed);

extern template std::vector<float> generate(std::string_view, std::size_t, std::uint64_t);
extern template std::vector<double> generate(std::string_view, std::size_t, std::uint64_t);

}  // namespace fanin::oracle
