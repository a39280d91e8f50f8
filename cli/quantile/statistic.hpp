// SPDX-License-Identifier: Apache-2.0
// A statistic of numbers is an operation of the catalogue, the number of numbers, or a quantile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fanin/batch.hpp>
#include <fanin/fanin.hpp>

#include "cli/batch/value_list.hpp"
#include "cli/quantile/selection.hpp"

namespace fanin::cli {

struct statistic {
  /// The operation. A count is like count_nonzero and a quantile like mean: the results have the same form and type.
  operation like;
  std::string name;                       ///< the word that asks for it: sum, count, median, quantile:0.9
  bool is_count = false;                  ///< how many elements take part
  std::optional<exact_share> share = {};  ///< the share of a quantile

  statistic(operation what) : like(what), name(to_string(what)) {}
  static statistic count();
  static statistic median();
  /// The share is a number from 0 to 1. @throws usage_error
  static statistic quantile(const std::string& share);

  /// Whether it is no operation of the library.
  bool is_own() const noexcept { return is_count || share.has_value(); }
  /// The name without the share.
  std::string_view family() const { return std::string_view(name).substr(0, name.find(':')); }
  element_type result_type(element_type type, const options& chosen) const {
    return chosen.result.value_or(default_result(like, type));
  }
  /// Checks what is_own(), whatever the elements of this type are. @throws unsupported
  void check_own(element_type type, const options& chosen) const;
};

/// The statistic that a word of `fanin reduce` asks for. @throws usage_error
statistic parse_statistic(const std::string& word);

/// Computes the statistics that are is_own(), for elements that come in blocks. Memory: a selection if there is a
/// quantile.
class own_statistics {
 public:
  own_statistics(std::span<const statistic> all, nan_policy nan);
  /// Adds elements. Returns false if no element type has these elements and the elements before.
  bool push(const array_view& block);
  /// The type of the elements. A quantile takes all elements as this type.
  element_type type() const noexcept { return selects_ ? selection_.type() : type_; }
  /// A statistic of all elements. @throws invalid_argument: a quantile of none
  result<scalar> operator()(const statistic& what);

 private:
  bool counts_ = false, selects_ = false;
  nan_policy nan_;
  element_type type_ = element_type::f64;  ///< the type of the last block
  std::uint64_t count_ = 0, absent_ = 0;
  selection selection_;
};

/// The statistic of each result of a batch of one input. @throws as reduce() of a batch
report reduce(const statistic& what, const batch& many, value_list& values, const options& chosen);

}  // namespace fanin::cli
