// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/runtime/context.hpp"

#include <map>
#include <string>

#include "backends/cuda/runtime/probe.hpp"

namespace fanin::cuda {
namespace {

int checked_device(int device) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (device < 0 || device >= devices) {
    throw invalid_argument("there is no device " + std::to_string(device) + "; this machine has " +
                           std::to_string(devices));
  }
  return device;
}

/// What the device's memory delivers in a cycle of its multiprocessors, by its data sheet.
double memory_bytes_per_cycle(int device) {
  int memory_khz = 0, bus_bits = 0, khz = 0;
  check(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute");
  return khz > 0 ? 2.0 * memory_khz * bus_bits / 8 / khz : 0;
}

/// Memory of the runtime, for contexts whose caller has no allocator. `stream` is the context's.
void* allocate_of_runtime(std::size_t bytes, void* /*stream*/) { return allocate_device(bytes).release(); }
void release_to_runtime(void* memory, void* stream) {
  static_cast<void>(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  const relaxed_capture relaxed;
  static_cast<void>(cudaFree(memory));
}

}  // namespace

context::context(int device, cudaStream_t stream, const device_allocator* from) {
  const relaxed_capture relaxed;
  where_.device = checked_device(device);
  const device_scope here(device);
  check(cudaDeviceGetAttribute(&where_.multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  where_.programmatic = kernels_are_for_90(device);
  if (where_.programmatic) {
    int room = 0;
    check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
    where_.copy_room = static_cast<std::size_t>(room);
  }
  where_.bytes_per_cycle = memory_bytes_per_cycle(device) / where_.multiprocessors;
  int double_ratio = 0;
  check(cudaDeviceGetAttribute(&double_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device),
        "cudaDeviceGetAttribute");
  where_.has_fast_doubles = double_ratio <= 4;
  if (stream == nullptr) own_stream_ = make_stream(cudaStreamDefault);
  where_.stream = stream != nullptr ? stream : own_stream_.get();
  from_ = from != nullptr ? *from : device_allocator{allocate_of_runtime, release_to_runtime, where_.stream};

  // Eight states of the largest size for each multiprocessor: twice what the kernels of `cuda` use.
  where_.scratch_bytes = static_cast<std::size_t>(where_.multiprocessors) * 8 * most_state_bytes;
  scratch_ = allocate(where_.scratch_bytes);
  where_.scratch = scratch_.get();
  constexpr std::size_t between_launches_bytes = 256 + most_state_bytes;
  between_launches_ = allocate(between_launches_bytes);
  where_.ticket = reinterpret_cast<unsigned*>(between_launches_.get());
  where_.grid_total = between_launches_.get() + 256;
  device_states_ = allocate(state_slots * most_state_bytes);
  // A captured memset runs with its graph alone, but memory of the runtime may serve graphs that run earlier.
  const bool captured = is_captured(where_.stream);
  const owned_stream apart = captured && from == nullptr ? make_stream(cudaStreamNonBlocking) : nullptr;
  const cudaStream_t clearing = apart ? apart.get() : where_.stream;
  check(cudaMemsetAsync(between_launches_.get(), 0, between_launches_bytes, clearing), "cudaMemsetAsync");
  // Work of the second stream uses this memory, too.
  if (!captured || apart) check(cudaStreamSynchronize(clearing), "cudaStreamSynchronize");
}

allocated_memory context::allocate(std::size_t bytes) {
  void* const memory = from_.allocate(bytes, from_.user);
  if (memory == nullptr) {
    throw out_of_memory("the context's allocator has no " + std::to_string(bytes) +
                        " bytes left: free some, or choose a CPU backend");
  }
  return {static_cast<std::byte*>(memory), allocator_release{from_}};
}

execution context::with_scratch(std::size_t bytes) {
  if (bytes <= where_.scratch_bytes) return where_;
  const bool captured = is_captured(where_.stream);
  if (bytes > large_scratch_bytes_) {
    large_scratch_bytes_ = 0;
    // During a capture nothing can wait for earlier work that uses the memory.
    if (large_scratch_ && (captured || large_scratch_in_graph_)) kept_scratch_.push_back(std::move(large_scratch_));
    large_scratch_.reset();
    large_scratch_in_graph_ = false;
    large_scratch_ = allocate(bytes);
    large_scratch_bytes_ = bytes;
  }
  large_scratch_in_graph_ = large_scratch_in_graph_ || captured;
  execution enlarged = where_;
  enlarged.scratch = large_scratch_.get();
  enlarged.scratch_bytes = large_scratch_bytes_;
  return enlarged;
}

/// Enqueued work may still use the buffers. A graph that is being captured has memory of the caller's allocator.
context::~context() {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  static_cast<void>(cudaStreamIsCapturing(where_.stream, &capture));
  if (capture == cudaStreamCaptureStatusNone) static_cast<void>(cudaStreamSynchronize(where_.stream));
}

std::byte* context::host_state(std::size_t i) {
  if (!host_states_) host_states_ = allocate_pinned((state_slots + chunk_slots) * most_state_bytes);
  return host_states_.get() + i * most_state_bytes;
}

void context::prepare_chunks() {
  if (copy_stream_) return;
  const device_scope here(where_.device);
  for (std::size_t i = 0; i < chunk_slots; ++i) {
    chunk_slot& slot = chunks_[i];
    slot.copy_begin = make_event();
    slot.copy_end = make_event();
    slot.fold_begin = make_event();
    slot.fold_end = make_event();
    slot.state = host_state(state_slots + i);
  }
  copy_stream_ = make_stream(cudaStreamNonBlocking);
}

std::byte* context::presence_memory() {
  if (!presence_memory_) presence_memory_ = allocate(presence_counts_bytes + presence_bytes);
  return presence_memory_.get();
}

context& default_context(int device) {
  thread_local std::map<int, std::unique_ptr<context>> contexts;
  auto& found = contexts[device];
  if (!found) found = std::make_unique<context>(device);
  return *found;
}

}  // namespace fanin::cuda
