// SPDX-License-Identifier: Apache-2.0
// Batches as callers describe them, and the choice of the backend that reduces them.
#include <fanin/fanin.hpp>

#include <limits>
#include <string>
#include <utility>

#include <fanin/accumulator/earlier_result.hpp>

#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/doubles.hpp"
#include "backends/fallback.hpp"

namespace fanin {
namespace {

/// @throws invalid_argument if the product is more than an address space holds
std::size_t product(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::ptrdiff_t>::max() / b) {
    throw invalid_argument("the array has more elements than an address space holds");
  }
  return a * b;
}

/// Whether neighbours on `outer` are as far apart as the first and the end of `inner`.
bool continues(const array_axis& outer, const array_axis& inner) {
  const auto reaches = [&](std::ptrdiff_t from, std::ptrdiff_t step) {
    return from == step * static_cast<std::ptrdiff_t>(inner.count);
  };
  for (std::size_t i = 0; i < outer.stride.size(); ++i) {
    if (!reaches(outer.stride[i], inner.stride[i])) return false;
  }
  return reaches(outer.mask_stride, inner.mask_stride);
}

/// Adds an axis to the last of the `size` axes at `axes`, or behind them.
void append(array_axis* axes, std::size_t& size, const array_axis& axis) {
  if (axis.count == 1) return;
  if (size > 0 && continues(axes[size - 1], axis)) {
    const std::size_t outer = axes[size - 1].count;
    axes[size - 1] = axis;
    axes[size - 1].count *= outer;
  } else {
    axes[size++] = axis;
  }
}

void check_takes_results(operation what) {
  if (row_of(what).takes_results) return;
  throw unsupported("add_to takes sum, product, min and max, not " + std::string(to_string(what)) +
                    ": merge states instead");
}

}  // namespace

void check_index(const input_views& inputs, const array_view& index, const char* name, std::size_t least_bytes) {
  if (!is_integer(index.type) || byte_size(index.type) < least_bytes) {
    throw invalid_argument(std::string(name) + " are integers" + (least_bytes > 1 ? " of 32 or 64 bits" : "") +
                           ", not " + std::string(to_string(index.type)));
  }
  if (index.place != inputs.place())
    throw invalid_argument(std::string(name) + " have to be in the same memory as the input");
  if (index.data == nullptr && index.count > 0) throw invalid_argument(std::string(name) + " are null");
}

void check_batch(operation what, const batch& many, const results_view& out, std::optional<element_type> wanted) {
  check_data(many.inputs);
  if (out.count != many.result_count) {
    throw invalid_argument("there is memory for " + std::to_string(out.count) + " results, but the batch has " +
                           std::to_string(many.result_count));
  }
  if (out.place == memory::device && many.inputs.place() != memory::device) {
    throw invalid_argument("the input is in host memory, so the results have to be too");
  }
  char none;
  check_result(what, result_view(out.count > 0 ? out.data : &none, out.type, out.form), wanted);
}

void check_addition(operation what, const batch& many, const results_view& out, std::optional<element_type> wanted) {
  check_takes_results(what);
  if (many.of_empty)
    throw invalid_argument("add_to does not take if_empty(): it leaves results of no elements as they are");
  check_batch(what, many, out, wanted);
}

batch rows(const input_views& inputs, std::span<const std::size_t> shape, std::span<const int> along,
           std::span<const std::ptrdiff_t> strides) {
  if (shape.size() > most_axes) throw invalid_argument("an array has at most 32 axes");
  if (!strides.empty() && strides.size() != shape.size())
    throw invalid_argument("there are " + std::to_string(strides.size()) + " strides for " +
                           std::to_string(shape.size()) + " axes");
  bool is_reduced[most_axes] = {};
  for (const int named : along) {
    const auto count = static_cast<int>(shape.size());
    const int i = named < 0 ? named + count : named;
    if (i < 0 || i >= count) {
      throw invalid_argument("there is no axis " + std::to_string(named) + " of " + std::to_string(count));
    }
    if (std::exchange(is_reduced[i], true)) throw invalid_argument("axis " + std::to_string(i) + " is named twice");
  }
  array_axis axes[most_axes];
  std::size_t total = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto in_order = static_cast<std::ptrdiff_t>(total);
    axes[i] = {shape[i], {}, in_order};
    axes[i].stride.fill(strides.empty() ? in_order : strides[i]);
    total = product(total, shape[i]);
  }
  if (strides.empty() && total != inputs.count()) {
    throw invalid_argument("the shape has " + std::to_string(total) + " elements, but the input has " +
                           std::to_string(inputs.count()));
  }
  batch many{.kind = layout::rows, .inputs = inputs.part(0, total), .result_count = 1};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (is_reduced[i]) continue;
    many.result_count = product(many.result_count, shape[i]);
    append(many.axes.data(), many.kept, axes[i]);
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (is_reduced[i]) append(many.axes.data() + many.kept, many.reduced, axes[i]);
  }
  return many;
}

