// SPDX-License-Identifier: Apache-2.0
// Groups as segments. The elements are in the order of their keys, and elements of one group in the order of the
// input.
#pragma once

#include <cstdint>
#include <vector>

#include <fanin/batch.hpp>

#include "backends/cpu/cpu_backend.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

class sorted_elements {
 public:
  /// @throws invalid_argument if a key is of no group and such elements are not to be dropped
  sorted_elements(const cpu_backend& backend, const request& request, const batch& groups);
  /// The sorted elements and their mask, without elements that were dropped.
  input_views inputs() const noexcept { return inputs_; }
  /// The first element of each group, and the end of the last one.
  const std::uint64_t* offsets() const noexcept { return offsets_.data(); }
  /// The position in the input of each sorted element, if results have indices; else null.
  const std::uint64_t* positions() const noexcept { return positions_.empty() ? nullptr : positions_.data(); }

 private:
  input_views inputs_ = array_view();
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> positions_;
  state_memory copies_[most_inputs], mask_;
};

}  // namespace fanin::cpu
