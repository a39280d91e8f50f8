// SPDX-License-Identifier: Apache-2.0
// The reduction of a batch that is in memory.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/batch.hpp>

#include "cli/batch/value_list.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

struct finished_batch {
  finished_reduction done;  ///< without a value
  value_list values;
  /// For each result, if reduce_groups() found that one does not exist: what stands for it, or an empty text.
  std::vector<std::string_view> absent = {};

  bool has(std::size_t i) const { return absent.empty() || absent[i].empty(); }
  bool has_any() const { return absent.empty() || std::ranges::find(absent, std::string_view()) != absent.end(); }
  /// What is printed of a result.
  std::string text(std::size_t i) const {
    return has(i) ? value_of(done.what.like, values[i]) : std::string(absent[i]);
  }
};
inline constexpr std::string_view no_number = "nan", too_large = "overflow";

/// Warns on stderr once for each column of which numbers were rounded when they were read.
void warn_of_rounding(std::span<const finished_batch> all);

/// `begun` has the operation and what was read. `place` is for messages about the elements. Integers of
/// text whose type was inferred are taken as f64 where the operation is not for integers.
/// @throws bad_data, invalid_argument, unsupported
finished_batch reduce_batch(finished_reduction begun, const batch& many, const options& chosen,
                            const std::string& place);

/// As reduce_batch() of groups, but if the result of a group does not exist, the others are there: no_number stands
/// for the result of too few elements, too_large for an integer total that does not fit. The groups are then reduced
/// one by one.
finished_batch reduce_groups(finished_reduction begun, const batch& many, const options& chosen);

}  // namespace fanin::cli
