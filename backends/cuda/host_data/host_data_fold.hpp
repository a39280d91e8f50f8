// SPDX-License-Identifier: Apache-2.0
// The fold of a request's host data, which comes in blocks or as whole arrays, with elements that may be absent.
#pragma once

#include <vector>

#include "backends/cpu/presence.hpp"
#include "backends/cuda/host_data/upload_pipeline.hpp"
#include "backends/cuda/partial_result.hpp"

namespace fanin::cuda {

/// Keeps a reference to the request and to the context, whose device is the calling thread's current one.
class host_data_fold {
 public:
  host_data_fold(const request& request, context& context);

  void push(const input_views& blocks);
  /// Folds whole arrays. Every element takes part, and nothing is pushed before or after.
  void fold_arrays(const input_views& inputs);
  /// Waits for the state of all elements. Call it once, at the end.
  void wait(partial_result& into);

 private:
  void push_all(const input_views& blocks);
  void push_pair(input_views blocks);
  void flush_pair();

  const request& request_;
  upload_pipeline pipeline_;
  cpu::present_blocks present_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> pending_[2];
  std::size_t pending_count_ = 0;
};

}  // namespace fanin::cuda
