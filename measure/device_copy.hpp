// Host data in the memory of a device, for those who include no CUDA header.
#pragma once

#include <memory>
#include <string>

#include <fanin/request.hpp>

namespace fanin::measure {

/// A copy of an array on the current CUDA device.
class device_copy {
 public:
  /// @throws backend_unavailable, out_of_memory, device_error
  explicit device_copy(const array_view& host);
  ~device_copy();
  device_copy(const device_copy&) = delete;
  device_copy& operator=(const device_copy&) = delete;

  /// The next of several places, so that the device's cache does not hold it from the last call. Not thread-safe.
  array_view next() noexcept;
  /// The fastest read of the array there.
  double read_seconds() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Of the current CUDA device, as its driver calls it. @throws backend_unavailable, device_error
std::string device_name();

}  // namespace fanin::measure
