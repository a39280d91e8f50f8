// How long work on a CUDA device takes, and the fastest that it can read. Only where the library has CUDA.
#pragma once

#include <cstddef>
#include <functional>

#include <fanin/request.hpp>

#include "backends/cuda/runtime/handles.hpp"

namespace fanin::measure {

/// Copies of one array in so many places of device memory that calls which take them in turn never find their
/// elements in the device's cache.
class rotated_input {
 public:
  /// At least two copies, together over four times the cache, where memory allows; the first element lies
  /// `misaligned_elements` past a 256-byte boundary. On the current device. @throws out_of_memory, device_error
  explicit rotated_input(const array_view& host, std::size_t misaligned_elements = 0);

  /// Any i; the places follow each other in a ring.
  array_view at(std::size_t i) const noexcept;

 private:
  array_view first_;
  std::size_t stride_bytes_ = 0;
  std::size_t places_ = 1;
  cuda::device_memory memory_;
};

/// The median time of one call f(0), f(1), ..., each of which enqueues work on `stream` and returns; in seconds.
/// Calls follow each other back to back between two events, after a warm-up, in batches long enough for the clock.
double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& f, double budget_seconds);

/// The same for calls of which each needs another one before it: only f(i) lies between its two events, prepare(i)
/// comes before them. Where prepare(i) takes the device less time than a launch the host, some of that launch is
/// counted.
double device_median_seconds(cudaStream_t stream, const std::function<void(std::size_t)>& prepare,
                             const std::function<void(std::size_t)>& f, double budget_seconds);

/// The median time of one call f(i) until its value is on the host, by the host's clock.
double host_median_seconds(const std::function<void(std::size_t)>& f, double budget_seconds);

/// The ceiling: the fastest of several kernels that only read `input`, all but what lies outside of whole 16-byte
/// words.
double device_read_seconds(const rotated_input& input, cudaStream_t stream, double budget_seconds);

/// The fastest copy of `bytes` from pinned host memory to the device, in large pieces, until the host knows that it
/// is done, by the host's clock. Where the host's memory allows, the copies' sources follow each other past its
/// cache. Memory: `bytes` on the device, the larger of `bytes` and 1 GiB pinned. @throws out_of_memory, device_error
double pinned_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds);

/// The same from pageable memory, in one call: the driver copies it into pinned memory of its own on the way.
/// Memory: `bytes` on the device, the larger of `bytes` and 1 GiB on the host. @throws out_of_memory, device_error
double pageable_copy_seconds(std::size_t bytes, cudaStream_t stream, double budget_seconds);

}  // namespace fanin::measure
