// SPDX-License-Identifier: Apache-2.0
// Results of one operation, one after another, whose form and type are known at run time only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <fanin/batch.hpp>
#include <fanin/result.hpp>

#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"

namespace fanin::cli {

class value_list {
 public:
  /// Memory for `count` results of `what` whose numbers are of `type`.
  value_list(operation what, element_type type, std::size_t count);

  results_view view() noexcept;
  std::size_t size() const noexcept { return count_; }
  element_type type() const noexcept { return type_; }
  scalar operator[](std::size_t i) const;
  /// Sets result i to a result of the same operation and type.
  void set(std::size_t i, const scalar& value) noexcept;

  /// The members "values", of extremes "min" and "max", of indexed results "indices" too, and "values_text".
  json members() const;
  /// Writes the results as an array of that shape: numbers, or of indexed results the indices, as i64. Commits
  /// the file. @throws bad_data
  void save(output_file& file, std::span<const std::size_t> shape) const;

 private:
  operation what_;
  element_type type_;
  std::size_t count_, width_;
  std::vector<std::byte> bytes_;
};

}  // namespace fanin::cli
