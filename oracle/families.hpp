// Inputs with known character, one table for `generate` and `accuracy`. The same bits on every machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fanin::oracle {

class random_bits;

/// A family: its name, what it makes, and what the number in NAME:NUMBER means (empty: it takes none).
struct family {
  std::string_view name;
  std::string_view story;
  std::string_view parameter;
  double standard, least, most;  ///< of the number
  void (*fill_f32)(std::span<float> x, random_bits& random, double parameter);
  void (*fill_f64)(std::span<double> x, random_bits& random, double parameter);
};
std::span<const family> families();

/// The inputs that `accuracy` goes through.
std::span<const std::string_view> study_specs();

/// `count` elements of the family that `spec` names: "uniform", "condition:1e20".
/// @throws invalid_argument with a suggestion
template <std::floating_point T>
std::vector<T> generate(std::string_view spec, std::size_t count, std::uint64_t seed);

extern template std::vector<float> generate(std::string_view, std::size_t, std::uint64_t);
extern template std::vector<double> generate(std::string_view, std::size_t, std::uint64_t);

}  // namespace fanin::oracle
