// What calls on one device and stream share. Not thread-safe: one for each thread.
#pragma once

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/copy_crew.hpp"
#include "backends/cuda/runtime/device_fold.hpp"
#include "backends/cuda/runtime/handles.hpp"

namespace fanin::cuda {

/// Host data crosses in chunks of this size, which are part of the order of additions.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 24;

/// One chunk on its way: pinned memory to fill and device memory to copy to, chunk_bytes each and made at first need;
/// the state that comes back.
struct chunk_slot {
  pinned_memory staging;
  device_memory arrived;
  owned_event copy_begun, copied, fold_begun, folded;
  std::byte* state = nullptr;  ///< pinned
  bool busy = false;
};

class context {
 public:
  /// @throws backend_unavailable, invalid_argument, out_of_memory, device_error
  explicit context(int device, cudaStream_t stream = nullptr);
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  const execution& where() const noexcept { return where_; }
  /// where(), with as much scratch at least: more than there is from the start is memory that moves when it grows,
  /// after waiting for what uses it. @throws out_of_memory, device_error
  execution with_scratch(std::size_t bytes);

  static constexpr std::size_t state_slots = 64;
  /// Pinned memory for the states of kernels; and device memory for as many.
  std::byte* host_state(std::size_t i) const noexcept { return host_states_.get() + i * most_state_bytes; }
  std::byte* device_state(std::size_t i) const noexcept { return device_states_.get() + i * most_state_bytes; }

  /// One is being folded, one copied; memory for two is being filled, so that the copies never wait for it.
  static constexpr std::size_t chunk_slots = 4;
  /// Makes the stream and the events that copies need, at the first call.
  void prepare_chunks();
  chunk_slot& chunk(std::size_t i) noexcept { return chunks_[i]; }
  cudaStream_t copy_stream() const noexcept { return copy_stream_.get(); }
  copy_crew& crew() noexcept { return crew_; }

  device_times times;

 private:
  execution where_;
  std::size_t more_scratch_bytes_ = 0;
  owned_stream own_stream_, copy_stream_;
  device_memory between_launches_, scratch_, more_scratch_, device_states_;
  pinned_memory host_states_;
  chunk_slot chunks_[chunk_slots];
  copy_crew crew_;
};

/// The calling thread's own context for a device, made at the first call and kept.
context& default_context(int device);

}  // namespace fanin::cuda
