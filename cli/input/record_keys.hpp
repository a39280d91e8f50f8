// SPDX-License-Identifier: Apache-2.0
// The keys of the records of CSV: the text of some of their fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fanin::cli {

/// Numbers the distinct keys in the order in which they appear.
class record_keys {
 public:
  /// The keys have that many fields, from now on.
  void set_fields(std::size_t count) { record_.resize(count); }
  /// Field i of the key of the record at hand.
  void set_field(std::size_t i, std::string_view text) { record_[i] = text; }
  /// The record at hand ends, and has an element if `has_element`.
  void end_record(bool has_element);

  /// The fields of each distinct key.
  const std::vector<std::vector<std::string>>& distinct() const noexcept { return distinct_; }
  /// The number of the key of each element.
  const std::vector<std::uint64_t>& of_elements() const noexcept { return of_elements_; }

 private:
  std::vector<std::string> record_;
  std::string joined_;  ///< the fields of the record at hand, each behind its length
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::vector<std::string>> distinct_;
  std::vector<std::uint64_t> of_elements_;
};

}  // namespace fanin::cli
