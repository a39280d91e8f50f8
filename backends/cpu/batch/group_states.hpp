// SPDX-License-Identifier: Apache-2.0
// The states of many groups, to which elements are added in the order of the input, whatever their groups.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "backends/cpu/batch/keyed_terms.hpp"
#include "backends/cpu/batch/results.hpp"

namespace fanin::cpu {

/// The states of the groups 0 to groups() - 1, and two more: `outside` has the elements whose key is no group number,
/// and `absent` has those that a mask or their value leaves out.
class group_states {
 public:
  group_states() = default;
  group_states(const group_states&) = delete;
  group_states& operator=(const group_states&) = delete;
  virtual ~group_states() = default;

  /// Begins with states of no elements.
  void begin(std::size_t groups) {
    groups_ = groups;
    reset(groups + 2);
  }
  std::size_t groups() const noexcept { return groups_; }
  std::uint32_t outside() const noexcept { return static_cast<std::uint32_t>(groups_); }
  std::uint32_t absent() const noexcept { return outside() + 1; }

  /// Adds the term x[i] to the state group[i], for each i below `count`. x[0] has the position `first` in the input.
  virtual void add(const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first) = 0;
  /// The number of elements that were added to a state.
  virtual std::uint64_t count(std::uint32_t group) const = 0;
  /// Writes result first_result + g for each group g from `begin` up to `end`, of the elements in these states and in
  /// `others`. Returns the number of elements in the largest of the groups.
  virtual std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                               std::span<const std::unique_ptr<group_states>> others) = 0;

 protected:
  virtual void reset(std::size_t states) = 0;

 private:
  std::size_t groups_ = 0;
};

/// Makes the states for a request. `make` is empty if the elements are sorted by key instead.
struct group_states_factory {
  std::size_t state_bytes = 0;
  term_kind terms = term_kind::elements;
  std::function<std::unique_ptr<group_states>()> make;
};

}  // namespace fanin::cpu
