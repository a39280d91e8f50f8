// The public side: contexts, and reductions on one of them.
#include <fanin/device.hpp>

#include <utility>

#include "backends/cuda/cuda.hpp"
#include "backends/offer.hpp"

namespace fanin {
namespace {

/// The request as the backend wants it, checked as fanin::reduce checks.
request checked(operation what, const array_view& input, const options& chosen) {
  if (input.data == nullptr && input.count > 0) throw invalid_argument("the input is null, but its count is not 0");
  const backend* const only[] = {&cuda::instance()};
  return select(only, chosen.backend.empty() ? "cuda" : chosen.backend, what, input, chosen).what;
}

}  // namespace

device_context::device_context(int device, void* stream)
    : internals_(std::make_unique<cuda::context>(device, static_cast<cudaStream_t>(stream))) {}
device_context::~device_context() = default;
device_context::device_context(device_context&&) noexcept = default;
device_context& device_context::operator=(device_context&&) noexcept = default;

int device_context::device() const noexcept { return internals_->where().device; }
void* device_context::stream() const noexcept { return internals_->where().stream; }
device_context::times device_context::last_times() const noexcept { return internals_->times; }

result<scalar> reduce(operation what, const array_view& input, device_context& context, const options& chosen) {
  check_count(what, input.count);
  const cuda::device_scope here(context.device());
  const cuda::backend& by = cuda::instance();
  const outcome answer = by.reduce(checked(what, input, chosen), context.internals());
  return {answer.value, {by.name(), answer.variant, answer.how, answer.reproducibility, answer.bound, {}}};
}

void enqueue(operation what, const array_view& input, void* result, device_context& context, const options& chosen) {
  if (input.place != memory::device) throw invalid_argument("enqueue() reads device memory; this is host memory");
  if (result == nullptr) throw invalid_argument("the result is null");
  const cuda::device_scope here(context.device());
  cuda::instance().enqueue(checked(what, input, chosen), context.internals(), result);
}

}  // namespace fanin
