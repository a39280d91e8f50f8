// SPDX-License-Identifier: Apache-2.0
#include "backends/doubles.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <fanin/error.hpp>
#include <fanin/mask.hpp>

#include "backends/cpu/batch/axes.hpp"

namespace fanin {
namespace {

/// The element as a double, which is exact if the element takes part.
template <class T>
double as_double(const T* elements, std::ptrdiff_t at, const mask_view& mask, std::ptrdiff_t mask_at) {
  const auto value = static_cast<double>(elements[at]);
  if constexpr (sizeof(T) < sizeof(double)) return value;
  if (static_cast<detail::int128>(value) != elements[at] && takes_part(mask, static_cast<std::uint64_t>(mask_at))) {
    throw overflow("log_sum_exp takes integers as f64, and " + std::to_string(elements[at]) +
                   " would be rounded: convert the elements to f64");
  }
  return value;
}

/// Calls write(elements) with the integers as an array of their type.
template <class Write>
void with_integers(const array_view& integers, Write write) {
  with_element(integers.type, [&]<class T>() {
    if constexpr (std::integral<T>) write(static_cast<const T*>(integers.data));
  });
}

std::span<const array_axis> all_axes(const batch& many) { return {many.axes.data(), many.kept + many.reduced}; }

/// Whether the rows are all of the input, in any order of their axes.
bool are_dense(const batch& rows) {
  std::size_t last = 0;
  for (const array_axis& axis : all_axes(rows)) {
    if (axis.count == 0 || axis.stride[0] < 0) return false;
    last += (axis.count - 1) * static_cast<std::size_t>(axis.stride[0]);
  }
  return last + 1 == rows.inputs.count();
}

}  // namespace

doubles::doubles(const input_views& integers)
    : count_(integers.count()), elements_(std::make_unique_for_overwrite<double[]>(count_)), mask_(integers.mask()) {
  with_integers(integers[0], [&](const auto* from) {
    for (std::size_t i = 0; i < count_; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      elements_[i] = as_double(from, at, mask_, at);
    }
  });
}

doubles::doubles(const batch& integers)
    : count_(integers.kind == layout::rows ? cpu::places(all_axes(integers)) : 0),
      elements_(std::make_unique_for_overwrite<double[]>(count_)),
      mask_(integers.inputs.mask()) {
  if (integers.kind != layout::rows) {
    *this = doubles(integers.inputs);
    return;
  }
  with_integers(integers.inputs[0], [&](const auto* from) {
    cpu::axis_walk walk(all_axes(integers));
    for (double& to : std::span(elements_.get(), count_)) {
      to = as_double(from, walk.here().of_input[0], mask_, walk.here().of_mask);
      walk.next();
    }
  });
}

bool are_doubles(const input_views& integers) {
  if (integers.mask()) return false;
  std::uint64_t beyond = 0;
  with_integers(integers[0], [&]<class T>(const T* x) {
    if constexpr (sizeof(T) == sizeof(double)) {
      constexpr int digits = std::numeric_limits<double>::digits;
      constexpr std::uint64_t least =
          std::is_signed_v<T> ? std::uint64_t{1} << digits : 0;  // Minus the least integer.
      for (std::size_t i = 0; i < integers.count(); ++i)
        beyond |= (static_cast<std::uint64_t>(x[i]) + least) >> (digits + std::is_signed_v<T>);
    }
  });
  return beyond == 0;
}

bool are_doubles(const batch& integers) {
  const bool is_short = byte_size(integers.inputs.type()) < sizeof(double);
  return (is_short || integers.kind != layout::rows || are_dense(integers)) && are_doubles(integers.inputs);
}

batch doubles::of(const batch& integers) const {
  batch many = integers;
  many.inputs = inputs();
  std::ptrdiff_t stride = 1;
  for (std::size_t a = many.kept + many.reduced; a-- > 0;) {
    many.axes[a].stride.fill(stride);
    stride *= static_cast<std::ptrdiff_t>(many.axes[a].count);
  }
  return many;
}

}  // namespace fanin
