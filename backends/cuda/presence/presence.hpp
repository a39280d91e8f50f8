// SPDX-License-Identifier: Apache-2.0
// Elements of device memory that do not take part: folds read copies, part by part, in which others stand for them.
#pragma once

#include "backends/cuda/presence/presence_counts.hpp"
#include "backends/cuda/runtime/context.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {

/// Copies of a request's inputs in the memory of a context, one part at a time. They have as many elements as the
/// inputs: first the inputs' elements from counts()->first on, with stand-ins for absent ones, then stand-ins.
class present_copies {
 public:
  /// Enqueues the search for the element that stands for others, where there is one.
  /// @throws unsupported if the type has no stand-in (presence_rule.hpp), out_of_memory, device_error
  present_copies(const request& request, context& context);

  /// The most elements of a part.
  std::uint64_t longest() const noexcept { return longest_; }
  /// Enqueues the copy of the elements begin, ..., begin + count - 1, in place of the part before. Adds the number
  /// of elements that take part to counts()->present. @throws device_error
  operands enqueue(std::uint64_t begin, std::uint64_t count);
  /// The counts in device memory, which are complete when every part is copied.
  const presence_counts* counts() const noexcept { return counts_; }
  /// Waits for the work on the stream, and returns the counts. @throws device_error
  presence_counts fetch_counts() const;
  const presence_rule& rule() const noexcept { return rule_; }

 private:
  input_views inputs_;
  presence_rule rule_;
  context& context_;
  presence_counts* counts_;
  std::byte* copies_;
  std::uint64_t longest_;
};

}  // namespace fanin::cuda
