// SPDX-License-Identifier: Apache-2.0
// log_sum_exp of groups, whose elements are added one after another. An element is near if its magnitude is at most
// accumulator::most_near. A group has the sum of the exponentials of its near elements, and a state of log_sum for
// all others. docs/numerics.md has the error bound.
#pragma once

#include "backends/cpu/batch/group_states.hpp"
#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// Makes `f`, the arithmetic of log_sum_exp of elements of a type, that of groups.
void add_log_sums_in_order(element_type type, arithmetic& f);

/// The states of log_sum_exp for elements of a type.
group_states_factory log_sum_states(element_type type);

}  // namespace fanin::cpu
