// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/keyed_states.hpp"

#include <algorithm>

namespace fanin::cpu {

void keyed_states::begin(std::uint64_t first, std::size_t groups) {
  first_ = first;
  counts_.assign(groups, 0);
  if (loops_.fixed_order()) leaves_.resize(groups);
  states_ = memory_.get(groups * loops_.state_bytes);
  if (groups == 0) return;
  loops_.reset(states_);
  for (std::size_t g = 1; g < groups; ++g) std::copy_n(states_, loops_.state_bytes, state(g));
}

void keyed_states::take_last(std::vector<std::byte>& leaves, std::byte* into) const {
  std::copy_n(leaves.end() - static_cast<std::ptrdiff_t>(loops_.state_bytes), loops_.state_bytes, into);
  leaves.resize(leaves.size() - loops_.state_bytes);
}

/// Merges `later` into the last of the leaves, and takes that.
void keyed_states::prepend_last(std::vector<std::byte>& leaves, std::byte* later) const {
  state_buffer both;
  take_last(leaves, both.bytes);
  loops_.merge(both.bytes, later);
  std::copy_n(both.bytes, loops_.state_bytes, later);
}

void keyed_states::close_leaf(std::size_t group) {
  std::vector<std::byte>& leaves = leaves_[group];
  std::byte* const leaf = state(group);
  for (std::uint64_t n = counts_[group] / loops_.leaf_elements; n % 2 == 0; n /= 2) prepend_last(leaves, leaf);
  leaves.insert(leaves.end(), leaf, leaf + loops_.state_bytes);
  loops_.reset(leaf);
}

std::uint64_t keyed_states::finish(batch_results& results) {
  std::uint64_t longest = 0;
  for (std::size_t g = 0; g < groups(); ++g) {
    const std::uint64_t count = counts_[g];
    if (loops_.fixed_order()) {
      std::vector<std::byte>& leaves = leaves_[g];
      if (count % loops_.leaf_elements == 0 && !leaves.empty()) take_last(leaves, state(g));
      while (!leaves.empty()) prepend_last(leaves, state(g));
    }
    results.finish(static_cast<std::size_t>(first_) + g, count, count, state(g));
    longest = std::max(longest, count);
  }
  return longest;
}

}  // namespace fanin::cpu
