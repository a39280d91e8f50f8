// SPDX-License-Identifier: Apache-2.0
// The functions of device.hpp: contexts, and reductions on a context.
#include <fanin/device.hpp>
#include <fanin/state.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"
#include "backends/error_bounds.hpp"
#include "backends/exact_states.hpp"
#include "backends/presence_rule.hpp"

namespace fanin {
namespace {

const backend& device_backend() { return find_backend("cuda"); }

/// Checks the arguments as fanin::reduce does. Returns the request as the backend `cuda` has prepared it.
request prepared(operation what, const input_views& inputs, const options& chosen, layout kind = layout::array,
                 bool adds = false) {
  check_data(inputs);
  if (!chosen.devices.empty()) throw unsupported("a context has one device: leave out the option `devices`");
  const backend* const candidates[] = {&device_backend()};
  return select(candidates, chosen.backend.empty() ? candidates[0]->name() : chosen.backend, what, inputs, chosen, {},
                kind, adds)
      .what;
}
request prepared(operation what, const batch& many, const results_view& out, options& chosen) {
  check_batch(what, many, out, chosen.result);
  chosen.result = out.type;
  return prepared(what, many.inputs, chosen, many.kind);
}
request prepared_addition(operation what, const batch& many, const results_view& out, options& chosen) {
  check_addition(what, many, out, chosen.result);
  chosen.result = out.type;
  return prepared(what, many.inputs, chosen, many.kind, true);
}

report reduced_each(const request& asked, const batch& many, const results_view& out, device_context& context) {
  return compute([&]() -> report { return {device_backend().name(), context.work().reduce_each(asked, many, out)}; });
}

void enqueue_prepared(std::span<const request> asked, const batch& many, std::span<const results_view> out,
                      device_context& context) {
  for (const results_view& one : out) {
    if (one.place != memory::device)
      throw invalid_argument("enqueue() writes results to device memory; this is host memory");
  }
  if (many.result_count == 0) return;
  compute([&] { context.work().enqueue_each(asked, many, out); });
}

/// @throws unsupported if `what` has no lanes for the type, invalid_argument if `lanes` is null
void check_lanes(operation what, element_type type, const void* lanes) {
  if (lane_count(what, type) == 0) {
    throw unsupported("lanes are for exact sums of floating-point numbers, not for " + std::string(to_string(what)) +
                      " of " + std::string(to_string(type)));
  }
  if (lanes == nullptr) throw invalid_argument("the lanes are null");
}

}  // namespace

std::unique_ptr<device_work> backend::open_device(int, void*, const device_allocator*) const {
  require_usable(*this);
  throw unsupported(std::string(name()) + " has no devices");
}

device_context::device_context(int device, void* stream, const device_allocator* from)
    : work_(translate_bad_alloc([&] { return device_backend().open_device(device, stream, from); })),
      device_(device),
      stream_(stream != nullptr ? stream : work_->where(0).stream) {}

report reduce(operation what, const input_views& inputs, const result_view& value, device_context& context,
              options chosen) {
  if (chosen.bound) {
    const auto on_context = [&](operation other, const input_views& x, const result_view& out, const options& how) {
      return reduce(other, x, out, context, how);
    };
    return reduce_with_bound(what, inputs, value, chosen, {}, on_context);
  }
  check_count(what, inputs.count());
  check_result(what, value, chosen.result);
  chosen.result = value.type;
  return compute([&]() -> report {
    const outcome answer = context.work().reduce(prepared(what, inputs, chosen), value.data);
    return {device_backend().name(), answer};
  });
}

result<scalar> reduce(operation what, const input_views& inputs, device_context& context, const options& chosen) {
  return as_scalar(what, chosen.result.value_or(default_result(what, inputs.type())),
                   [&](const result_view& value) { return reduce(what, inputs, value, context, chosen); });
}

report reduce(operation what, const batch& many, const results_view& out, device_context& context, options chosen) {
  return reduced_each(prepared(what, many, out, chosen), many, out, context);
}

report add_to(operation what, const batch& many, const results_view& out, device_context& context, options chosen) {
  return reduced_each(prepared_addition(what, many, out, chosen), many, out, context);
}

report detail::exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                           options chosen, device_context& context) {
  check_state(type, x.type(), chosen);
  return compute([&]() -> report {
    request asked = prepared(what, x, chosen);
    asked.state_bytes = bytes;
    return {device_backend().name(), context.work().reduce(asked, state)};
  });
}

void enqueue(operation what, const batch& many, const results_view& out, device_context& context, options chosen) {
  const request asked = prepared(what, many, out, chosen);
  enqueue_prepared({&asked, 1}, many, {&out, 1}, context);
}

