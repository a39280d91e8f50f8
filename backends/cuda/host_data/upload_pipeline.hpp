// SPDX-License-Identifier: Apache-2.0
// Folding host data on a device, in chunks that go through a ring of slots: while one chunk is folded, the next is
// copied to the device, and pinned memory is filled for those after it.
#pragma once

#include <span>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// The address at which kernels can read an array in pinned host memory, if that takes less time than a copy followed
/// by a kernel and gives the same bits; else null.
const void* address_for_direct_read(const array_view& input);

/// Folds host data of any length, in the order in which it comes. The bounds of the chunks depend on the position of
/// the elements alone, not on the blocks that are pushed. A context has at most one upload_pipeline at a time.
class upload_pipeline {
 public:
  /// `arrays`: the number of inputs that the kernel reads.
  upload_pipeline(context& context, const kernel_launcher& kernel, std::size_t element_bytes, int arrays);
  /// Waits for copies and kernels that were enqueued.
  ~upload_pipeline();
  upload_pipeline(const upload_pipeline&) = delete;
  upload_pipeline& operator=(const upload_pipeline&) = delete;

  /// Folds arrays of `count` elements each. Call it before the first push(), or after calls that filled whole chunks.
  /// Pinned memory is copied to the device directly, and is in use until total(); other memory is pushed.
  /// @throws out_of_memory, device_error
  void fold_arrays(std::span<const void* const> arrays, std::size_t count, unsigned threads);
  /// Folds a block of `count` elements. Up to `threads` threads copy it to pinned memory, and have done so on return.
  void push(const void* data, std::size_t count, unsigned threads);
  /// Waits for all kernels, and returns the state of all elements, for state_functions::finish.
  const void* total();
  const rounding_chain& longest_chain() const noexcept { return chain_; }

 private:
  chunk_slot& slot_of(std::uint64_t chunk) noexcept { return context_.chunk(chunk % context::chunk_slots); }
  chunk_slot& open(std::uint64_t chunk);
  void retire(chunk_slot& slot);
  void send_pinned(const std::byte* from, std::size_t bytes);
  void send(const std::byte* from, std::size_t bytes);
  void send_filled();
  void fold();

  context& context_;
  const kernel_launcher& kernel_;
  std::size_t element_bytes_;
  std::size_t arrays_;  ///< a chunk has equally many elements of each array, one array after the other
  execution where_;
  cudaStream_t copy_stream_;
  state_buffer total_;
  rounding_chain chain_;
  double merges_in_chunk_ = 0;
  std::uint64_t chunk_ = 0;  ///< the current chunk; the folds of earlier chunks are enqueued
  std::size_t sent_ = 0;     ///< bytes of the current chunk whose copies to the device are enqueued
  std::size_t filled_ = 0;   ///< bytes after these that are in the chunk's pinned memory
};

}  // namespace fanin::cuda
