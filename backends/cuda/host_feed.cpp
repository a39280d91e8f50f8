#include "backends/cuda/host_feed.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "backends/leaf/environment.hpp"
#include "backends/threads.hpp"

namespace fanin::cuda {
namespace {

bool is_pinned(const void* data, std::size_t bytes) {
  const auto pinned = [](const void* p) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, p), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeHost;
  };
  return pinned(data) && pinned(static_cast<const std::byte*>(data) + bytes - 1);
}

/// One thread cannot read memory as fast as the bus takes it.
void copy(std::byte* to, const std::byte* from, std::size_t bytes, unsigned threads) {
  constexpr std::size_t worth_a_thread = std::size_t{1} << 21;
  const std::size_t parts = std::clamp<std::size_t>(bytes / worth_a_thread, 1, std::min(threads, 8u));
  const auto copy_part = [=](std::size_t i) {
    const std::size_t begin = bytes * i / parts;
    std::memcpy(to + begin, from + begin, bytes * (i + 1) / parts - begin);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < parts; ++i) {
    others.emplace_back([=] {
      unbind_this_thread();
      copy_part(i);
    });
  }
  copy_part(0);
}

double seconds_between(const owned_event& begin, const owned_event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds / 1000.0;
}

/// Sizes grow in steps of two, so that a context soon has what it needs.
std::size_t buffer_bytes(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{1} << 16;
  return std::clamp(std::bit_ceil(bytes), least, chunk_bytes);
}

}  // namespace

host_feed::host_feed(context& on, const device_fold& kernel, const host_fold& fold, std::size_t element_bytes)
    : context_(on), kernel_(kernel), fold_(fold), element_bytes_(element_bytes) {
  fold_.reset(total_.bytes);
  context_.prepare_chunks();
  context_.times = {};
}

host_feed::~host_feed() {
  static_cast<void>(cudaStreamSynchronize(context_.copy_stream()));
  for (std::size_t i = 0; i < context::chunk_slots; ++i) {
    chunk_slot& slot = context_.chunk(i);
    if (slot.busy) static_cast<void>(cudaEventSynchronize(slot.folded.get()));
    slot.busy = false;
  }
}

void host_feed::fold_array(const void* data, std::size_t count, unsigned threads) {
  if (count == 0) return;
  const auto* from = static_cast<const std::byte*>(data);
  std::size_t left = count * element_bytes_;
  const bool pinned = is_pinned(data, left);
  while (left > 0) {
    const std::size_t bytes = std::min(left, chunk_bytes);
    chunk_slot& slot = free_slot();
    if (!pinned) {
      reserve_staging(slot, bytes);
      copy(slot.staging.get(), from, bytes, threads);
    }
    send(slot, pinned ? from : slot.staging.get(), bytes);
    from += bytes;
    left -= bytes;
  }
}

void host_feed::push(const void* data, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(data);
  std::size_t left = count * element_bytes_;
  while (left > 0) {
    chunk_slot& slot = pending_ == 0 ? free_slot() : context_.chunk(next_);
    reserve_staging(slot, chunk_bytes);
    const std::size_t bytes = std::min(left, chunk_bytes - pending_);
    std::memcpy(slot.staging.get() + pending_, from, bytes);
    pending_ += bytes;
    from += bytes;
    left -= bytes;
    if (pending_ == chunk_bytes) {
      pending_ = 0;
      send(slot, slot.staging.get(), chunk_bytes);
    }
  }
}

const void* host_feed::total() {
  if (pending_ > 0) {
    chunk_slot& slot = context_.chunk(next_);
    send(slot, slot.staging.get(), std::exchange(pending_, 0));
  }
  for (std::size_t i = 0; i < context::chunk_slots; ++i) free_slot(), next_ = (next_ + 1) % context::chunk_slots;
  return total_.bytes;
}

chunk_slot& host_feed::free_slot() {
  chunk_slot& slot = context_.chunk(next_);
  if (slot.busy) retire(slot);
  return slot;
}

void host_feed::retire(chunk_slot& slot) {
  check(cudaEventSynchronize(slot.folded.get()), "waiting for a chunk");
  slot.busy = false;
  context_.times.copy_seconds += seconds_between(slot.copy_begun, slot.copied);
  context_.times.kernel_seconds += seconds_between(slot.fold_begun, slot.folded);
  const leaf::environment_guard guard;
  fold_.merge(total_.bytes, slot.state);
}

void host_feed::reserve_staging(chunk_slot& slot, std::size_t bytes) {
  if (slot.staging_bytes >= bytes) return;
  slot.staging.reset();
  slot.staging_bytes = 0;
  slot.staging = allocate_pinned(buffer_bytes(bytes));
  slot.staging_bytes = buffer_bytes(bytes);
}

void host_feed::send(chunk_slot& slot, const void* from, std::size_t bytes) {
  const execution& where = context_.where();
  const cudaStream_t copying = context_.copy_stream();
  if (slot.arrived_bytes < bytes) {
    slot.arrived.reset();
    slot.arrived_bytes = 0;
    slot.arrived = allocate_device(buffer_bytes(bytes));
    slot.arrived_bytes = buffer_bytes(bytes);
  }
  const std::size_t count = bytes / element_bytes_;
  check(cudaEventRecord(slot.copy_begun.get(), copying), "cudaEventRecord");
  check(cudaMemcpyAsync(slot.arrived.get(), from, bytes, cudaMemcpyHostToDevice, copying), "cudaMemcpyAsync");
  check(cudaEventRecord(slot.copied.get(), copying), "cudaEventRecord");
  check(cudaStreamWaitEvent(where.stream, slot.copied.get(), 0), "cudaStreamWaitEvent");
  check(cudaEventRecord(slot.fold_begun.get(), where.stream), "cudaEventRecord");
  kernel_.launch(where, slot.arrived.get(), count, slot.state);
  check(cudaEventRecord(slot.folded.get(), where.stream), "cudaEventRecord");
  slot.busy = true;
  next_ = (next_ + 1) % context::chunk_slots;

  const chain own = kernel_.longest_chain(where, count);
  way_.adds = std::max(way_.adds, own.adds);
  merges_in_chunk_ = std::max(merges_in_chunk_, own.merges);
  way_.merges = merges_in_chunk_ + static_cast<double>(++chunks_);
}

}  // namespace fanin::cuda
