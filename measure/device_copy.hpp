// SPDX-License-Identifier: Apache-2.0
// Host data in the memory of a device. This header includes no CUDA header.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <fanin/request.hpp>

#include "measure/ceiling.hpp"

namespace fanin::measure {

/// Copies of one array in the memory of a CUDA device.
class device_copy {
 public:
  virtual ~device_copy() = default;

  /// One of the copies.
  virtual array_view first() const noexcept = 0;
  /// Times `call` by the host's clock, in turn with reads of a copy by the fastest kernel that only reads, timed by
  /// events. Each call gets the next copy, which the device's cache does not hold from an earlier call.
  /// @throws out_of_memory, device_error
  virtual timed_beside_reads time(const std::function<void(const array_view&)>& call, const stopping_rule& limit) = 0;
};

/// Copies `host` to the current CUDA device. Defined in builds with CUDA only. @throws out_of_memory, device_error
std::unique_ptr<device_copy> make_device_copy(const array_view& host);

/// The driver's name of the current CUDA device. Defined in builds with CUDA only. @throws device_error
std::string device_name();

}  // namespace fanin::measure
