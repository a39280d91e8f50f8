// SPDX-License-Identifier: Apache-2.0
// Reductions of the C interface: of one array, planned, in blocks, and of batches.
#include <fanin/sharded.hpp>

#include "backends/c/convert.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required, c::write_report;

/// Calls reduce() or add_to() of a batch.
template <report (*Call)(operation, const batch&, const results_view&, const options&)>
fanin_status to_each(fanin_operation what, const fanin_input* input, const fanin_batch* given,
                     const fanin_options* asked, const fanin_output* output, fanin_report* report) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(asked);
    const input_views inputs = c::inputs_of(op, input);
    const result_view one = c::result_at(nullptr, op, inputs.type(), chosen.result);
    write_report(Call(op, c::batch_of(inputs, given, one), c::results_at(output, one), chosen), report);
  });
}

}  // namespace

fanin_status fanin_reduce(fanin_operation what, const fanin_input* input, const fanin_options* given, void* result,
                          fanin_report* report) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(given);
    const input_views inputs = c::inputs_of(op, input);
    const result_view one = c::result_at(required(result, "the result"), op, inputs.type(), chosen.result);
    write_report(reduce(op, inputs, one, chosen), report, &one);
  });
}

fanin_status fanin_reduce_arrays(fanin_operation what, const fanin_input* const* inputs, size_t count,
                                 const fanin_options* given, void* result, fanin_report* report) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    const options chosen = c::options_of(given);
    const std::vector<input_views> parts = c::arrays_of(op, inputs, count);
    const result_view one = c::result_at(required(result, "the result"), op, parts[0].type(), chosen.result);
    write_report(reduce(op, sharded(parts), one, chosen), report, &one);
  });
}

fanin_status fanin_batch_results(const fanin_input* input, const fanin_batch* given, uint64_t* count) {
  return guarded([&] {
    const bool pairs = required(input, "the input")->y != nullptr;
    const input_views inputs = c::inputs_of(pairs ? operation::dot : operation::sum, input);
    *required(count, "the count") = c::batch_of(inputs, given, {}).result_count;
  });
}

fanin_status fanin_reduce_batch(fanin_operation what, const fanin_input* input, const fanin_batch* given,
                                const fanin_options* asked, const fanin_output* output, fanin_report* report) {
  return to_each<reduce>(what, input, given, asked, output, report);
}

fanin_status fanin_reduce_each(const fanin_operation* operations, const fanin_type* types, size_t count,
                               const fanin_input* input, const fanin_batch* given, const fanin_options* asked,
                               const fanin_output* const* outputs, fanin_report* const* reports) {
  return guarded([&] {
    const c::each_operation each = c::each_of(operations, types, count, input, given, asked, outputs);
    const std::vector<report> done = reduce_each(each.what, *each.many, each.out, each.chosen);
    for (std::size_t i = 0; i < count && reports != nullptr; ++i) write_report(done[i], reports[i]);
  });
}

fanin_status fanin_add_to(fanin_operation what, const fanin_input* input, const fanin_batch* given,
                          const fanin_options* asked, const fanin_output* output, fanin_report* report) {
  return to_each<add_to>(what, input, given, asked, output, report);
}

fanin_status fanin_plan_create(fanin_operation what, fanin_type type, fanin_memory place, fanin_layout kind,
                               uint64_t expected_count, const fanin_options* given, fanin_plan** made) {
  return guarded([&] {
    *required(made, "the place for the plan") = nullptr;
    *made = new fanin_plan{{c::operation_of(what), c::type_from(type), c::options_of(given),
                            std::min<std::size_t>(expected_count, plan::unknown_count), c::place_of(place),
                            c::enumerator<layout>(kind, FANIN_GROUPS + 1, "layout")}};
  });
}

fanin_status fanin_plan_create_add_to(fanin_operation what, fanin_type type, fanin_memory place, fanin_layout kind,
                                      const fanin_options* given, fanin_plan** made) {
  return guarded([&] {
    *required(made, "the place for the plan") = nullptr;
    *made = new fanin_plan{plan::of_add_to(c::operation_of(what), c::type_from(type),
                                           c::enumerator<layout>(kind, FANIN_GROUPS + 1, "layout"),
                                           c::options_of(given), c::place_of(place))};
  });
}

fanin_status fanin_plan_reduce(const fanin_plan* with, const fanin_input* input, void* result, fanin_report* report) {
  return guarded([&] {
    const plan& planned = required(with, "the plan")->planned;
    const request& what = planned.chosen().what;
    const input_views inputs = c::inputs_of(what.what, input);
    const result_view one = c::result_at(required(result, "the result"), what.what, inputs.type(), what.result);
    write_report(planned(inputs, one), report, &one);
  });
}

fanin_status fanin_plan_reduce_batch(const fanin_plan* with, const fanin_input* input, const fanin_batch* given,
                                     const fanin_output* output, fanin_report* report) {
  return guarded([&] {
    const plan& planned = required(with, "the plan")->planned;
    const request& what = planned.chosen().what;
    const input_views inputs = c::inputs_of(what.what, input);
    const result_view one = c::result_at(nullptr, what.what, inputs.type(), what.result);
    write_report(planned(c::batch_of(inputs, given, one), c::results_at(output, one)), report);
  });
}

void fanin_plan_destroy(fanin_plan* planned) { delete planned; }

fanin_status fanin_incremental_create(fanin_operation what, fanin_type type, const fanin_options* given,
                                      fanin_incremental** made) {
  return guarded([&] {
    *required(made, "the place for the incremental") = nullptr;
    *made = new fanin_incremental{{c::operation_of(what), c::type_from(type), c::options_of(given)}};
  });
}

fanin_status fanin_incremental_push(fanin_incremental* into, const fanin_input* block) {
  return guarded([&] {
    incremental& stream = required(into, "the incremental")->stream;
    stream.push(c::inputs_of(stream.chosen().what.what, block));
  });
}

fanin_status fanin_incremental_finish(fanin_incremental* from, void* result, fanin_report* report) {
  return guarded([&] {
    incremental& stream = required(from, "the incremental")->stream;
    const request& what = stream.chosen().what;
    const result_view one(required(result, "the result"), what.result, row_of(what.what).form);
    write_report(stream.finish(one), report, &one);
  });
}

void fanin_incremental_destroy(fanin_incremental* finished) { delete finished; }
