// SPDX-License-Identifier: Apache-2.0
// The reduction of a batch that is in memory.
#pragma once

#include <span>
#include <string>

#include <fanin/batch.hpp>

#include "cli/batch/value_list.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

struct finished_batch {
  finished_reduction done;  ///< without a value
  value_list values;
};

/// Warns on stderr once for each column of which numbers were rounded when they were read.
void warn_of_rounding(std::span<const finished_batch> all);

/// `begun` has the operation and what was read. `place` is for messages about the elements. Integers of
/// text whose type was inferred are taken as f64 where the operation is not for integers.
/// @throws bad_data, invalid_argument, unsupported
finished_batch reduce_batch(finished_reduction begun, const batch& many, const options& chosen,
                            const std::string& place);

}  // namespace fanin::cli
