// SPDX-License-Identifier: Apache-2.0
// Columns of numbers of one table or of several, and the keys of their records.
#pragma once

#include <string>
#include <vector>

#include "cli/input/record_keys.hpp"
#include "cli/input/source.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

struct grouped_column {
  std::string name = {}, heading = {};  ///< see input_column
  element_type type = element_type::f64;
  std::vector<std::byte> bytes = {};     ///< the elements
  std::vector<std::uint64_t> keys = {};  ///< the number of the key of each element
  bool has_numbers = false;              ///< see input_column
  std::uint64_t missing = 0;
  rounded_numbers rounded = {};

  array_view elements() const { return {bytes.data(), bytes.size() / byte_size(type), type}; }
};

/// Memory: 16 bytes for each number, and each distinct key once.
class grouped_table {
 public:
  /// Adds all records of an input, whose keys input_options::by has asked for. @throws bad_data, usage_error if
  /// the columns are other columns than in the inputs before, or if no element type has the numbers of all inputs
  void read(source& input);

  const std::vector<read_input>& inputs() const noexcept { return inputs_; }
  const std::vector<grouped_column>& columns() const noexcept { return columns_; }
  const record_keys& keys() const noexcept { return keys_; }
  const lines_of_inputs& lines() const noexcept { return lines_; }
  /// The delimiter between the fields of the first input.
  char delimiter() const noexcept { return delimiter_; }

 private:
  void check_columns(const source& input) const;
  void append(grouped_column& to, const array_view& block) const;

  std::vector<read_input> inputs_;
  lines_of_inputs lines_;
  std::vector<grouped_column> columns_;
  record_keys keys_;
  char delimiter_ = ',';
};

}  // namespace fanin::cli
