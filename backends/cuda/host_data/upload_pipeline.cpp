// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/host_data/upload_pipeline.hpp"

#include <algorithm>
#include <utility>

namespace fanin::cuda {
namespace {

/// The number of chunks that are copied to the device or filled. Meanwhile the chunk in the remaining slot is
/// folded.
constexpr std::uint64_t chunks_ahead = context::chunk_slots - 1;
static_assert(chunks_ahead * chunk_bytes <= copy_crew::most_pieces * copy_crew::piece_bytes);

/// Fewer bytes are copied sooner by the calling thread than by threads that have to be woken.
constexpr std::size_t least_bytes_for_helpers = std::size_t{1} << 20;

/// The device's address of pinned host memory; null for other memory.
const void* device_address_of_pinned(const void* data, std::size_t bytes) {
  const auto attributes_of = [](const void* p) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, p), "cudaPointerGetAttributes");
    return attributes;
  };
  const auto is_pinned = [](const cudaPointerAttributes& a) { return a.type == cudaMemoryTypeHost; };
  const cudaPointerAttributes first = attributes_of(data);
  const bool all = is_pinned(first) && is_pinned(attributes_of(static_cast<const std::byte*>(data) + bytes - 1));
  return all ? first.devicePointer : nullptr;
}

double seconds_between(const owned_event& begin, const owned_event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds / 1000.0;
}

}  // namespace

const void* address_for_direct_read(const array_view& input) {
  constexpr std::size_t most_bytes = std::size_t{1} << 23;
  if (input.count == 0 || input.bytes() > most_bytes) return nullptr;
  const void* const address = device_address_of_pinned(input.data, input.bytes());
  return reinterpret_cast<std::uintptr_t>(address) % 128 == 0 ? address : nullptr;
}

upload_pipeline::upload_pipeline(context& context, const kernel_launcher& kernel, std::size_t element_bytes,
                                 int arrays)
    : context_(context),
      kernel_(kernel),
      element_bytes_(element_bytes),
      arrays_(static_cast<std::size_t>(arrays)),
      where_(context.with_scratch(kernel.scratch_bytes(context.where(), chunk_bytes / element_bytes))) {
  kernel_.host().reset(total_.bytes);
  context_.prepare_chunks();
  context_.times = {};
  copy_stream_ = context_.copy_stream();
}

upload_pipeline::~upload_pipeline() {
  static_cast<void>(cudaStreamSynchronize(copy_stream_));
  for (std::size_t i = 0; i < context::chunk_slots; ++i) {
    chunk_slot& slot = context_.chunk(i);
    if (slot.busy) static_cast<void>(cudaEventSynchronize(slot.fold_end.get()));
    slot.busy = false;
  }
}

void upload_pipeline::fold_arrays(std::span<const void* const> arrays, std::size_t count, unsigned threads) {
  if (count == 0) return;
  const std::size_t bytes = count * element_bytes_;
  // A single chunk overlaps with nothing: its copy and its kernel can be in one stream.
  if (arrays_ * bytes <= chunk_bytes) copy_stream_ = context_.where().stream;
  const bool pinned =
      std::ranges::all_of(arrays, [&](const void* data) { return device_address_of_pinned(data, bytes) != nullptr; });
  const std::size_t most = arrays_ == 1 ? bytes : chunk_bytes / arrays_;
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    const std::size_t length = std::min(most, bytes - begin);
    for (const void* array : arrays) {
      const std::byte* const from = static_cast<const std::byte*>(array) + begin;
      if (pinned) {
        send_pinned(from, length);
      } else {
        push(from, length / element_bytes_, threads);
      }
    }
  }
}

void upload_pipeline::push(const void* data, std::size_t count, unsigned threads) {
  const auto* from = static_cast<const std::byte*>(data);
  std::size_t remaining = count * element_bytes_;
  copy_crew& crew = context_.crew();
  const struct canceller {
    copy_crew& crew;
    ~canceller() { crew.cancel(); }
  } cancel_on_exit{crew};
  crew.set_threads(remaining < least_bytes_for_helpers ? 1 : threads);

  std::uint64_t chunk = chunk_;
  std::size_t begin = sent_ + filled_;
  for (;;) {
    for (; remaining > 0 && chunk < chunk_ + chunks_ahead; ++chunk, begin = 0) {
      chunk_slot& slot = begin == 0 ? open(chunk) : slot_of(chunk);
      if (!slot.staging) slot.staging = allocate_pinned(chunk_bytes);
      const std::size_t bytes = std::min(remaining, chunk_bytes - begin);
      crew.add(slot.staging.get() + begin, from, bytes);
      from += bytes;
      remaining -= bytes;
    }
    const std::size_t bytes = crew.finish_next();
    if (bytes == 0) return;
    filled_ += bytes;
    const bool enough_to_send = filled_ >= std::max(copy_crew::piece_bytes, sent_ / 4);
    if (sent_ + filled_ == chunk_bytes || (enough_to_send && !crew.next_is_done())) send_filled();
  }
}

