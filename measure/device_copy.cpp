// SPDX-License-Identifier: Apache-2.0
#include "measure/device_copy.hpp"

#include "measure/device.hpp"

namespace fanin::measure {
namespace {

class rotated_copy final : public device_copy {
 public:
  explicit rotated_copy(const array_view& host) : input_(host) {}

  array_view next() noexcept override { return input_.at(taken_++); }

  double read_seconds() const override {
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    return device_read_seconds(input_, stream.get(), 0.1);
  }

 private:
  rotated_input input_;
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<device_copy> make_device_copy(const array_view& host) { return std::make_unique<rotated_copy>(host); }

std::string device_name() {
  int device = 0;
  cudaDeviceProp properties;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

}  // namespace fanin::measure
