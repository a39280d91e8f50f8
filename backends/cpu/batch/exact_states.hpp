// SPDX-License-Identifier: Apache-2.0
// Exact sums of groups, in a few words each.
#pragma once

#include "backends/cpu/batch/group_states.hpp"

namespace fanin::cpu {

/// The states for exact sums, means, sums of magnitudes and of squares, norms and variances. `make` is empty if the
/// request is another one, or if a sample of the elements says that more than 1/16 of them would not fit in the
/// words. Needs round to nearest and no flushing of subnormals.
group_states_factory exact_states(const request& request, const array_view& x);

}  // namespace fanin::cpu
