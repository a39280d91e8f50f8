// SPDX-License-Identifier: Apache-2.0
// Memory and streams that calls on one device and stream share. Not thread-safe: each thread has its own.
#pragma once

#include <vector>

#include <fanin/device.hpp>

#include "backends/cuda/runtime/copy_crew.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"
#include "base/cuda/handles.hpp"

namespace fanin::cuda {

/// Host data is copied to the device in chunks of this size, on which the order of additions depends.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 24;

/// A slot for one chunk of host data: pinned memory to fill and device memory to copy to, of chunk_bytes each, which
/// are allocated at the first use, the events of its copy and its fold, and the state that the kernel writes.
struct chunk_slot {
  pinned_memory staging;
  device_memory arrived;
  owned_event copy_begin, copy_end, fold_begin, fold_end;
  std::byte* state = nullptr;  ///< in pinned memory
  bool busy = false;           ///< a fold is enqueued, and its state not yet merged
};

/// Device memory of an allocator.
struct allocator_release {
  device_allocator from{};
  void operator()(std::byte* memory) const noexcept { from.release(memory, from.user); }
};
using allocated_memory = std::unique_ptr<std::byte, allocator_release>;

class context {
 public:
  /// The workspace is memory of `from`, or if it is null, of the runtime. The constructor may run while the stream is
  /// being captured. @throws backend_unavailable, invalid_argument, out_of_memory, device_error
  explicit context(int device, cudaStream_t stream = nullptr, const device_allocator* from = nullptr);
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  const execution& where() const noexcept { return where_; }
  /// where(), with at least `bytes` of scratch. More than the context has from the start is separate memory, which is
  /// allocated anew to grow. Memory that a captured graph uses stays until the context ends.
  /// @throws out_of_memory, device_error
  execution with_scratch(std::size_t bytes);

  static constexpr std::size_t state_slots = 64;
  /// State i of `state_slots` in pinned memory, which the first call allocates, and in device memory.
  std::byte* host_state(std::size_t i);
  std::byte* device_state(std::size_t i) const noexcept { return device_states_.get() + i * most_state_bytes; }

  /// One chunk is folded, one is copied to the device, and two are filled, so that copies do not wait for filled
  /// memory.
  static constexpr std::size_t chunk_slots = 4;
  /// Creates the copy stream and the events of the slots, at the first call.
  void prepare_chunks();
  chunk_slot& chunk(std::size_t i) noexcept { return chunks_[i]; }
  cudaStream_t copy_stream() const noexcept { return copy_stream_.get(); }
  copy_crew& crew() noexcept { return crew_; }

  /// Device memory for copies of elements with stand-ins: `presence_counts_bytes` for counts, then `presence_bytes`
  /// for elements. The first call allocates it. @throws out_of_memory, device_error
  std::byte* presence_memory();
  /// 64 bytes of device memory for what kernels of a batch find out.
  std::byte* batch_status_memory() const noexcept { return between_launches_.get() + 128; }
  std::uint64_t batches = 0;  ///< that were enqueued
  static constexpr std::size_t presence_counts_bytes = 256, presence_bytes = std::size_t{1} << 25;

  device_times times;

 private:
  allocated_memory allocate(std::size_t bytes);

  execution where_;
  device_allocator from_{};
  std::size_t large_scratch_bytes_ = 0;
  bool large_scratch_in_graph_ = false;
  owned_stream own_stream_, copy_stream_;
  allocated_memory between_launches_, scratch_, large_scratch_, device_states_, presence_memory_;
  std::vector<allocated_memory> kept_scratch_;  ///< of captured graphs, and of work before a capture
  pinned_memory host_states_;
  chunk_slot chunks_[chunk_slots];
  copy_crew crew_;
};

/// The calling thread's context for a device, which the first call creates.
context& default_context(int device);

}  // namespace fanin::cuda
