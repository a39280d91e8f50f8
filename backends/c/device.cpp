// SPDX-License-Identifier: Apache-2.0
// Device contexts of the C interface.
#include <fanin/state.hpp>

#include "backends/c/convert.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required, c::write_report;

device_context& context_at(fanin_context* context) { return required(context, "the context")->work; }

}  // namespace

fanin_status fanin_context_create(int32_t device, void* stream, fanin_context** made) {
  return guarded([&] {
    *required(made, "the place for the context") = nullptr;
    *made = new fanin_context{device_context(device, stream)};
  });
}

void* fanin_context_stream(const fanin_context* context) {
  return context == nullptr ? nullptr : context->work.stream();
}

fanin_status fanin_context_reduce(fanin_context* context, fanin_operation what, const fanin_input* input,
                                  const fanin_options* given, void* result, fanin_report* report) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(given);
    const input_views inputs = c::inputs_of(op, input);
    const result_view one = c::result_at(required(result, "the result"), op, inputs.type(), chosen.result);
    write_report(reduce(op, inputs, one, context_at(context), chosen), report);
  });
}

fanin_status fanin_context_reduce_batch(fanin_context* context, fanin_operation what, const fanin_input* input,
                                        const fanin_batch* given, const fanin_options* asked,
                                        const fanin_output* output, fanin_report* report) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(asked);
    const input_views inputs = c::inputs_of(op, input);
    const result_view one = c::result_at(nullptr, op, inputs.type(), chosen.result);
    write_report(reduce(op, c::batch_of(inputs, given, one), c::results_at(output, one), context_at(context), chosen),
                 report);
  });
}

fanin_status fanin_context_enqueue(fanin_context* context, fanin_operation what, const fanin_input* input,
                                   const fanin_options* given, void* result) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    enqueue(op, c::inputs_of(op, input), result, context_at(context), c::options_of(given));
  });
}

fanin_status fanin_context_enqueue_batch(fanin_context* context, fanin_operation what, const fanin_input* input,
                                         const fanin_batch* given, const fanin_options* asked,
                                         const fanin_output* output) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(asked);
    const input_views inputs = c::inputs_of(op, input);
    const result_view one = c::result_at(nullptr, op, inputs.type(), chosen.result);
    enqueue(op, c::batch_of(inputs, given, one), c::results_at(output, one), context_at(context), chosen);
  });
}

size_t fanin_lane_count(fanin_operation what, fanin_type type) {
  size_t count = 0;
  const fanin_status known = guarded([&] { count = lane_count(c::operation_of(what), c::type_from(type)); });
  return known == FANIN_OK ? count : 0;
}

fanin_status fanin_context_enqueue_lanes(fanin_context* context, fanin_operation what, const fanin_input* input,
                                         const fanin_options* given, int64_t* lanes) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    enqueue_lanes(op, c::inputs_of(op, input), lanes, context_at(context), c::options_of(given));
  });
}

fanin_status fanin_context_enqueue_value_of_lanes(fanin_context* context, fanin_operation what, fanin_type type,
                                                  const int64_t* lanes, const fanin_options* given, void* result) {
  return guarded([&] {
    enqueue_value_of_lanes(c::operation_of(what), c::type_from(type), lanes, result, context_at(context),
                           c::options_of(given));
  });
}

void fanin_context_destroy(fanin_context* context) { delete context; }
