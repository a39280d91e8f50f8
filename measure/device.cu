// SPDX-License-Identifier: Apache-2.0
#include "measure/device.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <nv/target>

#include <fanin/cuda/strided.cuh>

#include "base/cuda/copy_barrier.cuh"
#include "measure/timing.hpp"

namespace fanin::measure {
namespace {

using cuda::check;

int device_attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

/// A stopwatch measures the time between two events of a stream.
class stopwatch {
 public:
  explicit stopwatch(cudaStream_t stream) : stream_(stream) {}
  void begin() { check(cudaEventRecord(begin_.get(), stream_), "cudaEventRecord"); }
  double end_seconds() {
    check(cudaEventRecord(end_.get(), stream_), "cudaEventRecord");
    check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  cudaStream_t stream_;
  cuda::owned_event begin_ = cuda::make_event();
  cuda::owned_event end_ = cuda::make_event();
};

/// The time of the calls f(first), f(first + 1), ..., which enqueue work on `stream`, between two events.
batch_clock event_clock(cudaStream_t stream, std::function<void(std::size_t)> f) {
  const auto watch = std::make_shared<stopwatch>(stream);
  return [watch, f = std::move(f)](std::size_t first, std::size_t calls) {
    watch->begin();
    for (std::size_t i = first; i < first + calls; ++i) f(i);
    return watch->end_seconds();
  };
}

/// `count` words of 16 bytes are read.
struct read_arguments {
  const uint4* words;
  std::uint64_t count;
  std::uint32_t* sink;
};

constexpr unsigned read_threads = 512;

/// One XOR for each 32 bits. No reduction does less work, and the compiler cannot remove this work.
__device__ void add_bits(std::uint32_t& seen, const uint4& word) { seen = seen ^ word.x ^ word.y ^ word.z ^ word.w; }

/// The comparison depends on every word read, so that the compiler keeps every load; the store almost never happens.
__device__ void write_if_rare(const read_arguments& a, std::uint32_t seen) {
  if (seen == 0x9e3779b9u) *a.sink = seen;
}

template <unsigned Loads, unsigned Resident>
__global__ void __launch_bounds__(read_threads, Resident) plain_read_kernel(read_arguments a) {
  std::uint32_t seen = 0;
  cuda::for_each_strided<Loads>(a.words, std::uint64_t{blockIdx.x} * read_threads + threadIdx.x, a.count,
                                std::uint64_t{gridDim.x} * read_threads, [&](const uint4& w) { add_bits(seen, w); });
  write_if_rare(a, seen);
}

/// Bulk copies bring pieces of 32 KiB into six buffers in shared memory, as in the stage `bulk_copy` of the ladder.
constexpr unsigned ring_size = 6;
constexpr unsigned piece = 32 * 1024 / sizeof(uint4);
constexpr std::size_t ring_bytes = ring_size * piece * sizeof(uint4);

/// The number of words in the piece that begins at word `begin`, or 0 if the words end before.
__device__ unsigned piece_size(const read_arguments& a, std::uint64_t begin) {
  if (begin >= a.count) return 0;
  return a.count - begin < piece ? static_cast<unsigned>(a.count - begin) : piece;
}

/// Returns the XOR of what the thread read. Code for compute capabilities below 9.0 does not call this function.
[[maybe_unused]] __device__ std::uint32_t read_pieces(const read_arguments& a) {
  extern __shared__ __align__(128) uint4 buffers[];
  __shared__ cuda::copy_barrier arrived[ring_size];
  const auto start_copy = [&](std::uint64_t begin, unsigned slot) {
    const unsigned size = piece_size(a, begin);
    if (size > 0) arrived[slot].copy(buffers + slot * piece, a.words + begin, size * sizeof(uint4));
  };
  auto begin = std::uint64_t{blockIdx.x} * piece, apart = std::uint64_t{gridDim.x} * piece;
  if (threadIdx.x == 0) {
    for (auto& barrier : arrived) barrier.start();
    cuda::copy_barrier::publish();
    for (unsigned slot = 0; slot < ring_size; ++slot) start_copy(begin + slot * apart, slot);
  }
  __syncthreads();

  std::uint32_t seen = 0;
  for (unsigned slot = 0, parity = 0; begin < a.count; begin += apart) {
    arrived[slot].wait(parity);
    cuda::for_each_strided<4>(buffers + slot * piece, threadIdx.x, piece_size(a, begin), blockDim.x,
                              [&](const uint4& w) { add_bits(seen, w); });
    __syncthreads();
    if (threadIdx.x == 0) start_copy(begin + ring_size * apart, slot);
    if (++slot == ring_size) slot = 0, parity ^= 1;
  }
  return seen;
}

__global__ void __launch_bounds__(read_threads, 1) bulk_read_kernel(read_arguments a) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (write_if_rare(a, read_pieces(a));))
}

/// The arguments of a read kernel for the 16-byte words that lie completely in `x`.
read_arguments words_of(const array_view& x, std::uint32_t* sink) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(x.data) + 15) / 16 * 16;
  const auto end = (reinterpret_cast<std::uintptr_t>(x.data) + x.bytes()) / 16 * 16;
  return {reinterpret_cast<const uint4*>(begin), end > begin ? (end - begin) / sizeof(uint4) : 0, sink};
}

struct read_launch {
  void (*kernel)(read_arguments);
  unsigned loads;  ///< the least number of 16-byte loads per thread, from which the number of blocks is computed
  unsigned most_blocks;
  std::size_t shared_bytes;
};

