// The public side of device.hpp in a build without CUDA: there is no context to be had.
#include <fanin/device.hpp>

namespace fanin {
namespace {

[[noreturn]] void refuse() {
  throw backend_unavailable(
      "backend 'cuda' is not usable here (not_compiled): this build was configured without CUDA");
}

}  // namespace

namespace cuda {
class context {};
}  // namespace cuda

device_context::device_context(int, void*) { refuse(); }
device_context::~device_context() = default;
device_context::device_context(device_context&&) noexcept = default;
device_context& device_context::operator=(device_context&&) noexcept = default;
int device_context::device() const noexcept { return 0; }
void* device_context::stream() const noexcept { return nullptr; }
device_context::times device_context::last_times() const noexcept { return {}; }
result<scalar> reduce(operation, const array_view&, device_context&, const options&) { refuse(); }
result<scalar> dot(const array_view&, const array_view&, device_context&, const options&) { refuse(); }
void enqueue(operation, const array_view&, void*, device_context&, const options&) { refuse(); }

}  // namespace fanin
