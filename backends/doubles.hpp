// SPDX-License-Identifier: Apache-2.0
// Integers of an operation that has no arithmetic for integers, as log_sum_exp: they are taken as f64.
#pragma once

#include <cstddef>
#include <memory>

#include <fanin/batch.hpp>
#include <fanin/catalog.hpp>

namespace fanin {

/// Whether the operation takes elements of that type as f64.
constexpr bool is_taken_as_f64(operation what, element_type type, memory place = memory::host) {
  return is_integer(type) && !row_of(what).of_integers && place == memory::host;
}
/// The type of the elements for which a backend is chosen.
constexpr element_type taken_as(operation what, element_type type, memory place = memory::host) {
  return is_taken_as_f64(what, type, place) ? element_type::f64 : type;
}

/// Integers of one input as doubles, in memory of their own.
class doubles {
 public:
  /// @throws overflow if an element that takes part is no double; std::bad_alloc
  explicit doubles(const input_views& integers);
  /// The elements of rows stand in C order of all axes.
  explicit doubles(const batch& integers);

  input_views inputs() const {
    return input_views(array_view(elements_.get(), count_, element_type::f64)).where(mask_);
  }
  /// The batch of `integers`, with these doubles as its elements.
  batch of(const batch& integers) const;

 private:
  std::size_t count_;
  std::unique_ptr<double[]> elements_;
  mask_view mask_;
};

}  // namespace fanin
