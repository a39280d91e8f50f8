// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/ceiling.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fanin/loop.hpp>

#include "base/prefetch.hpp"
#include "base/tasks.hpp"
#include "base/threads.hpp"
#include "measure/ceiling.hpp"
#include "measure/timing.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::measure {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// With `Ahead`, cache lines are prefetched as the kernels do. Vectors of a cache line's size are read from the
/// beginning of a line, because any other vector takes two reads. So some of the first and the last bytes are read
/// twice.
template <bool Ahead>
unsigned long long read_block_as(const unsigned char* data, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t width = hn::MaxLanes(d);
  constexpr std::size_t unroll = 8;
  V seen[unroll];
  for (V& s : seen) s = hn::Zero(d);
  std::size_t i = 0;
  if (bytes >= width) {
    seen[0] = hn::LoadU(d, data);
    seen[1] = hn::LoadU(d, data + bytes - width);
    i = width - reinterpret_cast<std::uintptr_t>(data) % width;
  }
  for (; i + unroll * width <= bytes; i += unroll * width) {
    if constexpr (Ahead) {
      for (std::size_t b = 0; b < unroll * width; b += 64) prefetch_line(data + i + b);
    }
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < unroll; ++v) seen[v] = hn::Or(seen[v], hn::LoadU(d, data + i + v * width));
  }
  for (; i + width <= bytes; i += width) seen[0] = hn::Or(seen[0], hn::LoadU(d, data + i));
  for (std::size_t v = 1; v < unroll; ++v) seen[0] = hn::Or(seen[0], seen[v]);
  HWY_ALIGN std::uint8_t seen_bytes[width];
  hn::Store(seen[0], d, seen_bytes);
  unsigned long long result = 0;
  for (std::size_t b = 0; b < width; ++b) result |= seen_bytes[b];
  for (std::size_t b = 0; b < bytes && bytes < width; ++b) result |= data[b];
  return result;
}

unsigned long long read_block(const unsigned char* data, std::size_t bytes, bool ahead) {
  return ahead ? read_block_as<true>(data, bytes) : read_block_as<false>(data, bytes);
}

simd_path path() { return {hwy::TargetName(HWY_TARGET), hn::Lanes(hn::ScalableTag<std::uint8_t>())}; }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::measure {

HWY_EXPORT(read_block);
HWY_EXPORT(path);

simd_path simd_in_use() { return HWY_DYNAMIC_DISPATCH(path)(); }

unsigned long long read_alone(const void* data, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(read_block)(static_cast<const unsigned char*>(data), bytes,
                                          bytes >= least_prefetched_bytes);
}

struct reader::crew {
  explicit crew(unsigned others) {
    for (unsigned i = 0; i < others; ++i) threads.emplace_back([this] { serve(); });
  }
  ~crew() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    for (auto& t : threads) t.join();
  }

  void work() {
    unsigned long long mine = 0;
    for (std::size_t first; (first = next.fetch_add(block)) < bytes;) {
      const std::size_t share = std::min(block, bytes - first);
      mine |= HWY_DYNAMIC_DISPATCH(read_block)(data + first, share, bytes >= least_prefetched_bytes);
    }
    seen |= mine;
  }
  void serve() {
    for (std::size_t done = 0;;) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || round != done; });
        if (stop) return;
        done = round;
      }
      work();
      running.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::size_t round = 0;
  const unsigned char* data = nullptr;
  std::size_t bytes = 0;
  std::size_t block = 0;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> running = 0;
  std::atomic<unsigned long long> seen = 0;
  std::vector<std::thread> threads;
};

reader::reader(unsigned threads) : crew_(std::make_unique<crew>(startable_threads(threads) - 1)) {}
reader::~reader() = default;

unsigned long long reader::read(const void* data, std::size_t bytes) {
  crew& c = *crew_;
  {
    const std::lock_guard lock(c.mutex);
    c.data = static_cast<const unsigned char*>(data);
    c.bytes = bytes;
    c.block = std::max<std::size_t>(bytes / (16 * (c.threads.size() + 1)), 1 << 16);
    c.next = 0;
    c.running = c.threads.size();
    ++c.round;
  }
  c.wake.notify_all();
  c.work();
  while (c.running.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  return c.seen;
}

namespace {

const task_backend& threads_of(const backend& by) {
  const auto* own = dynamic_cast<const task_backend*>(&by);
  for (const backend* one : backends()) {
    if (own == nullptr) own = dynamic_cast<const task_backend*>(one);
  }
  return *own;
}

/// Reads by the threads of a backend, in the tasks of a reduction of as many bytes. A task has a cache line for
/// its result, as a task of a reduction has for its state.
class shared_reads {
 public:
  /// `bytes` is not 0.
  shared_reads(const task_backend& by, unsigned threads, std::size_t bytes)
      : by_(by),
        threads_(threads),
        bytes_(bytes),
        block_(chunk_length(bytes, detail::leaf_bytes, threads)),
        seen_((bytes + block_ - 1) / block_) {}

  unsigned long long read(const void* data) {
    data_ = static_cast<const unsigned char*>(data);
    const auto read_block = [](void* context, std::size_t i) {
      shared_reads& all = *static_cast<shared_reads*>(context);
      const std::size_t first = i * all.block_, share = std::min(all.block_, all.bytes_ - first);
      all.seen_[i].bits =
          HWY_DYNAMIC_DISPATCH(read_block)(all.data_ + first, share, all.bytes_ >= least_prefetched_bytes);
    };
    by_.run(threads_, seen_.size(), {read_block, this});
    unsigned long long whole = 0;
    for (const line& one : seen_) whole |= one.bits;
    return whole;
  }

 private:
  struct alignas(64) line {
    unsigned long long bits = 0;
  };
  const task_backend& by_;
  unsigned threads_;
  std::size_t bytes_, block_;
  std::vector<line> seen_;
  const unsigned char* data_ = nullptr;
};

}  // namespace

timed_beside_reads time_beside_reads(const std::function<void(std::size_t)>& call, const backend& by,
                                     const rotation& input, unsigned threads, const stopping_rule& limit) {
  volatile unsigned long long sink = 0;
  const std::size_t bytes = input.at(0).bytes();
  threads = startable_threads(std::min(threads, most_threads));
  std::optional<shared_reads> several;
  if (threads > 1 && bytes > detail::leaf_bytes) several.emplace(threads_of(by), threads, bytes);  // else one task
  const auto alone = [&](std::size_t i) { sink = read_alone(input.at(i).data, bytes); };
  const auto together = [&](std::size_t i) { sink = several->read(input.at(i).data); };
  batch_clock reads = host_clock(alone);
  if (several) {
    const std::vector<timing> tried =
        time_in_turn({reads, host_clock(together)}, shortest_host_batch_seconds, {.budget_seconds = 0.01});
    if (tried[1].seconds() < tried[0].seconds()) reads = host_clock(together);
  }
  std::vector<timing> times = time_in_turn({host_clock(call), reads}, shortest_host_batch_seconds, limit);
  return {std::move(times[0]), times[1].seconds()};
}

}  // namespace fanin::measure
#endif  // HWY_ONCE
