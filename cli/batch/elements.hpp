// SPDX-License-Identifier: Apache-2.0
// The elements of each result of a batch by itself, for what judges results one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fanin/batch.hpp>

namespace fanin::cli {

/// A batch of host memory without a mask, whose offsets ascend.
/// Memory: the elements of one result, and for groups 8 bytes for each element and each group.
class batch_elements {
 public:
  explicit batch_elements(const batch& many);

  std::size_t size() const noexcept { return many_.result_count; }
  /// The elements of a result in their order. If there are two inputs, the elements of the second input follow the
  /// elements of the first. The view is valid until the next call.
  array_view of(std::size_t result);
  /// The places in the input of the elements that of() has returned.
  const std::vector<std::size_t>& places() const noexcept { return places_; }

 private:
  void find_places(std::size_t result);

  batch many_;
  std::vector<std::uint64_t> begins_;  ///< where each segment or group begins, and the last one ends
  std::vector<std::size_t> by_key_;    ///< the places of the elements of groups
  std::vector<std::size_t> places_;
  std::vector<std::byte> copies_;
};

}  // namespace fanin::cli
