// SPDX-License-Identifier: Apache-2.0
// The reduction of a batch that is in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <fanin/batch.hpp>

#include "cli/batch/value_list.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

/// The texts that stand for a result of too few elements, and for an integer total that does not fit.
inline constexpr std::string_view no_number = "nan", too_large = "overflow";

struct finished_batch {
  finished_reduction done;  ///< without a value
  value_list values;
  /// Empty if all results exist. Otherwise it has a text for each result, which stands for the result or is empty.
  std::vector<std::string_view> absent = {};
  /// The places of elements in text, one for each indexed result. They are there once find() has been called.
  std::optional<std::vector<std::optional<place_in_text>>> found = {};

  bool has(std::size_t i) const { return absent.empty() || absent[i].empty(); }
  bool has_any() const { return absent.empty() || std::ranges::find(absent, std::string_view()) != absent.end(); }
  /// Names the first result for which `stand_in` stands, as name(i) does, and says how many more there are; empty if
  /// there is none.
  template <class Name>
  std::string absent_results(std::string_view stand_in, Name name) const {
    const auto count = std::ranges::count(absent, stand_in);
    if (count == 0) return {};
    const auto first = static_cast<std::size_t>(std::ranges::find(absent, stand_in) - absent.begin());
    return fmt::format("{}: {}{}: the {}", done.place(), name(first),
                       count == 1 ? "" : fmt::format(" and {} more", count - 1), done.what.name);
  }
  /// Says which totals do not fit; empty if all do.
  template <class Name>
  std::string overflow_problem(Name name) const {
    const std::string large = absent_results(too_large, name);
    return large.empty() ? "" : fmt::format("{} does not fit in 64 bits{}", large, done.overflow_advice());
  }
  /// The members of value_list::members(), with null for results that do not exist.
  json members() const;
  /// The fields that are printed for a result. An index is followed by its element. If the input is text, the line
  /// of the element follows, and with several inputs also the input.
  std::vector<std::string> fields(std::size_t i) const;
  /// The names of the fields. The first field is called `name`.
  std::vector<std::string> field_names(const std::string& name) const;
  /// Finds the elements of indexed results: place(i, index) is the place of an element among all elements.
  template <class Place>
  void find(const lines_of_inputs& lines, Place place) {
    if (!has_index(done.what)) return;
    found.emplace();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<std::uint64_t> at = has(i) ? place(i, *index_of(values[i])) : std::nullopt;
      found->push_back(at ? lines.place_of(*at) : std::nullopt);
    }
  }
};
/// Warns on stderr once for each column whose numbers were rounded when they were read.
void warn_of_rounding(std::span<const finished_batch> all);

/// Each of `begun` has its operation and what was read. `place` is for messages about the elements. Integers of text
/// whose type was inferred are taken as f64 where the operation is not for integers. If a total does not fit, the
/// others are there, and the results are reduced one by one. Operations of the library share one read of the
/// elements, unless the type was inferred, or one of them fails.
/// @throws bad_data, invalid_argument, unsupported
std::vector<finished_batch> reduce_batch(std::vector<finished_reduction> begun, const batch& many,
                                         const options& chosen, const std::string& place);

/// Does what reduce_batch() does for groups. If some groups have too few elements, the results of the other groups
/// are there.
finished_batch reduce_groups(finished_reduction begun, const batch& many, const options& chosen);

}  // namespace fanin::cli
