// SPDX-License-Identifier: Apache-2.0
// The objects of result files. Every error names the object, the key and the fault.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/json.hpp"

namespace fanin::cli::charts {

class record {
 public:
  /// `name` is the object's name in errors, as in "row 3 of 'rows'"; the document itself has none.
  /// @throws bad_data if `value` is not an object
  explicit record(const json& value, std::string name = {});

  /// The values under `key`. @throws bad_data if the key is missing, or its value is of another kind
  std::string text(const char* key) const;
  double number(const char* key) const;
  std::optional<double> number_or_null(const char* key) const;
  record object(const char* key) const;
  std::vector<record> list(const char* key) const;
  std::vector<double> numbers(const char* key) const;

  /// The checked_amount() under `key`. @throws bad_data
  double positive(const char* key) const;
  /// Whether the value under `key` is true. A missing key is false.
  bool flag(const char* key) const;
  bool has(const char* key) const { return value_->contains(key); }

  const json& value() const { return *value_; }
  [[noreturn]] void fail(std::string_view problem) const;

 private:
  const json& at(const char* key) const;

  const json* value_;
  std::string name_;
};

/// The objects of a list. `name` is the list's name in errors. @throws bad_data if `values` is not a list of objects
std::vector<record> records_of(const json& values, std::string_view name);

}  // namespace fanin::cli::charts
