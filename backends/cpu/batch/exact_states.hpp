// SPDX-License-Identifier: Apache-2.0
// Exact sums of groups and of columns, in a few words each.
#pragma once

#include "backends/cpu/batch/exact_window.hpp"
#include "backends/cpu/batch/group_states.hpp"

namespace fanin::cpu {

/// States to which rows of elements can be added, too.
class exact_states : public group_states {
 public:
  /// Adds x[r * along + c] to state c, for each r below `rows` and c below `columns`, which is at most groups().
  virtual void add_rows(const void* x, std::ptrdiff_t along, std::size_t rows, std::size_t columns) = 0;
};

/// What a request adds exactly, if it is for exact sums, means, sums of magnitudes and of squares, norms or variances
/// of floats.
std::optional<exact_terms> exact_terms_of(const request& request);

/// The window of such a request for up to `count` elements like those of a sample, which are added by add(), or by
/// add_rows() if `in_columns`. Nothing if more than 1/16 of the sample do not fit, or 1/512 in columns, which are
/// added by whole vectors.
std::optional<exact_window> window_for(const request& request, const std::vector<double>& sample, std::size_t count,
                                       bool in_columns);

/// States for such a request. `window` is from window_for(). Needs round to nearest and no flushing of subnormals.
std::unique_ptr<exact_states> make_exact_states(const request& request, const exact_window& window);

/// Makes such states for groups of x. `make` is empty for other requests, and if window_for() finds nothing.
group_states_factory exact_group_states(const request& request, const array_view& x);

}  // namespace fanin::cpu
