// SPDX-License-Identifier: Apache-2.0
// States of many groups, to which elements are added in the order of the input, whatever their keys.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

/// The groups first, first + 1, ... of a batch. Element i of a group is added to lane i mod lanes of its state.
/// States of complete leaves are merged along the binary tree.
class keyed_states {
 public:
  explicit keyed_states(const arithmetic& loops) noexcept : loops_(loops) {}

  /// Begins with `groups` groups without elements.
  void begin(std::uint64_t first, std::size_t groups);
  /// Writes the results, and returns the number of elements in the largest group.
  std::uint64_t finish(batch_results& results);

  std::uint64_t first() const noexcept { return first_; }
  std::size_t groups() const noexcept { return counts_.size(); }
  std::byte* states() noexcept { return states_; }
  std::uint64_t* counts() noexcept { return counts_.data(); }
  /// Takes the complete leaf of a group from its state, which is empty then.
  void close_leaf(std::size_t group);

 private:
  std::byte* state(std::size_t group) const noexcept { return states_ + group * loops_.state_bytes; }
  void take_last(std::vector<std::byte>& leaves, std::byte* into) const;
  void prepend_last(std::vector<std::byte>& leaves, std::byte* later) const;

  const arithmetic& loops_;
  std::uint64_t first_ = 0;
  state_memory memory_;
  std::byte* states_ = nullptr;
  std::vector<std::uint64_t> counts_;
  std::vector<std::vector<std::byte>> leaves_;  ///< the states of each group's nodes of the tree, later ones last
};

/// Adds elements to their groups. Returns the index of the first element whose key is of no group, or `count`. Such
/// elements are left out, and their number is added to `outside`.
struct keyed_addition {
  std::size_t (*by_u32)(keyed_states& to, const std::uint32_t* keys, const void* x, std::size_t count,
                        std::uint64_t& outside);
  std::size_t (*by_u64)(keyed_states& to, const std::uint64_t* keys, const void* x, std::size_t count,
                        std::uint64_t& outside);

  std::size_t add(keyed_states& to, const std::uint32_t* keys, const void* x, std::size_t count,
                  std::uint64_t& outside) const {
    return by_u32(to, keys, x, count, outside);
  }
  std::size_t add(keyed_states& to, const std::uint64_t* keys, const void* x, std::size_t count,
                  std::uint64_t& outside) const {
    return by_u64(to, keys, x, count, outside);
  }
};

}  // namespace fanin::cpu
