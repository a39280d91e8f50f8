// SPDX-License-Identifier: Apache-2.0
// Groups of device memory whose elements are compared, or are integers of which sums or sums of squares are formed,
// without a sort (group_words.cuh).
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cuda {

class group_words {
 public:
  /// Whether the class reduces these groups on the device.
  static bool serve(const request& request, const batch& groups, const execution& where);

  /// `state_bytes`: the size of a state in which kernels fold the request's elements.
  group_words(const request& request, const batch& groups, std::size_t state_bytes)
      : request_(request), groups_(groups), state_bytes_(state_bytes) {}

  /// The device memory that enqueue() takes.
  std::size_t scratch_bytes() const;
  /// Enqueues the reduction of each group to out.results. @throws device_error
  void enqueue(scratch_pieces& scratch, const execution& where, const batch_output& out) const;

 private:
  struct memory;
  memory take_from(scratch_pieces& scratch) const;

  const request& request_;
  const batch& groups_;
  std::size_t state_bytes_;
};

}  // namespace fanin::cuda
