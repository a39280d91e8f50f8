// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/batch_request.hpp"

#include <algorithm>
#include <cstddef>

#include "backends/batch_empty.hpp"
#include "backends/cuda/fold/finished.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

/// The elements that an input of the batch has before its first one, and from there on.
struct extent {
  std::int64_t low = 0, high = 0;  ///< high: one behind the last; both 0 if there are none
};
extent extent_of(const batch& many, std::size_t input) {
  if (many.kind != layout::rows) return {0, static_cast<std::int64_t>(many.inputs.count())};
  extent found{0, 1};
  for (std::size_t a = 0; a < many.kept + many.reduced; ++a) {
    const array_axis& axis = many.axes[a];
    if (axis.count == 0) return {};
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(axis.count - 1) * axis.stride[input];
    (last < 0 ? found.low : found.high) += last;
  }
  return found;
}

/// Checks that the device reaches the elements, and returns the end of the input. @throws invalid_argument
const void* checked_end(const batch& many, std::size_t input, int device) {
  const array_view& x = many.inputs[static_cast<int>(input)];
  const extent all = extent_of(many, input);
  if (all.low == all.high) return x.data;
  const auto bytes = static_cast<std::ptrdiff_t>(byte_size(x.type));
  const auto* const first = static_cast<const std::byte*>(x.data);
  check_reach(first + all.low * bytes, static_cast<std::size_t>((all.high - all.low) * bytes), device, "the input");
  return first + all.high * bytes;
}

}  // namespace

std::uint64_t elements_of_row(const batch& many) {
  std::uint64_t count = 1;
  for (std::size_t a = 0; a < many.reduced; ++a) count *= many.axes[many.kept + a].count;
  return count;
}

bool are_lines(const batch& many) {
  if (many.kind != layout::rows || many.reduced == 0) return true;
  if (many.reduced > 1) return elements_of_row(many) == 0;
  const array_axis& axis = many.axes[many.kept];
  return axis.count <= 1 || (axis.stride[0] == 1 && (many.inputs.size() == 1 || axis.stride[1] == 1));
}

batch_elements elements_of(const request& request, const batch& many, int device) {
  batch_elements all{};
  all.least_chunk = prepared_kernel(request).batches().least_chunk;
  const input_views& inputs = many.inputs;
  all.kind = many.kind == layout::rows ? layout::rows : layout::segments;
  all.partial = is_partial(inputs, request.nan);
  all.x = inputs[0].data;
  all.x_end = checked_end(many, 0, device);
  const bool has_two = inputs.size() == 2;
  all.y = has_two ? inputs[1].data : all.x;
  all.y_end = has_two ? checked_end(many, 1, device) : all.x_end;
  all.count = inputs.count();
  all.mask = inputs.mask();
  all.largest_number = presence_rule(request.what, inputs.type(), request.nan).largest_number;
  all.rule = rule_of(request.what, inputs.type());
  all.chunks = 1;
  if (many.kind == layout::rows) {
    all.length = elements_of_row(many);
    all.chunk = chunk_elements(all.length, all.least_chunk);
    all.chunks = chunk_count(all.length, all.least_chunk);
    all.kept = static_cast<unsigned>(many.kept);
    all.reduced = static_cast<unsigned>(many.reduced);
    std::copy(many.axes.begin(), many.axes.end(), all.axes);
    for (array_axis& axis : all.axes) {
      if (!has_two) axis.stride[1] = axis.stride[0];
    }
  } else {
    check_reach(many.index.data, many.index.bytes(), device,
                many.kind == layout::segments ? "the offsets" : "the keys");
    all.offsets = many.index.data;
    all.has_wide_offsets = byte_size(many.index.type) == 8;
  }
  return all;
}

batch_output output_of(const request& request, const batch& many, context& context) {
  batch_output out{};
  out.result = request.result;
  out.value = row_of(request.what).value;
  out.rule = rule_of(request.what, many.inputs.type());
  out.least = least_count(request.what);
  out.has_empty = write_empty(request, many, out.empty);
  out.status = reinterpret_cast<batch_status*>(context.batch_status_memory());
  out.call = ++context.batches;
  return out;
}

std::size_t result_bytes(const request& request) {
  return with_result_type(request.what, request.result, []<class R>() { return sizeof(R); });
}

}  // namespace fanin::cuda
