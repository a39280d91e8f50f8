// SPDX-License-Identifier: Apache-2.0
// Quantiles of numbers in memory, without rounding but for the last step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cli {

/// A number q from 0 to 1 as it is written: numerator / denominator, which is a power of 10.
struct exact_share {
  std::string text;
  std::uint64_t numerator = 0, denominator = 1;
};
/// Parses a number as in "0.9", "1" or ".25", with at most 18 digits behind the point. @throws usage_error
exact_share parse_share(const std::string& text);

/// Quantiles of real numbers. If the n elements are sorted from place 0 on, the quantile q is at the place q (n -
/// 1). Between two places it is on the line through their elements. It is rounded once, to the type of the mean of
/// the elements. -0 is below +0. Two infinities of different signs have NaN between them. Memory: 8 bytes for each
/// element. Cost: a selection for each place, in O(n) on average.
class selection {
 public:
  explicit selection(nan_policy nan) : nan_(nan) {}

  /// Adds elements. If earlier elements have another type, all are taken as u64 or f64, as element_forms has them.
  /// Returns false if no type has both. @throws std::bad_alloc
  bool push(const array_view& elements);
  /// The type of the elements.
  element_type type() const noexcept { return type_; }
  /// The NaN that are left out.
  std::uint64_t absent() const noexcept { return nan_ == nan_policy::skip ? nans_ : 0; }
  /// Whether no element takes part: then there is no quantile.
  bool is_empty() const noexcept { return absent() == nans_ && keys_.empty(); }
  /// Writes a number of the type of a mean: NaN if is_empty(), or if a NaN takes part.
  scalar quantile(const exact_share& q);

 private:
  /// Changes keys of the type of the elements to keys of another type.
  void convert(element_type type);
  /// The key that stands at that place when all are sorted.
  std::int64_t at(std::size_t place);

  nan_policy nan_;
  element_type type_ = element_type::f64;
  std::vector<std::int64_t> keys_;
  std::set<std::size_t> placed_;  ///< the places that hold their keys, between the keys below and above them
  std::uint64_t nans_ = 0;
};

}  // namespace fanin::cli