void enqueue_each(std::span<const operation> what, const batch& many, std::span<const results_view> out,
                  device_context& context, const options& chosen) {
  check_operations(what, out);
  std::vector<request> asked;
  for (std::size_t i = 0; i < what.size(); ++i) {
    options own = chosen;
    asked.push_back(prepared(what[i], many, out[i], own));
  }
  enqueue_prepared(asked, many, out, context);
}

void enqueue_add_to(operation what, const batch& many, const results_view& out, device_context& context,
                    options chosen) {
  const request asked = prepared_addition(what, many, out, chosen);
  enqueue_prepared({&asked, 1}, many, {&out, 1}, context);
}

void enqueue_add_rows(const array_view& x, const array_view& keys, std::size_t columns, const array_view& base,
                      const results_view& out, device_context& context) {
  const element_type type = x.type;
  if (!is_floating(type) || byte_size(type) == 1) {
    throw unsupported("rows to add have to be f64, f32, f16 or bf16, not " + std::string(to_string(type)));
  }
  check_index(x, keys, "keys", 1);
  if (columns == 0 || x.count % columns != 0 || x.count / columns != keys.count || out.count % columns != 0 ||
      (base.count > 0 && base.count != out.count)) {
    throw invalid_argument("the rows of " + std::to_string(columns) + " columns do not fit " +
                           std::to_string(x.count) + " elements, " + std::to_string(keys.count) + " keys, " +
                           std::to_string(base.count) + " elements of the base and " + std::to_string(out.count) +
                           " results");
  }
  if (base.type != type || out.type != type) throw invalid_argument("rows, base and results have to be of one type");
  for (const memory place : {x.place, base.place, out.place}) {
    if (place != memory::device) throw invalid_argument("rows, base and results have to be in device memory");
  }
  check_data(x);
  check_data(base);
  if (out.data == nullptr && out.count > 0) throw invalid_argument("the results are null");
  compute([&] {
    context.work().enqueue_scattered_rows(
        {type, columns, out.count / columns, x.data, keys, base.count > 0 ? base.data : nullptr, out.data});
  });
}

void enqueue(operation what, const input_views& inputs, void* result, device_context& context,
             const options& chosen) {
  if (inputs.place() != memory::device) throw invalid_argument("enqueue() reads device memory; this is host memory");
  if (result == nullptr) throw invalid_argument("the result is null");
  compute([&] { context.work().enqueue(prepared(what, inputs, chosen), result); });
}

std::size_t lane_count(operation what, element_type type) {
  std::size_t count = 0;
  with_exact_state(what, type, [&]<class T, int Power>() { count = basic_exact_accumulator<T, Power>::lane_count; });
  return count;
}

void enqueue_lanes(operation what, const input_views& x, std::int64_t* lanes, device_context& context,
                   const options& chosen) {
  enqueue_lanes(what, std::span(&x, 1), lanes, context, chosen);
}

void enqueue_lanes(operation what, std::span<const input_views> arrays, std::int64_t* lanes, device_context& context,
                   const options& chosen) {
  if (arrays.empty()) throw invalid_argument("there are no arrays");
  const element_type type = arrays[0].type();
  check_lanes(what, type, lanes);
  for (const input_views& x : arrays) {
    if (x.place() != memory::device) {
      throw invalid_argument("enqueue_lanes() reads device memory; this is host memory");
    }
    if (x.type() != type) throw invalid_argument("the arrays differ in type");
    check_data(x);
    if (arrays.size() > 1 && is_partial(x, chosen.nan))
      throw unsupported("lanes of several arrays take neither a mask nor nan = skip");
  }
  options exactly = chosen;
  check_state(type, type, exactly);
  compute([&] { context.work().enqueue_lanes(prepared(what, arrays[0], exactly), arrays, lanes); });
}

void enqueue_value_of_lanes(operation what, element_type type, const std::int64_t* lanes, void* result,
                            device_context& context, options chosen) {
  check_lanes(what, type, lanes);
  if (result == nullptr) throw invalid_argument("the result is null");
  if (chosen.method.value_or(method::exact) != method::exact)
    throw invalid_argument("lanes are for exact sums: leave out the method");
  chosen.method = method::exact;
  compute([&] {
    const request asked = prepared(what, array_view(nullptr, 0, type, memory::device), chosen);
    if (asked.result != element_type::f64 && asked.result != default_result(what, type)) {
      throw unsupported("the result of lanes is f32 or f64, not " + std::string(to_string(asked.result)));
    }
    context.work().enqueue_value_of_lanes(asked, lanes, result);
  });
}

}  // namespace fanin
