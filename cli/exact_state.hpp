// The exact sum of elements whose type is known at run time, kept in a file between runs of the command.
#pragma once

#include <string>
#include <variant>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/kit/output.hpp"

namespace fanin::cli {

/// The file is what exact_accumulator::save() returns; docs/exact-format.md describes it.
class exact_state {
 public:
  /// @throws usage_error if the elements are not of floating point
  explicit exact_state(element_type type);
  /// @throws bad_data
  static exact_state load(const std::string& path);

  element_type type() const noexcept;
  /// Elements of that type, in host memory.
  void add(const array_view& elements);
  /// `other` sums elements of the same type.
  void merge(const exact_state& other);
  /// The sum, correctly rounded to f32 or f64.
  scalar rounded(element_type result) const;
  /// Writes the file and commits it. @throws bad_data
  void save(output_file& file) const;

 private:
  std::variant<exact_accumulator<float>, exact_accumulator<double>> sum_;
};

}  // namespace fanin::cli
