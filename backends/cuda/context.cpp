#include "backends/cuda/context.hpp"

#include <map>
#include <string>

#include "backends/cuda/probe.hpp"

namespace fanin::cuda {
namespace {

int checked_device(int device) {
  const availability& here = probe();
  if (!here.usable()) throw backend_unavailable("backend 'cuda' is not usable here: " + std::string(here.detail));
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (device < 0 || device >= devices) {
    throw invalid_argument("there is no device " + std::to_string(device) + "; this machine has " +
                           std::to_string(devices));
  }
  return device;
}

}  // namespace

context::context(int device, cudaStream_t stream) {
  where_.device = checked_device(device);
  const device_scope here(device);
  check(cudaDeviceGetAttribute(&where_.multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  if (stream == nullptr) own_stream_ = make_stream(cudaStreamDefault);
  where_.stream = stream != nullptr ? stream : own_stream_.get();

  // Room for eight states of any kind for each multiprocessor: twice what a kernel of ours takes.
  where_.scratch_bytes = static_cast<std::size_t>(where_.multiprocessors) * 8 * most_state_bytes;
  scratch_ = allocate_device(where_.scratch_bytes);
  where_.scratch = scratch_.get();
  ticket_ = allocate_device(sizeof(unsigned));
  where_.ticket = reinterpret_cast<unsigned*>(ticket_.get());
  device_states_ = allocate_device(state_slots * most_state_bytes);
  host_states_ = allocate_pinned((state_slots + chunk_slots) * most_state_bytes);
  check(cudaMemset(where_.ticket, 0, sizeof(unsigned)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// Buffers may still be in use by enqueued work.
context::~context() { static_cast<void>(cudaStreamSynchronize(where_.stream)); }

void context::prepare_chunks() {
  if (copy_stream_) return;
  const device_scope here(where_.device);
  for (std::size_t i = 0; i < chunk_slots; ++i) {
    chunk_slot& slot = chunks_[i];
    slot.copy_begun = make_event();
    slot.copied = make_event();
    slot.fold_begun = make_event();
    slot.folded = make_event();
    slot.state = host_state(state_slots + i);
  }
  copy_stream_ = make_stream(cudaStreamNonBlocking);
}

context& default_context(int device) {
  thread_local std::map<int, std::unique_ptr<context>> contexts;
  auto& found = contexts[device];
  if (!found) found = std::make_unique<context>(device);
  return *found;
}

}  // namespace fanin::cuda
