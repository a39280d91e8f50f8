// SPDX-License-Identifier: Apache-2.0
#include "cli/input/record_keys.hpp"

namespace fanin::cli {

void record_keys::end_record(bool has_element) {
  joined_.clear();
  for (const std::string& field : record_) {
    const std::size_t bytes = field.size();
    joined_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    joined_ += field;
  }
  const auto [place, is_new] = numbers_.try_emplace(joined_, distinct_.size());
  if (is_new) distinct_.push_back(record_);
  if (has_element) of_elements_.push_back(place->second);
}

}  // namespace fanin::cli
