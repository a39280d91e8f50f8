#include "measure/device_copy.hpp"

#include "measure/device.hpp"

namespace fanin::measure {

struct device_copy::parts {
  rotated_input input;
  std::size_t taken = 0;
};

device_copy::device_copy(const array_view& host) : parts_(std::make_unique<parts>(rotated_input(host))) {}
device_copy::~device_copy() = default;

array_view device_copy::next() noexcept { return parts_->input.at(parts_->taken++); }

double device_copy::read_seconds() const {
  const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
  return device_read_seconds(parts_->input, stream.get(), 0.1);
}

std::string device_name() {
  int device = 0;
  cudaDeviceProp about;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaGetDeviceProperties(&about, device), "cudaGetDeviceProperties");
  return about.name;
}

}  // namespace fanin::measure
