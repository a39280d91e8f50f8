// SPDX-License-Identifier: Apache-2.0
// The kernels of a batch and their memory: those that fold elements to states, and those that make results of states.
#pragma once

#include <optional>
#include <span>

#include "backends/cuda/batch/batch_request.hpp"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cuda {

/// An operation whose results are made of the states of a batch.
struct batch_end {
  request what;
  batch_output out;
};

/// Whether results of `other` can be made of the states of `leader`, which folds the same batch. The states of
/// measures of dispersion serve all of them, and the exact states of floats serve sums and means too.
bool ends_states_of(const request& leader, const request& other);

/// A batch that is folded, by kernels for its layout. Groups are sorted into segments first.
class batch_run {
 public:
  /// The kernels fold elements_of() the first one of the operations `ends`. ends_states_of() holds for the others.
  /// The batch and the ends have to outlive this.
  batch_run(std::span<batch_end> ends, const batch& many, const batch_elements& elements);

  /// Takes the memory for states. Without memory, `scratch` learns how many bytes that is.
  void take(scratch_pieces& scratch, const execution& where);
  /// The bytes that enqueue() takes besides.
  std::size_t sort_bytes() const { return sort_ ? sort_->scratch_bytes() : 0; }
  /// Enqueues the kernels. The results of each end have memory. @throws device_error
  void enqueue(scratch_pieces& scratch, const execution& where);

 private:
  /// The memory for the states of chunks, and for the numbers of their elements. States of exact accumulators replace
  /// the states that do not fit.
  struct chunk_memory {
    std::byte* states;
    std::uint64_t* present;
    std::byte* exact_states;
  };
  chunk_memory take_chunks(scratch_pieces& scratch, std::size_t chunks, std::size_t exact_chunks) const;
  void enqueue_part(std::uint64_t begin, const execution& where, const execution& of_kernel);
  void enqueue_long(const execution& where, const execution& of_kernel);
  void enqueue_ends(const batch_elements& some, const batch_output& with_states, const execution& where) const;

  std::span<batch_end> ends_;
  const batch& many_;
  const kernel_launcher& kernel_;
  batch_fold fold_;
  batch_elements all_;
  bool lines_;               ///< elements of a result lie one after another, and all take part
  bool has_short_;           ///< short segments have a kernel of their own
  bool has_long_;            ///< segments may be left to a second launch
  bool is_direct_;           ///< results are finished where their states are formed
  bool merges_long_;         ///< the second launch finishes its results too
  std::uint64_t most_long_;  ///< the most segments that are left
  std::uint64_t part_;       ///< the results whose states are formed at once
  std::uint64_t finished_;   ///< the results of a part that are finished at once
  std::optional<group_sort> sort_;
  chunk_memory memory_{}, memory_of_long_{};
  std::size_t kernel_scratch_bytes_;
  std::byte* kernel_scratch_ = nullptr;
};

}  // namespace fanin::cuda
