// SPDX-License-Identifier: Apache-2.0
#include "backends/c/convert.hpp"

#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "backends/as_scalar.hpp"

namespace fanin::c {
namespace {

// Enough for every sentence of the library; longer ones are cut.
thread_local char last_error[1024] = "";
thread_local std::string last_fallback;

template <std::size_t Size>
void write_name(char (&out)[Size], std::string_view name) {
  if (name.size() >= Size) throw std::length_error("a name is longer than its place in a report");
  std::memset(out, 0, Size);
  std::memcpy(out, name.data(), name.size());
}

}  // namespace

fanin_status failed(fanin_status status, const char* sentence) noexcept {
  std::strncpy(last_error, sentence, sizeof last_error - 1);
  return status;
}

fanin_status failed() noexcept {
  try {
    throw;
  } catch (const invalid_argument& e) {
    return failed(FANIN_INVALID_ARGUMENT, e.what());
  } catch (const unsupported& e) {
    return failed(FANIN_UNSUPPORTED, e.what());
  } catch (const backend_unavailable& e) {
    return failed(FANIN_BACKEND_UNAVAILABLE, e.what());
  } catch (const overflow& e) {
    return failed(FANIN_OVERFLOW, e.what());
  } catch (const out_of_memory& e) {
    return failed(FANIN_OUT_OF_MEMORY, e.what());
  } catch (const std::bad_alloc&) {
    return failed(FANIN_OUT_OF_MEMORY, "the host's memory ran out");
  } catch (const device_error& e) {
    return failed(FANIN_DEVICE_ERROR, e.what());
  } catch (const std::exception& e) {
    return failed(FANIN_INTERNAL_ERROR, e.what());
  } catch (...) {
    return failed(FANIN_INTERNAL_ERROR, "an exception of unknown type");
  }
}

std::optional<element_type> result_type_of(fanin_type type) {
  if (type == FANIN_TYPE_DEFAULT) return {};
  return type_from(type);
}

options options_of(const fanin_options* given) {
  if (given == nullptr) return {};
  const fanin_options asked = copied(given, "the options");
  options chosen;
  if (asked.backend != nullptr) chosen.backend = asked.backend;
  if (asked.variant != nullptr) chosen.variant = asked.variant;
  if (asked.method != FANIN_METHOD_DEFAULT) {
    chosen.method = enumerator<method>(asked.method, std::size(method_rows), "method");
  }
  chosen.result = result_type_of(asked.result_type);
  chosen.threads = asked.threads;
  if (asked.device_count > 0) chosen.devices = {required(asked.devices, "the list of devices"), asked.device_count};
  chosen.bound = asked.bound != 0;
  chosen.nan = enumerator<nan_policy>(asked.nan, all_nan_policies.size(), "policy for NaN");
  return chosen;
}

input_views inputs_of(operation what, const fanin_input* given) {
  const fanin_input in = copied(given, "the input");
  const element_type type = type_from(in.type);
  const memory place = place_of(in.place);
  const array_view x(in.x, in.count, type, place);
  const bool pairs = row_of(what).inputs == 2;
  if (!pairs && in.y != nullptr)
    throw invalid_argument(std::string(to_string(what)) + " reads one array, and y is set");
  const input_views all = pairs ? input_views(x, array_view(in.y, in.count, type, place)) : input_views(x);
  if (in.mask == nullptr) return all;
  return all.where({in.mask, in.mask_first, enumerator<mask_form>(in.mask_form, 2, "form of masks")});
}

std::vector<input_views> arrays_of(operation what, const fanin_input* const* given, std::size_t count) {
  if (count == 0) throw invalid_argument("there are no arrays");
  std::vector<input_views> arrays;
  for (std::size_t i = 0; i < count; ++i) arrays.push_back(inputs_of(what, required(given, "the inputs")[i]));
  return arrays;
}

batch batch_of(const input_views& inputs, const fanin_batch* given, std::optional<result_view> empty) {
  const fanin_batch asked = copied(given, "the batch");
  const auto index = [&] {
    return array_view(asked.index, asked.index_count, type_from(asked.index_type), inputs.place());
  };
  const auto made = [&]() -> batch {
    switch (asked.layout) {
      case FANIN_ROWS: {
        if (asked.axis_count > 0) required(asked.shape, "the shape");
        if (asked.along_count > 0) required(asked.along, "the list of axes");
        static_assert(std::is_same_v<std::uint64_t, std::size_t> && std::is_same_v<std::int64_t, std::ptrdiff_t>);
        const std::size_t strides = asked.strides == nullptr ? 0 : asked.axis_count;
        return rows(inputs, {asked.shape, asked.axis_count}, {asked.along, asked.along_count},
                    {asked.strides, strides});
      }
      case FANIN_SEGMENTS:
        return segments(inputs, index());
      case FANIN_GROUPS:
        return groups(inputs, index(), asked.group_count);
      default:
        throw invalid_argument("the layout of a batch is FANIN_ROWS, FANIN_SEGMENTS or FANIN_GROUPS");
    }
  };
  batch many = made();
  many.drops_others = asked.drop_others != 0;
  if (asked.if_empty != nullptr && empty)
    many.of_empty = scalar_at({const_cast<void*>(asked.if_empty), empty->type, empty->form});
  return many;
}

result_view result_at(void* result, operation what, element_type type, std::optional<element_type> wanted) {
  return {result, wanted.value_or(default_result(what, type)), row_of(what).form};
}

results_view results_at(const fanin_output* given, const result_view& one) {
  const fanin_output out = copied(given, "the output");
  return {out.data, out.count, one.type, one.form, place_of(out.place)};
}

each_operation each_of(const fanin_operation* operations, const fanin_type* types, std::size_t count,
                       const fanin_input* input, const fanin_batch* given, const fanin_options* asked,
                       const fanin_output* const* outputs) {
  if (count == 0) throw invalid_argument("there are no operations");
  each_operation each{options_of(asked), {}, {}, {}};
  const std::optional<element_type> of_all = std::exchange(each.chosen.result, std::nullopt);
  for (std::size_t i = 0; i < count; ++i) {
    const operation what = operation_of(required(operations, "the list of operations")[i]);
    const input_views inputs = inputs_of(what, input);
    const std::optional<element_type> wanted = types == nullptr ? of_all : result_type_of(types[i]);
    const result_view one = result_at(nullptr, what, inputs.type(), wanted);
    if (i == 0) each.many = batch_of(inputs, given, one);
    each.what.push_back(what);
    each.out.push_back(results_at(required(outputs, "the list of outputs")[i], one));
  }
  return each;
}

void write_report(const report& done, fanin_report* report, const result_view* value) {
  if (report == nullptr) return;
  fanin_report out = copied(report, "the report");
  write_name(out.backend, done.backend);
  write_name(out.variant, done.variant);
  out.method = static_cast<fanin_method>(done.method);
  out.reproducibility = static_cast<fanin_reproducibility>(done.reproducibility);
  out.bound_of_result = done.bound.of_result;
  out.bound_of_magnitudes = done.bound.of_magnitudes;
  out.bound_absolute = done.bound.absolute;
  out.absent = done.absent;
  last_fallback.clear();
  for (const passed_over& one : done.fallback) {
    if (!last_fallback.empty()) last_fallback += "; ";
    last_fallback.append(one.backend).append(": ").append(to_string(one.why));
  }
  out.fallback = last_fallback.c_str();
  // Many results have no value that stands for all of them. The bound of a NaN is 0 where nothing is rounded.
  const scalar one = value != nullptr ? scalar_at(*value) : scalar(std::numeric_limits<double>::quiet_NaN());
  out.error_bound = done.error_bound_of(one);
  out.unproven = value != nullptr       ? done.why_unbounded(one).data()
                 : out.error_bound == 0 ? ""
                                        : "the results have bounds of their own, which the coefficients give";
  write_back(out, report);
}

}  // namespace fanin::c

const char* fanin_last_error(void) { return fanin::c::last_error; }
