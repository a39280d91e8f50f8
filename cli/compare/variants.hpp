// SPDX-License-Identifier: Apache-2.0
// The times of every variant that can form the same sums: what both kinds of comparison share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fanin/backend.hpp>

#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/table.hpp"
#include "oracle/promise.hpp"

namespace fanin::cli {

/// The variants to compare.
struct variant_choice {
  std::vector<const backend*> backends;
  std::optional<fanin::method> only;
  unsigned threads = 0;  ///< 0: all cores

  unsigned cores() const { return threads == 0 ? default_threads() : threads; }
};

struct timed_variant {
  memory place = memory::host;  ///< the memory that held the input
  report how;
  double seconds = 0, ceiling_seconds = 0;
};

/// The times of sums of `values`.
struct timed_variants {
  array_view values;
  std::string machine;
  std::vector<timed_variant> rows;
  std::vector<passed_over> not_usable;

  /// The fastest read of the input in memory `place` beside any row, in GB/s; 0 if no row was measured there.
  double ceiling(memory place) const;
  double gigabytes_per_second(double seconds) const;
};

/// Forms sums of elements in host or device memory by the options, and keeps the results.
using sum_call = std::function<report(const array_view& values, const options& chosen)>;

/// Times the calls of each variant that has sums of that layout. After the calls of a variant, done(row) is
/// called. For backends that work on a device, the values are copied there before, unless they are too many for
/// the device's memory.
timed_variants time_variants(const variant_choice& asked, const array_view& values, layout kind, progress& line,
                             const sum_call& call, const std::function<void(const timed_variant&)>& done);

/// A sentence for each row that was faster than its ceiling.
std::vector<std::string> warnings_of(const timed_variants& all);
/// A line for each backend that is not usable.
std::string not_usable_text(const timed_variants& all);
std::string bound_text(oracle::promise bound);

/// The cells before and behind the cells of the values, and their headings.
table_row first_headings();
table_row first_cells(const timed_variant& row);
table_row last_headings(const timed_variants& all);
table_row last_cells(const timed_variants& all, const timed_variant& row);

/// The members of JSON of the whole comparison, without rows and values. Below are the members before and behind
/// the values of a row.
json members_of(const timed_variants& all);
json not_usable_json(const timed_variants& all);
json kept_json(oracle::promise bound);
json first_members(const timed_variant& row);
json last_members(const timed_variants& all, const timed_variant& row);

}  // namespace fanin::cli