const void* upload_pipeline::total() {
  if (filled_ > 0) send_filled();
  if (sent_ > 0) fold();
  for (std::size_t i = 0; i < context::chunk_slots; ++i) {
    chunk_slot& slot = slot_of(chunk_ + i);
    if (slot.busy) retire(slot);
  }
  return total_.bytes;
}

/// Waits until the chunk's slot is free, and returns the slot.
chunk_slot& upload_pipeline::open(std::uint64_t chunk) {
  chunk_slot& slot = slot_of(chunk);
  if (slot.busy) retire(slot);
  if (!slot.arrived) slot.arrived = allocate_device(chunk_bytes);
  return slot;
}

/// Waits for the fold of the slot's chunk, and merges its state.
void upload_pipeline::retire(chunk_slot& slot) {
  check(cudaEventSynchronize(slot.fold_end.get()), "waiting for a chunk");
  slot.busy = false;
  context_.times.copy_seconds += seconds_between(slot.copy_begin, slot.copy_end);
  context_.times.kernel_seconds += seconds_between(slot.fold_begin, slot.fold_end);
  kernel_.host().merge_partial(total_.bytes, slot.state);
}

/// Copies pinned memory to the device directly.
void upload_pipeline::send_pinned(const std::byte* from, std::size_t remaining) {
  while (remaining > 0) {
    const std::size_t bytes = std::min(remaining, chunk_bytes - sent_);
    if (sent_ == 0) open(chunk_);
    send(from, bytes);
    from += bytes;
    remaining -= bytes;
  }
}

/// Enqueues the copy of the chunk's next bytes, and folds the chunk when it is full.
void upload_pipeline::send(const std::byte* from, std::size_t bytes) {
  const chunk_slot& slot = slot_of(chunk_);
  if (sent_ == 0) check(cudaEventRecord(slot.copy_begin.get(), copy_stream_), "cudaEventRecord");
  check(cudaMemcpyAsync(slot.arrived.get() + sent_, from, bytes, cudaMemcpyHostToDevice, copy_stream_),
        "cudaMemcpyAsync");
  sent_ += bytes;
  if (sent_ == chunk_bytes) fold();
}

void upload_pipeline::send_filled() { send(slot_of(chunk_).staging.get() + sent_, std::exchange(filled_, 0)); }

/// Enqueues the fold of the current chunk, which has sent_ bytes, and goes on to the next chunk.
void upload_pipeline::fold() {
  const execution& where = where_;
  chunk_slot& slot = slot_of(chunk_);
  const std::size_t count = sent_ / (arrays_ * element_bytes_);
  const std::byte* const x = slot.arrived.get();
  check(cudaEventRecord(slot.copy_end.get(), copy_stream_), "cudaEventRecord");
  check(cudaStreamWaitEvent(where.stream, slot.copy_end.get(), 0), "cudaStreamWaitEvent");
  check(cudaEventRecord(slot.fold_begin.get(), where.stream), "cudaEventRecord");
  const std::uint64_t first = chunk_ * (chunk_bytes / (arrays_ * element_bytes_));
  kernel_.launch(where, {x, arrays_ > 1 ? x + count * element_bytes_ : nullptr, first}, count, slot.state);
  check(cudaEventRecord(slot.fold_end.get(), where.stream), "cudaEventRecord");
  slot.busy = true;
  sent_ = 0;
  ++chunk_;

  const rounding_chain kernel_chain = kernel_.longest_chain(where, count);
  chain_.adds = std::max(chain_.adds, kernel_chain.adds);
  merges_in_chunk_ = std::max(merges_in_chunk_, kernel_chain.merges);
  chain_.merges = merges_in_chunk_ + static_cast<double>(chunk_);
}

}  // namespace fanin::cuda
