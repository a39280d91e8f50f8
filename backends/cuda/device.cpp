// The public side: contexts, and reductions on one of them.
#include <fanin/device.hpp>

#include <utility>

#include "backends/cuda/cuda.hpp"
#include "backends/offer.hpp"

namespace fanin {
namespace {

/// The request as the backend wants it, checked as fanin::reduce checks.
request checked(operation what, const array_view& input, const options& chosen) {
  check_data(input);
  const backend* const only[] = {&cuda::instance()};
  return select(only, chosen.backend.empty() ? "cuda" : chosen.backend, what, input, chosen).what;
}

result<scalar> answer_to(const request& asked, device_context& context) {
  const cuda::device_scope here(context.device());
  const cuda::backend& by = cuda::instance();
  const outcome answer = by.reduce(asked, context.internals());
  return {answer.value, {by.name(), answer.variant, answer.how, answer.reproducibility, answer.bound, {}}};
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
  check_takes_one_input(what);
  check_count(what, input.count);
  return answer_to(checked(what, input, chosen), context);
}

result<scalar> dot(const array_view& x, const array_view& y, device_context& context, const options& chosen) {
  check_data(y);
  check_pair(x, y);
  request asked = checked(operation::dot, x, chosen);
  asked.other = y.data;
  return answer_to(asked, context);
}

void enqueue(operation what, const array_view& input, void* result, device_context& context, const options& chosen) {
  if (input.place != memory::device) throw invalid_argument("enqueue() reads device memory; this is host memory");
  check_takes_one_input(what);
  if (result == nullptr) throw invalid_argument("the result is null");
  const cuda::device_scope here(context.device());
  cuda::instance().enqueue(checked(what, input, chosen), context.internals(), result);
}

}  // namespace fanin
