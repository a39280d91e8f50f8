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

using key_fields = std::vector<std::string>;

/// Numbers the distinct keys in the order in which they appear.
class record_keys {
 public:
  /// The fields of the keys have these names, from now on.
  void set_names(std::vector<std::string> names) {
    record_.resize(names.size());
    names_ = std::move(names);
  }
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// Field i of the key of the record at hand.
  void set_field(std::size_t i, std::string_view text) { record_[i] = text; }
  /// The record at hand ends. add_element() adds its elements in the columns.
  void end_record(std::size_t columns) {
    of_elements_.resize(columns);
    last_ = number_of(record_);
  }
  void add_element(std::size_t column) { of_elements_[column].push_back(last_); }

  /// The number of a key, which is new if no record has had it.
  std::uint64_t number_of(const key_fields& key);
  /// The fields of each distinct key.
  const std::vector<key_fields>& distinct() const noexcept { return distinct_; }
  /// The number of the key of each element of a column.
  const std::vector<std::uint64_t>& of_elements(std::size_t column) const { return of_elements_[column]; }

 private:
  std::vector<std::string> names_;
  key_fields record_;
  std::string joined_;  ///< the fields of a key, each behind its length
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<key_fields> distinct_;
  std::uint64_t last_ = 0;  ///< the number of the key of the record that has ended
  std::vector<std::vector<std::uint64_t>> of_elements_;
};

}  // namespace fanin::cli
