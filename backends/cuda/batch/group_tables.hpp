// SPDX-License-Identifier: Apache-2.0
// Exact sums and means of groups of device memory without a sort: group_sums.cuh says how.
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/batch/group_bins.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cuda {

class group_tables {
 public:
  /// Whether the class reduces these groups on the device.
  static bool serve(const request& request, const batch& groups, const execution& where);

  group_tables(const request& request, const batch& groups, const execution& where);

  /// The device memory that enqueue() takes.
  std::size_t scratch_bytes() const;
  /// Enqueues the reduction of each group to out.results. @throws device_error
  void enqueue(scratch_pieces& scratch, const execution& where, const batch_output& out) const;

 private:
  const request& request_;
  const batch& groups_;
  std::uint32_t most_in_table_;  ///< groups
  bin_map bins_;
  bool counted_;
};

}  // namespace fanin::cuda
