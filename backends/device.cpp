// SPDX-License-Identifier: Apache-2.0
// The functions of device.hpp: contexts, and reductions on a context.
#include <fanin/device.hpp>
#include <fanin/state.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"

namespace fanin {
namespace {

const backend& device_backend() { return find_backend("cuda"); }

/// Checks the arguments as fanin::reduce does. Returns the request as the backend `cuda` has prepared it.
request prepared(operation what, const input_views& inputs, const options& chosen, layout kind = layout::array) {
  check_data(inputs);
  const backend* const candidates[] = {&device_backend()};
  return select(candidates, chosen.backend.empty() ? candidates[0]->name() : chosen.backend, what, inputs, chosen, {},
                kind)
      .what;
}
request prepared(operation what, const batch& many, const results_view& out, options& chosen) {
  check_batch(what, many, out, chosen.result);
  chosen.result = out.type;
  return prepared(what, many.inputs, chosen, many.kind);
}

/// Whether the result is asked for as a narrow float in place of an f32.
bool rounds_to_narrow(const request& asked) {
  return asked.result != element_type::f64 && asked.result != default_result(asked.what, asked.inputs.type());
}

}  // namespace

std::unique_ptr<device_work> backend::open_device(int, void*) const {
  require_usable(*this);
  throw unsupported(std::string(name()) + " has no devices");
}

device_context::device_context(int device, void* stream)
    : work_(translate_bad_alloc([&] { return device_backend().open_device(device, stream); })),
      device_(device),
      stream_(work_->where(0).stream) {}

report reduce(operation what, const input_views& inputs, const result_view& value, device_context& context,
              options chosen) {
  check_count(what, inputs.count());
  check_result(what, value, chosen.result);
  chosen.result = value.type;
  return translate_bad_alloc([&]() -> report {
    const outcome answer = context.work().reduce(prepared(what, inputs, chosen), value.data);
    return {device_backend().name(), answer};
  });
}

result<scalar> reduce(operation what, const input_views& inputs, device_context& context, const options& chosen) {
  return as_scalar(what, chosen.result.value_or(default_result(what, inputs.type())),
                   [&](const result_view& value) { return reduce(what, inputs, value, context, chosen); });
}

report reduce(operation what, const batch& many, const results_view& out, device_context& context, options chosen) {
  const request asked = prepared(what, many, out, chosen);
  return translate_bad_alloc([&]() -> report {
    return {device_backend().name(), context.work().reduce_each(asked, many, out)};
  });
}

report detail::exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                           options chosen, device_context& context) {
  check_state(type, x.type(), chosen);
  return translate_bad_alloc([&]() -> report {
    request asked = prepared(what, x, chosen);
    asked.state_bytes = bytes;
    return {device_backend().name(), context.work().reduce(asked, state)};
  });
}

void enqueue(operation what, const batch& many, const results_view& out, device_context& context, options chosen) {
  if (out.place != memory::device) throw invalid_argument("enqueue() writes results to device memory");
  const request asked = prepared(what, many, out, chosen);
  if (many.result_count == 0) return;
  translate_bad_alloc([&] { context.work().enqueue_each(asked, many, out.data); });
}

void enqueue(operation what, const input_views& inputs, void* result, device_context& context,
             const options& chosen) {
  if (inputs.place() != memory::device) throw invalid_argument("enqueue() reads device memory; this is host memory");
  if (result == nullptr) throw invalid_argument("the result is null");
  translate_bad_alloc([&] {
    const request asked = prepared(what, inputs, chosen);
    if (rounds_to_narrow(asked)) {
      throw unsupported("enqueue() gives a rounded result as f32 or f64, not as " +
                        std::string(to_string(asked.result)));
    }
    context.work().enqueue(asked, result);
  });
}

}  // namespace fanin
