// SPDX-License-Identifier: Apache-2.0
#include "cli/input/record_keys.hpp"

namespace fanin::cli {

std::uint64_t record_keys::number_of(const key_fields& key) {
  joined_.clear();
  for (const std::string& field : key) {
    const std::size_t bytes = field.size();
    joined_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    joined_ += field;
  }
  const auto [place, is_new] = numbers_.try_emplace(joined_, distinct_.size());
  if (is_new) distinct_.push_back(key);
  return place->second;
}

}  // namespace fanin::cli
