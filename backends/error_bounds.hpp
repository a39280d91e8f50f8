// SPDX-License-Identifier: Apache-2.0
// Bounds that are computed for one input: options::bound.
#pragma once

#include <functional>
#include <string_view>

#include <fanin/fanin.hpp>

namespace fanin {

using reduce_function =
    std::function<report(operation, const input_views&, const result_view&, const options& chosen)>;

/// Calls `reduce` without options::bound, and computes the bound of the report by further reductions with `reduce`,
/// on a backend that has the method exact: `backend` is the name for that.
report reduce_with_bound(operation what, const input_views& inputs, const result_view& value, options chosen,
                         std::string_view backend, const reduce_function& reduce);

}  // namespace fanin
