// Host data on its way through a device: memory is filled, copied and folded at the same time, in a ring of chunks.
#pragma once

#include <span>

#include "backends/cuda/runtime/context.hpp"

namespace fanin::cuda {

/// Where kernels can read the array as it lies in pinned host memory, if that takes less time than a copy and a
/// kernel one after the other, and gives the same bits; else null.
const void* worth_reading_from_device(const array_view& input);

/// Folds host data of any length, in the order in which it comes: in chunks that depend on nothing but the position,
/// whatever the pieces that it is copied in. One at a time for each context.
class host_feed {
 public:
  /// `arrays`: how many inputs the kernel reads.
  host_feed(context& context, const device_fold& kernel, std::size_t element_bytes, int arrays);
  /// Waits for what is under way.
  ~host_feed();
  host_feed(const host_feed&) = delete;
  host_feed& operator=(const host_feed&) = delete;

  /// Folds arrays of `count` elements each, before anything is pushed, or after calls that filled chunks. Pinned
  /// memory is copied from where it is and in use until total(); other memory is pushed. @throws out_of_memory,
  /// device_error
  void fold_arrays(std::span<const void* const> arrays, std::size_t count, unsigned threads);
  /// Folds a block, which is free again on return, through pinned memory that up to `threads` threads fill.
  void push(const void* data, std::size_t count, unsigned threads);
  /// The state of everything folded, for host_fold::finish; waits for it.
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
  const device_fold& kernel_;
  std::size_t element_bytes_;
  std::size_t arrays_;  ///< a chunk holds as many elements of each, one after the other
  execution where_;
  cudaStream_t copying_;
  state_buffer total_;
  rounding_chain chain_;
  double merges_in_chunk_ = 0;
  std::uint64_t chunk_ = 0;  ///< the one that is being sent; those before are folded, or will be
  std::size_t sent_ = 0;     ///< its first bytes are on their way
  std::size_t filled_ = 0;   ///< so many that follow are in its pinned memory
};

}  // namespace fanin::cuda
