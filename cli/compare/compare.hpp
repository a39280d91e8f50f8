// SPDX-License-Identifier: Apache-2.0
// Comparisons of the sums of the rows, segments or groups of one input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fanin/batch.hpp>

#include "cli/batch/options.hpp"
#include "cli/compare/orders.hpp"
#include "cli/compare/variants.hpp"
#include "cli/input/source.hpp"

namespace fanin::cli {

/// The largest faults of many sums.
struct judged_results {
  double error_ulps = 0;  ///< the largest
  std::size_t worst = 0;  ///< the number of the result that has it
  oracle::promise bound = oracle::promise::kept;
  /// The number of results with the bits of a sum of their elements alone. It is unknown for sums of a device.
  std::optional<std::size_t> alike_alone = 0;
};

/// Sums as other programs form them.
struct loop_row {
  adding_order order;
  judged_results results;
};

struct results_comparison {
  std::string input;
  layout kind = layout::rows;
  std::vector<std::size_t> shape;  ///< the shape of the results
  std::size_t results = 0;
  timed_variants times;
  std::vector<judged_results> rows;  ///< one for each row of `times`
  std::vector<loop_row> loops;       ///< empty for integers
};

/// @throws usage_error, bad_data, fanin::error
results_comparison compare_results(source& input, const batch_options& many, const variant_choice& asked);

std::string as_json(const results_comparison& all);
std::string as_text(const results_comparison& all);

}  // namespace fanin::cli
