// SPDX-License-Identifier: Apache-2.0
// Inputs of any element type on which merged reductions go wrong, and their values as text, errors included.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/lanes.hpp>

#include "tests/support/adversary.hpp"

namespace fanin::test {

/// Arrays of `count` elements, one of each kind.
template <class T>
std::vector<std::vector<T>> hard_inputs(std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<T>> all;
  if constexpr (complex_number<T>) {
    for (const auto& parts : hard_inputs<part_of<T>>(2 * count, seed)) all.push_back(oracle::paired(parts));
  } else if constexpr (floating<T>) {
    adversary<computed_as<T>> make(seed);
    for (const auto& kind : make.kinds()) all.push_back(as_elements<T>(make.make(kind, count)));
    std::vector<T> minus_zeros(count, negative_zero<T>());
    all.push_back(minus_zeros);
  } else {
    all = {any_integers<T>(count, seed), mixed_values<T>(count, seed), std::vector<T>(count, T{1}),
           std::vector<T>(count, std::numeric_limits<T>::min()),
           std::vector<T>(count, std::numeric_limits<T>::max())};
  }
  return all;
}

/// Whether the operation on such elements has lanes.
inline bool has_lanes(operation what, element_type type) {
  try {
    lanes_of(what, type);
    return true;
  } catch (const unsupported&) {
    return false;
  }
}

/// The bytes of the value that compute(value) writes to a result of the default type, or the error's message.
template <class Compute>
std::string value_or_error(operation what, element_type type, Compute compute) {
  return with_result_type(what, default_result(what, type), [&]<class R>() -> std::string {
    R value;
    std::memset(static_cast<void*>(&value), 0, sizeof value);
    try {
      compute(result_view(value));
    } catch (const error& problem) {
      return problem.what();
    }
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  });
}

/// The bytes of the exact value of all elements in one process, or the error's message.
inline std::string value_or_error(operation what, const input_views& inputs, options chosen = {}) {
  chosen.method = method::exact;
  chosen.backend = "serial";
  return value_or_error(what, inputs.type(), [&](const result_view& value) { reduce(what, inputs, value, chosen); });
}

}  // namespace fanin::test
