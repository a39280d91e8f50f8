// SPDX-License-Identifier: Apache-2.0
// A scope with another current device.
#pragma once

#include <fanin/cuda/check.cuh>

namespace fanin::device_code {

/// Makes a device the calling thread's current device, and restores the previous one at the end of the scope.
class device_scope {
 public:
  explicit device_scope(int device) : device_(device) {
    check(cudaGetDevice(&found_), "cudaGetDevice");
    if (found_ != device) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~device_scope() {
    if (found_ != device_) static_cast<void>(cudaSetDevice(found_));
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int device_;
  int found_ = 0;
};

}  // namespace fanin::device_code