batch segments(const input_views& inputs, const array_view& offsets) {
  check_index(inputs, offsets, "offsets", sizeof(std::int32_t));
  if (offsets.count == 0)
    throw invalid_argument("there are no offsets: segments need one offset more than there are segments");
  return {.kind = layout::segments, .inputs = inputs, .result_count = offsets.count - 1, .index = offsets};
}

batch groups(const input_views& inputs, const array_view& keys, std::size_t group_count) {
  check_index(inputs, keys, "keys", 1);
  if (keys.count != inputs.count())
    throw invalid_argument("there are " + std::to_string(keys.count) + " keys for " + std::to_string(inputs.count()) +
                           " elements");
  return {.kind = layout::groups, .inputs = inputs, .result_count = group_count, .index = keys};
}

report backend::reduce_inputs(const request& prepared, const input_views& inputs, void* result) const {
  request what = prepared;
  what.inputs = inputs;
  return {name(), reduce(what, result)};
}

outcome backend::reduce_each(const request& asked, const batch&, const results_view&) const {
  throw unsupported(std::string(name()) + " does not reduce " + std::string(to_string(asked.kind)));
}

std::vector<outcome> backend::reduce_jointly(std::span<const request> asked, const batch& many,
                                             std::span<const results_view> out) const {
  std::vector<outcome> done;
  for (std::size_t i = 0; i < asked.size(); ++i) done.push_back(reduce_each(asked[i], many, out[i]));
  return done;
}

report reduce(operation what, const batch& many, const results_view& out, const options& chosen) {
  check_batch(what, many, out, chosen.result);
  const bool as_f64 = is_taken_as_f64(what, many.inputs.type(), many.inputs.place());
  if (as_f64) check_known(what, many.inputs, chosen.method);
  options with_result = chosen;
  with_result.result = out.type;
  const auto choose_backend = [&](std::span<const passed_over> failed) {
    return choose(what, as_f64 ? views_as_f64(many.inputs) : many.inputs, with_result, failed, many.kind);
  };
  const auto run = [&](selection& s) {
    const auto reduce_by = [&](const request& asked, const batch& elements) {
      return s.chosen->reduce_each(asked, elements, out);
    };
    const outcome done = as_f64 ? run_as_f64(s, many, reduce_by) : reduce_by(s.what, many);
    return report(s.chosen->name(), done, std::move(s.fallback));
  };
  return with_fallback(choose_backend, run, [&] { return leaves_choice(chosen, many.inputs.place()); });
}

report add_to(operation what, const batch& many, const results_view& out, const options& chosen) {
  check_addition(what, many, out, chosen.result);
  options with_result = chosen;
  with_result.result = out.type;
  // Another backend cannot go on where one has failed: it would add some elements again.
  return compute([&] {
    selection s = choose(what, many.inputs, with_result, {}, many.kind, true);
    return report(s.chosen->name(), s.chosen->reduce_each(s.what, many, out), std::move(s.fallback));
  });
}

plan plan::of_add_to(operation what, element_type type, layout kind, const options& chosen, memory place) {
  if (kind == layout::array) throw invalid_argument("add_to takes rows, segments or groups");
  check_takes_results(what);
  return translate_bad_alloc([&] {
    return plan(choose(what, views_without_data(what, type, unknown_count, place), chosen, {}, kind, true));
  });
}

report plan::operator()(const batch& many, const results_view& out) const {
  const request& planned = chosen_.what;
  (planned.adds ? check_addition : check_batch)(planned.what, many, out, planned.result);
  const input_views& inputs = many.inputs;
  if (many.kind == planned.kind && serves_as_f64(planned, inputs)) {
    check_known(planned.what, inputs, planned.method);
    return compute([&] {
      const auto reduce_by = [&](const request& asked, const batch& elements) {
        return chosen_.chosen->reduce_each(asked, elements, out);
      };
      return report(chosen_.chosen->name(),
                    translate_bad_alloc([&] { return run_as_f64(chosen_, many, reduce_by); }));
    });
  }
  if (many.kind != planned.kind || inputs.size() != planned.inputs.size() || inputs.type() != planned.inputs.type() ||
      inputs.place() != planned.inputs.place()) {
    throw invalid_argument(
        "the batch is not like the plan: its layout, or the number, type or place of its inputs, differs");
  }
  return compute([&] { return report(chosen_.chosen->name(), chosen_.chosen->reduce_each(planned, many, out)); });
}

}  // namespace fanin
