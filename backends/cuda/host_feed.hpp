// Host data on its way through a device: chunks are copied and folded at the same time, in a ring of slots.
#pragma once

#include "backends/cuda/context.hpp"

namespace fanin::cuda {

/// Folds host data of any length, in the order in which it comes. One at a time for each context.
class host_feed {
 public:
  host_feed(context& on, const device_fold& kernel, const host_fold& fold, std::size_t element_bytes);
  /// Waits for what is under way.
  ~host_feed();
  host_feed(const host_feed&) = delete;
  host_feed& operator=(const host_feed&) = delete;

  /// Folds an array; it is in use until total(). Pinned memory is copied from where it is, other memory through
  /// pinned buffers that up to `threads` threads fill. @throws out_of_memory, device_error
  void fold_array(const void* data, std::size_t count, unsigned threads);
  /// Folds a block, which is free again on return.
  void push(const void* data, std::size_t count);
  /// The state of everything folded, for host_fold::finish; waits for it.
  const void* total();
  const chain& longest_chain() const noexcept { return way_; }

 private:
  chunk_slot& free_slot();
  void retire(chunk_slot& slot);
  void reserve_staging(chunk_slot& slot, std::size_t bytes);
  void send(chunk_slot& slot, const void* from, std::size_t bytes);

  context& context_;
  const device_fold& kernel_;
  const host_fold& fold_;
  std::size_t element_bytes_;
  state_buffer total_;
  chain way_;
  double merges_in_chunk_ = 0;
  std::uint64_t chunks_ = 0;
  std::size_t next_ = 0;     ///< slot of the ring
  std::size_t pending_ = 0;  ///< bytes that push() has left in the next slot's staging buffer
};

}  // namespace fanin::cuda
