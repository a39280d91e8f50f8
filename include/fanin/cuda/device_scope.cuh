// Sets the calling thread's current CUDA device for a scope.
#pragma once

#include <fanin/cuda/check.cuh>

namespace fanin::device_code {

/// Makes `device` the calling thread's current device; the destructor restores the previous one.
class device_scope {
 public:
  explicit device_scope(int device) : device_(device) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ != device) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~device_scope() {
    if (previous_ != device_) static_cast<void>(cudaSetDevice(previous_));
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int device_;
  int previous_ = 0;
};

}  // namespace fanin::device_code
