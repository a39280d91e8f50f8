// SPDX-License-Identifier: Apache-2.0
// Device contexts of the C interface.
#include <utility>

#include <fanin/state.hpp>

#include "backends/c/convert.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required, c::write_report;

device_context& context_at(fanin_context* context) { return required(context, "the context")->work; }

/// Calls call(operation, batch, results, context, options).
template <class Call>
void with_batch(fanin_context* context, fanin_operation what, const fanin_input* input, const fanin_batch* given,
                const fanin_options* asked, const fanin_output* output, Call call) {
  const operation op = c::operation_of(what);
  const options chosen = c::options_of(asked);
  const input_views inputs = c::inputs_of(op, input);
  const result_view one = c::result_at(nullptr, op, inputs.type(), chosen.result);
  call(op, c::batch_of(inputs, given, one), c::results_at(output, one), context_at(context), chosen);
}

/// Calls reduce() or add_to() of a batch.
template <report (*Call)(operation, const batch&, const results_view&, device_context&, options)>
fanin_status wait_for_each(fanin_context* context, fanin_operation what, const fanin_input* input,
                           const fanin_batch* given, const fanin_options* asked, const fanin_output* output,
                           fanin_report* report) {
  return guarded([&] {
    with_batch(context, what, input, given, asked, output, [&](auto&&... arguments) {
      write_report(Call(std::forward<decltype(arguments)>(arguments)...), report);
    });
  });
}

/// Calls enqueue() or enqueue_add_to() of a batch.
template <void (*Call)(operation, const batch&, const results_view&, device_context&, options)>
fanin_status enqueue_each(fanin_context* context, fanin_operation what, const fanin_input* input,
                          const fanin_batch* given, const fanin_options* asked, const fanin_output* output) {
  return guarded([&] { with_batch(context, what, input, given, asked, output, Call); });
}

}  // namespace

fanin_status fanin_context_create(int32_t device, void* stream, fanin_context** made) {
  return guarded([&] {
    *required(made, "the place for the context") = nullptr;
    *made = new fanin_context{device_context(device, stream)};
  });
}

fanin_status fanin_context_create_with(int32_t device, void* stream, const fanin_allocator* allocator,
                                       fanin_context** made) {
  return guarded([&] {
    *required(made, "the place for the context") = nullptr;
    const fanin_allocator from = c::copied(allocator, "the allocator");
    if (from.allocate == nullptr || from.release == nullptr) {
      throw invalid_argument("the allocator has no functions to allocate and release");
    }
    *made = new fanin_context{device_context(device, stream, {from.allocate, from.release, from.user})};
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
    write_report(reduce(op, inputs, one, context_at(context), chosen), report, &one);
  });
}

fanin_status fanin_context_reduce_batch(fanin_context* context, fanin_operation what, const fanin_input* input,
                                        const fanin_batch* given, const fanin_options* asked,
                                        const fanin_output* output, fanin_report* report) {
  return wait_for_each<reduce>(context, what, input, given, asked, output, report);
}

fanin_status fanin_context_add_to(fanin_context* context, fanin_operation what, const fanin_input* input,
                                  const fanin_batch* given, const fanin_options* asked, const fanin_output* output,
                                  fanin_report* report) {
  return wait_for_each<add_to>(context, what, input, given, asked, output, report);
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
  return enqueue_each<enqueue>(context, what, input, given, asked, output);
}

fanin_status fanin_context_enqueue_each(fanin_context* context, const fanin_operation* operations,
                                        const fanin_type* types, size_t count, const fanin_input* input,
                                        const fanin_batch* given, const fanin_options* asked,
                                        const fanin_output* const* outputs) {
  return guarded([&] {
    const c::each_operation each = c::each_of(operations, types, count, input, given, asked, outputs);
    fanin::enqueue_each(each.what, *each.many, each.out, context_at(context), each.chosen);
  });
}

fanin_status fanin_context_enqueue_add_to(fanin_context* context, fanin_operation what, const fanin_input* input,
                                          const fanin_batch* given, const fanin_options* asked,
                                          const fanin_output* output) {
  return enqueue_each<enqueue_add_to>(context, what, input, given, asked, output);
}

fanin_status fanin_context_enqueue_add_rows(fanin_context* context, const fanin_input* x, const fanin_input* keys,
                                            size_t columns, const fanin_input* base, const fanin_output* output) {
  return guarded([&] {
    const auto array_of = [](const fanin_input* given) {
      const input_views all = c::inputs_of(operation::sum, given);
      if (all.mask()) throw invalid_argument("add_rows takes no mask");
      return all[0];
    };
    const array_view rows = array_of(x);
    const results_view out = c::results_at(output, result_view(nullptr, rows.type));
    enqueue_add_rows(rows, array_of(keys), columns, array_of(base), out, context_at(context));
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

fanin_status fanin_context_enqueue_lanes_of_arrays(fanin_context* context, fanin_operation what,
                                                   const fanin_input* const* inputs, size_t count,
                                                   const fanin_options* given, int64_t* lanes) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const std::vector<input_views> arrays = c::arrays_of(op, inputs, count);
    enqueue_lanes(op, arrays, lanes, context_at(context), c::options_of(given));
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
