// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/reduce_batch.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include <fanin/error.hpp>

#include "backends/batch_empty.hpp"
#include "backends/cpu/batch/index.hpp"
#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/batch/group_tables.hpp"
#include "backends/cuda/batch/group_words.hpp"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/fold/finish.hpp"
#include "backends/presence_rule.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cuda {
namespace {

/// The most scratch for the states of elements, and the most for exact states, which replace states that do not fit.
/// The states are formed in as many parts as that takes. The states of a part are finished in parts again.
constexpr std::size_t most_scratch_bytes = std::size_t{1} << 28;

/// The results whose states, `bytes` for each, fit into the scratch, of `count` results.
std::uint64_t results_in_scratch(std::size_t bytes, std::uint64_t count) {
  return bytes == 0 ? count : std::clamp<std::uint64_t>(most_scratch_bytes / bytes, 1, count);
}

const kernel_launcher& prepared_kernel(const request& request) {
  return *static_cast<const kernel_launcher*>(request.prepared);
}

bool is_never_cut(const batch_fold& fold) { return fold.least_chunk == batch_fold::never_cut; }

/// The request with the method by which its batch is reduced.
request with_method_of_batch(request request) {
  const bool may_change = request.kind == layout::groups && !is_never_cut(prepared_kernel(request).batches());
  if (may_change) request.method = method_of_groups(request);
  return request;
}

/// The bound of a result to which `count` elements are added that are folded with the chain.
error_bound bound_of_addition(const request& request, const rounding_chain& chain, std::uint64_t count) {
  const recipe_functions& recipe =
      *find_functions(request.what, request.inputs.type(), with_method_of_batch(request).method);
  return recipe.addition->bound(chain, count, request.result);
}

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

std::uint64_t elements_of_row(const batch& many) {
  std::uint64_t count = 1;
  for (std::size_t a = 0; a < many.reduced; ++a) count *= many.axes[many.kept + a].count;
  return count;
}

/// Whether the elements of each result lie one after another.
bool are_lines(const batch& many) {
  if (many.kind != layout::rows || many.reduced == 0) return true;
  if (many.reduced > 1) return elements_of_row(many) == 0;
  const array_axis& axis = many.axes[many.kept];
  return axis.count <= 1 || (axis.stride[0] == 1 && (many.inputs.size() == 1 || axis.stride[1] == 1));
}

batch_elements elements_of(const request& request, const batch& many, const batch_fold& fold, int device) {
  batch_elements all{};
  all.least_chunk = fold.least_chunk;
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

/// The first offset or key that is wrong is entry i. @throws invalid_argument
[[noreturn]] void throw_bad_index(const batch& many, std::uint64_t i) {
  if (many.kind == layout::segments) {
    throw invalid_argument("offset " + std::to_string(i) +
                           " or the next one is wrong: offsets ascend from 0 to at most " +
                           std::to_string(many.inputs.count()) + ", the number of elements");
  }
  alignas(8) std::byte key[sizeof(std::uint64_t)];
  const std::size_t bytes = byte_size(many.index.type);
  check(cudaMemcpy(key, static_cast<const std::byte*>(many.index.data) + i * bytes, bytes, cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  throw cpu::key_of_no_group(i, cpu::shown_entry(array_view(key, 1, many.index.type), 0), many.result_count);
}

/// The memory on the device for results that go to `to`: this, or scratch.
void* take_results(const request& request, const results_view& to, scratch_pieces& scratch) {
  return to.place == memory::device ? to.data : scratch.take<void>(to.count * result_bytes(request));
}
/// Copies results of the host that are added to.
void copy_earlier(const request& request, const results_view& to, void* results, cudaStream_t stream) {
  if (!request.adds || to.place == memory::device) return;
  check(cudaMemcpyAsync(results, to.data, to.count * result_bytes(request), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
}

/// Enqueues the reduction of groups that are not sorted, like enqueue_batch().
template <class Tables>
const void* enqueue_tables(const Tables& tables, const request& request, const results_view& to, batch_output& out,
                           context& context) {
  scratch_pieces measured;
  take_results(request, to, measured);
  const execution where = context.with_scratch(measured.taken_bytes() + tables.scratch_bytes());
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));
  out.results = take_results(request, to, scratch);
  copy_earlier(request, to, out.results, where.stream);
  tables.enqueue(scratch, where, out);
  return out.results;
}

}  // namespace

const void* enqueue_batch(const request& asked, const batch& many, const results_view& to, context& context,
                          bool reports) {
  const request request = with_method_of_batch(asked);
  if (to.place == memory::device) {
    check_reach(to.data, many.result_count * result_bytes(request), context.where().device, "the memory for results");
  }
  const kernel_launcher& kernel = prepared_kernel(request);
  const batch_fold fold = kernel.batches();
  batch_elements all = elements_of(request, many, fold, context.where().device);
  batch_output out = output_of(request, many, context);
  cudaStream_t stream = context.where().stream;
  // Kernels of rows read no fact of an earlier batch, unless they add to results.
  if (reports || request.adds || many.kind != layout::rows) {
    check(cudaMemsetAsync(out.status, 0, sizeof *out.status, stream), "cudaMemsetAsync");
  }
  if (many.kind == layout::groups) {
    const execution& where = context.where();
    if (group_tables::serve(request, many, where)) {
      return enqueue_tables(group_tables(request, many, where), request, to, out, context);
    }
    if (!is_never_cut(fold) && group_words::serve(request, many, where)) {
      return enqueue_tables(group_words(request, many, fold.state_bytes), request, to, out, context);
    }
  }
  const bool lines = fold.has_lines && !all.partial && are_lines(many);
  const bool has_short = lines && all.kind != layout::rows && fold.most_short > 0;
  all.most_short = has_short ? fold.most_short : all.least_chunk;
  const bool has_long = all.kind != layout::rows && all.count > all.most_short;
  const bool has_default_type = request.result == default_result(request.what, request.inputs.type());
  out.has_type_of_elements = !has_default_type && request.result == request.inputs.type();
  const bool direct = fold.finishes && all.chunks == 1 && !request.adds &&
                      (has_default_type || (fold.finishes_as_elements && out.has_type_of_elements));
  const bool merges_long = direct && has_short && fold.exact_state_bytes == 0;

  // States, and numbers of elements, of each chunk of the results of a part.
  const std::size_t of_chunk = fold.state_bytes + sizeof(std::uint64_t);
  const std::uint64_t most_results =
      has_long ? std::min<std::uint64_t>(many.result_count, long_segments::most) : many.result_count;
  const std::uint64_t part = direct ? most_results : results_in_scratch(of_chunk * all.chunks, most_results);
  const std::uint64_t finished = direct ? part : results_in_scratch(fold.exact_state_bytes * all.chunks, part);
  const std::size_t chunks = direct ? 0 : part * all.chunks, exact_chunks = direct ? 0 : finished * all.chunks;
  const std::size_t most_long = has_long ? all.count / all.most_short + 1 : 0, long_chunks = 2 * most_long;
  const std::size_t of_states[] = {chunks * fold.state_bytes,
                                   chunks * sizeof(std::uint64_t),
                                   long_chunks * fold.state_bytes,
                                   long_chunks * sizeof(std::uint64_t),
                                   exact_chunks * fold.exact_state_bytes,
                                   long_chunks * fold.exact_state_bytes,
                                   sizeof(long_segments),
                                   most_long * sizeof(long_segments::entry),
                                   has_short ? long_chunks * sizeof(unsigned) : 0,
                                   is_never_cut(fold) ? kernel.scratch_bytes(context.where(), all.count) : 0};
  scratch_pieces measured;
  take_results(request, to, measured);
  for (const std::size_t one : of_states) measured.take<std::byte>(one);
  std::optional<group_sort> sort;
  if (many.kind == layout::groups) sort.emplace(request, many);
  const execution where = context.with_scratch(measured.taken_bytes() + (sort ? sort->scratch_bytes() : 0));
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));
  out.results = take_results(request, to, scratch);
  auto* const states = scratch.take<std::byte>(of_states[0]);
  auto* const present = scratch.take<std::uint64_t>(of_states[1]);
  auto* const long_states = scratch.take<std::byte>(of_states[2]);
  auto* const long_present = scratch.take<std::uint64_t>(of_states[3]);
  auto* const exact_states = scratch.take<std::byte>(of_states[4]);
  auto* const long_exact_states = scratch.take<std::byte>(of_states[5]);
  all.longs = scratch.take<long_segments>(of_states[6]);
  all.entries = scratch.take<long_segments::entry>(of_states[7]);
  all.entry_of_chunk = scratch.take<unsigned>(of_states[8]);
  execution of_kernel = where;
  of_kernel.scratch = scratch.take<std::byte>(of_states[9]);
  of_kernel.scratch_bytes = of_states[9];
  copy_earlier(request, to, out.results, stream);
  if (request.adds && many.kind == layout::segments) {
    all.results = many.result_count;
    enqueue_check_of_offsets(all, out.status, where);
  }
  if (sort) sort->enqueue(scratch, where, all, out);

  for (std::uint64_t begin = 0; begin < many.result_count; begin += part) {
    all.first = begin;
    all.results = std::min(part, many.result_count - begin);
    all.only_long = false;
    out.states = direct ? nullptr : states;
    out.present = present;
    out.exact_states = exact_states;
    if (has_long) check(cudaMemsetAsync(all.longs, 0, sizeof *all.longs, stream), "cudaMemsetAsync");
    kernel.launch_each(of_kernel, all, out, lines);
    for (std::uint64_t done = 0; done < all.results; done += finished) {
      batch_elements some = all;
      some.first = begin + done;
      some.results = std::min(finished, all.results - done);
      batch_output of_some = out;
      if (!direct) of_some.states = states + done * all.chunks * fold.state_bytes;
      of_some.present = present + done * all.chunks;
      kernel.launch_refold(where, some, of_some);
      if (!direct) enqueue_finish_each(request, some, of_some, where);
    }
    if (!has_long) continue;
    all.only_long = true;
    out.states = merges_long ? nullptr : long_states;
    out.partials = merges_long ? long_states : nullptr;
    out.present = long_present;
    out.exact_states = long_exact_states;
    kernel.launch_each(of_kernel, all, out, lines);
    kernel.launch_refold(where, all, out);
    if (!merges_long) enqueue_finish_each(request, all, out, where);
  }
  return out.results;
}

outcome reduce_batch(const request& request, const batch& many, const results_view& out, context& context) {
  const execution& where = context.where();
  const std::size_t bytes = many.result_count * result_bytes(request);
  batch_status found{};
  if (many.result_count > 0) {
    const void* const results = enqueue_batch(request, many, out, context, true);
    check(cudaMemcpyAsync(context.host_state(0), context.batch_status_memory(), sizeof found, cudaMemcpyDeviceToHost,
                          where.stream),
          "cudaMemcpyAsync");
    if (out.place == memory::host) {
      check(cudaMemcpyAsync(out.data, results, bytes, cudaMemcpyDeviceToHost, where.stream), "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
    std::memcpy(&found, context.host_state(0), sizeof found);
  } else if (many.kind == layout::groups && many.inputs.count() > 0) {
    if (!many.drops_others) throw_bad_index(many, 0);
    found.absent = many.inputs.count();
  }
  if (found.bad_index != 0) throw_bad_index(many, ~found.bad_index);
  const auto of_result = [&](unsigned long long noted) { return name_of_result(many.kind, ~noted) + ": "; };
  if (found.overflowed != 0)
    throw overflow(of_result(found.overflowed) + "the " + std::string(to_string(request.what)) + " does not fit");
  if (found.too_few != 0) {
    throw invalid_argument(of_result(found.too_few) + too_few(request.what));
  }
  const kernel_launcher& kernel = prepared_kernel(request);
  const std::uint64_t longest = many.kind == layout::rows ? elements_of_row(many) : found.longest;
  const rounding_chain chain = kernel.chain_of_result(longest);
  const bool same_bits = kernel.host().order_free || kernel.ordered();
  const error_bound bound =
      request.adds ? bound_of_addition(request, chain, longest) : kernel.host().bound(chain, longest, request.result);
  return {request.variant, request.method, same_bits ? kernel.host().reproducibility() : reproducibility::none, bound,
          found.absent};
}

}  // namespace fanin::cuda
