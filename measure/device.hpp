// SPDX-License-Identifier: Apache-2.0
// Timing of work on a CUDA device, and the device's read and copy ceilings. Only builds with CUDA have this header's
// functions.
#pragma once

#include <cstddef>
#include <functional>

#include <fanin/request.hpp>

#include "base/cuda/handles.hpp"
#include "measure/timing.hpp"

namespace fanin::measure {

/// A rotated_input holds copies of one array in device memory. Calls that take the copies in turn never find their
/// elements in the device's L2 cache.
class rotated_input {
 public:
  /// Makes at least two copies on the current device, which together are larger than four L2 caches where memory
  /// allows. The first element of each copy lies `misaligned_elements` past a 256-byte boundary.
  /// @throws out_of_memory, device_error
  explicit rotated_input(const array_view& host, std::size_t misaligned_elements = 0);

  /// Copy number i modulo the number of copies.
  array_view at(std::size_t i) const noexcept;

 private:
  array_view first_;
  std::size_t stride_bytes_ = 0;
  std::size_t places_ = 1;
  cuda::device_memory memory_;
};

/// The median time of one call f(0), f(1), ..., in seconds. Each call enqueues work on `stream` and returns. After a
/// warm-up, batches of calls are enqueued back to back between two events; a batch is long enough for the clock.
double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& f, double budget_seconds);

/// The median time of one call f(i), where each f(i) needs prepare(i) before it. Only f(i) lies between the two
/// events. If the device completes prepare(i) before the host has launched f(i), part of the launch time is counted.
double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& prepare,
                             const std::function<void(std::size_t)>& f, double budget_seconds);

/// The median time of one call f(i) that returns when its value is on the host, by the host's clock, in seconds.
double host_median_seconds(const std::function<void(std::size_t)>& f, double budget_seconds);

/// The shortest batch of calls that events measure, whose resolution is half a microsecond.
constexpr double shortest_device_batch_seconds = 0.3e-3;

/// Reads of `input` by the fastest of several kernels that only read. The kernels read whole 16-byte words and skip
/// the up to 15 bytes before and after them. `input` has to outlive the object.
class device_reads {
 public:
  /// Finds the fastest kernel, within `budget_seconds`. @throws out_of_memory, device_error
  device_reads(const rotated_input& input, cudaStream_t stream, double budget_seconds);

  /// The read ceiling: the median time of one read, in seconds.
  double seconds() const noexcept { return seconds_; }
  /// The clock of the reads, for time_in_turn().
  const batch_clock& clock() const noexcept { return clock_; }

 private:
  cuda::device_memory sink_;
  batch_clock clock_;
  double seconds_;
};

/// The read ceiling in seconds, see device_reads.
inline double device_read_seconds(const rotated_input& input, cudaStream_t stream, double budget_seconds) {
  return device_reads(input, stream, budget_seconds).seconds();
}

/// The time of the fastest copy of `bytes` from pinned host memory to the device, in seconds, by the host's clock,
/// until the host has synchronized with the stream. The sources are larger than the host's cache. Memory: `bytes` on
/// the device, the larger of `bytes` and 1 GiB pinned. @throws out_of_memory, device_error
double pinned_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds);

/// The time of one cudaMemcpyAsync() of `bytes` from pageable host memory, which the driver copies through pinned
/// memory of its own. Memory: `bytes` on the device, the larger of `bytes` and 1 GiB on the host.
/// @throws out_of_memory, device_error
double pageable_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds);

}  // namespace fanin::measure
