// SPDX-License-Identifier: Apache-2.0
// Integers of an operation that has no arithmetic for integers, as log_sum_exp: they are taken as f64.
#pragma once

#include <cstddef>
#include <memory>

#include <fanin/backend.hpp>
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
  input_views of(const input_views&) const { return inputs(); }
  /// The batch of `integers`, with these doubles as its elements.
  batch of(const batch& integers) const;

 private:
  std::size_t count_;
  std::unique_ptr<double[]> elements_;
  mask_view mask_;
};

/// Whether a request that is planned for f64 also serves integers like these.
inline bool serves_as_f64(const request& planned, const input_views& integers) {
  return planned.inputs.type() == element_type::f64 && planned.inputs.place() == integers.place() &&
         is_taken_as_f64(planned.what, integers.type(), integers.place());
}

/// Whether the integers can be read in place of doubles: none of them would be rounded, and none is left out. The
/// answer may be false for integers beyond 2^53 that are doubles, and for 64-bit integers that lie apart.
bool are_doubles(const input_views& integers);
bool are_doubles(const batch& integers);

inline const input_views& inputs_of(const input_views& integers) { return integers; }
inline const input_views& inputs_of(const batch& integers) { return integers.inputs; }

/// Returns run(request, elements) for a request that was prepared for f64. The elements are the integers, if the
/// backend reads these, and otherwise a copy of them as doubles.
template <class Elements, class Run>
auto run_as_f64(const selection& chosen, const Elements& integers, const Run& run) {
  request asked = chosen.what;
  asked.inputs = inputs_of(integers);
  if (chosen.chosen->prepare(asked).usable() && are_doubles(integers)) return run(asked, integers);
  const doubles copy(integers);
  asked = chosen.what;
  asked.inputs = copy.inputs();
  return run(asked, copy.of(integers));
}

}  // namespace fanin
