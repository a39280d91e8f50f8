// SPDX-License-Identifier: Apache-2.0
#include "measure/device_copy.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "measure/device.hpp"

namespace fanin::measure {
namespace {

class rotated_copy final : public device_copy {
 public:
  explicit rotated_copy(const array_view& host) : input_(host) {}

  array_view first() const noexcept override { return input_.at(0); }

  timed_beside_reads time(const std::function<void(const array_view&)>& call, const stopping_rule& limit) override {
    if (!reads_) reads_.emplace(input_, stream_.get(), 0.1);
    const auto call_at = [&](std::size_t i) { call(input_.at(i)); };
    std::vector<timing> times =
        time_in_turn({host_clock(call_at), reads_->clock()}, shortest_device_batch_seconds, limit);
    return {std::move(times[0]), times[1].seconds()};
  }

 private:
  rotated_input input_;
  cuda::owned_stream stream_ = cuda::make_stream(cudaStreamNonBlocking);
  std::optional<device_reads> reads_;
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
