// SPDX-License-Identifier: Apache-2.0
// Reductions in one pass over the blocks of inputs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exact_state.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/element_forms.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

/// Several statistics of each column of an input, or of many inputs as if they were one. Every statistic gets each
/// block of a column while a cache has it.
class reduction_pass {
 public:
  /// The statistics have one input each. @throws unsupported if one needs all elements at once
  reduction_pass(std::span<const statistic> statistics, const source& first, const options& chosen);

  /// Adds the elements of an input. The input of the constructor has to be the first. Adds the elements of a
  /// single column to `state` too, unless it is null. @throws bad_data, usage_error if the columns are other
  /// columns than in the first input, or if no element type has the numbers of both
  void read(source& input, exact_state* state);
  /// The statistics of the first column, then the statistics of the second column, ... Call finish() once. @throws
  /// bad_data
  std::vector<finished_reduction> finish();

 private:
  struct column {
    std::string name = {}, heading = {};
    std::uint64_t count = 0, missing = 0;
    bool has_numbers = false;  ///< see input_column
    rounded_numbers rounded = {};
    own_statistics own;
    std::vector<typed_streams<incremental>> streams = {};  ///< one for each operation of the library
  };

  void check_same(const source& input);
  /// A column that has no name, as it is chosen alone, has to be called the same in the headers of all inputs.
  void check_same_headings(const source& input);
  [[noreturn]] void refuse_column(std::size_t which, std::string_view had, std::string_view input,
                                  std::string_view found) const;
  void push(column& to, const array_view& piece);
  [[noreturn]] void refuse_type(element_type had, element_type found) const;

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<statistic> statistics_;
  std::vector<operation> operations_;  ///< the operations of the library
  options chosen_;
  std::vector<read_input> inputs_;
  lines_of_inputs lines_;
  std::vector<column> columns_;
  progress line_{""};
};

}  // namespace fanin::cli
