// SPDX-License-Identifier: Apache-2.0
// Host data in the memory of a device. This header includes no CUDA header.
#pragma once

#include <memory>
#include <string>

#include <fanin/request.hpp>

namespace fanin::measure {

/// Copies of one array in the memory of a CUDA device.
class device_copy {
 public:
  virtual ~device_copy() = default;

  /// The next of several copies, taken in turn so that the device's cache does not hold the copy from an earlier
  /// call. Not thread-safe.
  virtual array_view next() noexcept = 0;
  /// The time of the fastest read of one copy, in seconds. @throws device_error
  virtual double read_seconds() const = 0;
};

/// Copies `host` to the current CUDA device. Defined in builds with CUDA only. @throws out_of_memory, device_error
std::unique_ptr<device_copy> make_device_copy(const array_view& host);

/// The driver's name of the current CUDA device. Defined in builds with CUDA only. @throws device_error
std::string device_name();

}  // namespace fanin::measure
