// SPDX-License-Identifier: Apache-2.0
// An exact sum that is kept in a file between runs of the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"

namespace fanin::cli {

/// @throws usage_error if the state would go to standard output, where the value goes
inline void check_state_path(std::string_view path) {
  if (path == "-") throw usage_error("--save-state needs the name of a file; standard output is for the value");
}

/// The operations whose value a state has. These are the operations on the sum of the elements.
inline std::vector<operation> state_operations() {
  std::vector<operation> found;
  for (const operation_row& row : operation_rows) {
    if (row.adds == summand::elements) found.push_back(row.what);
  }
  return found;
}

/// The exact sum of elements whose type is known at run time. docs/exact-format.md describes the file.
class exact_state {
 public:
  /// @throws usage_error if `type` is not a floating-point type
  explicit exact_state(element_type type);
  /// Reads a state from a file; "-" is standard input. @throws bad_data
  static exact_state load(const std::string& path);

  /// f32 or f64. Numbers of 16 bits are added as f32.
  element_type type() const noexcept;
  /// Adds elements of the type with which the state was made, which are in host memory.
  void add(const array_view& elements);
  /// Adds the sum of `other`, whose type() is the same.
  void merge(const exact_state& other);
  /// The sum or the mean, correctly rounded to f32 or f64. @throws invalid_argument for a mean without a count
  scalar rounded(operation what, element_type result) const;
  /// The number of elements, where it is known.
  std::optional<std::uint64_t> count() const;
  /// Writes the state to `file` and commits it. @throws bad_data
  void save(output_file& file) const;

 private:
  std::variant<exact_accumulator<float>, exact_accumulator<double>> sum_;
};

}  // namespace fanin::cli