bool can_read_in_bulk() {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, bulk_read_kernel), "cudaFuncGetAttributes");
  const auto most = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (attributes.ptxVersion < 90 || attributes.sharedSizeBytes + ring_bytes > most) return false;
  check(cudaFuncSetAttribute(bulk_read_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(ring_bytes)),
        "cudaFuncSetAttribute");
  return true;
}

std::vector<read_launch> read_launches() {
  const auto multiprocessors = static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
  std::vector<read_launch> launches = {{plain_read_kernel<4, 4>, 4, 20 * multiprocessors, 0},
                                       {plain_read_kernel<8, 2>, 8, 2 * multiprocessors, 0}};
  if (can_read_in_bulk()) launches.push_back({bulk_read_kernel, 4, multiprocessors, ring_bytes});
  return launches;
}

/// Copies that take sources from this many bytes in turn do not find a source in the host's cache.
constexpr std::size_t source_ring_bytes = std::size_t{1} << 30;

}  // namespace

rotated_input::rotated_input(const array_view& host, std::size_t misaligned_elements) : first_(host) {
  constexpr std::size_t boundary = 256;
  const std::size_t offset = misaligned_elements * byte_size(host.type);
  stride_bytes_ = (offset + host.bytes()) / boundary * boundary + boundary;
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto cache = static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize));
  const std::size_t wanted = 4 * cache / stride_bytes_ + 2;
  places_ = std::max<std::size_t>(1, std::min(wanted, free / 10 * 9 / stride_bytes_));
  memory_ = cuda::allocate_device(places_ * stride_bytes_);
  check(cudaMemcpy(memory_.get() + offset, host.data, host.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  for (std::size_t filled = 1; filled < places_; filled *= 2) {
    check(cudaMemcpy(memory_.get() + filled * stride_bytes_, memory_.get(),
                     std::min(filled, places_ - filled) * stride_bytes_, cudaMemcpyDeviceToDevice),
          "cudaMemcpy");
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  first_.data = memory_.get() + offset;
  first_.place = memory::device;
}

array_view rotated_input::at(std::size_t i) const noexcept {
  array_view view = first_;
  view.data = static_cast<const std::byte*>(first_.data) + i % places_ * stride_bytes_;
  return view;
}

double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& f, double budget_seconds) {
  return time_batches(event_clock(stream, f), shortest_device_batch_seconds, {.budget_seconds = budget_seconds})
      .seconds();
}

double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& prepare,
                             const std::function<void(std::size_t)>& f, double budget_seconds) {
  constexpr double single_calls = 0;  // A batch of one call is long enough, whatever its time.
  stopwatch watch(stream);
  const auto call_seconds = [&](std::size_t i, std::size_t) {
    prepare(i);
    watch.begin();
    f(i);
    return watch.end_seconds();
  };
  return time_batches(call_seconds, single_calls, {.budget_seconds = budget_seconds}).seconds();
}

double host_median_seconds(const std::function<void(std::size_t)>& f, double budget_seconds) {
  return time_calls(f, {.budget_seconds = budget_seconds}).seconds();
}

device_reads::device_reads(const rotated_input& input, cudaStream_t stream, double budget_seconds)
    : sink_(cuda::allocate_device(sizeof(std::uint32_t))), seconds_(std::numeric_limits<double>::infinity()) {
  auto* const result = reinterpret_cast<std::uint32_t*>(sink_.get());
  const std::vector<read_launch> launches = read_launches();
  for (const read_launch& launch : launches) {
    const std::uint64_t needed = words_of(input.at(0), result).count / (launch.loads * read_threads) + 1;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(launch.most_blocks, needed));
    const auto read = [&input, launch, blocks, stream, result](std::size_t i) {
      launch.kernel<<<blocks, read_threads, launch.shared_bytes, stream>>>(words_of(input.at(i), result));
      check(cudaGetLastError(), "launching a read");
    };
    const batch_clock clock = event_clock(stream, read);
    const double seconds = time_batches(clock, shortest_device_batch_seconds,
                                        {.budget_seconds = budget_seconds / static_cast<double>(launches.size())})
                               .seconds();
    if (seconds < seconds_) {
      seconds_ = seconds;
      clock_ = clock;
    }
  }
}

double pinned_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds) {
  const std::size_t places = std::max<std::size_t>(1, source_ring_bytes / bytes);
  const cuda::pinned_memory from = cuda::allocate_pinned(places * bytes);
  const cuda::device_memory to = cuda::allocate_device(bytes);
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t piece : {std::size_t{1} << 24, std::size_t{1} << 26, bytes}) {
    const auto copy = [&](std::size_t i) {
      const std::byte* const source = from.get() + i % places * bytes;
      for (std::size_t begin = 0; begin < bytes; begin += piece) {
        check(cudaMemcpyAsync(to.get() + begin, source + begin, std::min(piece, bytes - begin),
                              cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
      }
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    };
    best = std::min(best, host_median_seconds(copy, budget_seconds / 3));
  }
  return best;
}

double pageable_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds) {
  const std::size_t places = std::max<std::size_t>(1, source_ring_bytes / bytes);
  const std::vector<std::byte> from(places * bytes);
  const cuda::device_memory to = cuda::allocate_device(bytes);
  const auto copy = [&](std::size_t i) {
    check(cudaMemcpyAsync(to.get(), from.data() + i % places * bytes, bytes, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  return host_median_seconds(copy, budget_seconds);
}

}  // namespace fanin::measure
