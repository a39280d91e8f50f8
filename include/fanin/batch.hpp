// SPDX-License-Identifier: Apache-2.0
// Many results in one call: one for each row of an array along any of its axes, for each segment, or for each group
// of elements that have the same key.
//
//   std::vector<float> sums(rows);
//   fanin::sum(fanin::rows(x, {rows, columns}, 1), sums);            // x[i][0] + x[i][1] + ...
//   fanin::sum(fanin::rows(x, {rows, columns}, 0), column_sums);     // x[0][j] + x[1][j] + ...
//   fanin::sum(fanin::segments(x, offsets), segment_sums);           // x[offsets[k]] up to x[offsets[k + 1] - 1]
//   fanin::sum(fanin::groups(x, keys, group_count), group_sums);     // all x[i] where keys[i] == k
//   fanin::add_to(fanin::groups(x, keys, group_count), group_sums);  // the same, added to the old group_sums
//
// Shared by all of them:
//   Results: one after another in memory of the caller. They have the type that the verb gives for one array. Results
//   of rows are in the C order of the axes that are not reduced. An index counts from the start of the row or
//   segment; for groups it counts from the start of x. report::bound holds for each result. report::absent counts the
//   absent elements of all results.
//   Reproducible, on a CPU backend: a row or segment has the bits that the verb gives for an array of the same
//   elements in the same order, which is C order for a row. A group has the bits of the same elements as the only
//   group. With method::fast and method::compensated the elements of a group are added one after another, in the
//   order of x. So other results in the same call, strides, threads and the choice of the CPU backend do not change a
//   result. With method::exact the order does not change a result either.
//   Reproducible, on `cuda`: a result has the bits of the same elements as the only row or segment, for any other
//   results, strides and alignment. With method::exact a result also has the bits of one array. Sums and means of f32
//   and f64 in groups of device memory are exact with method::fast, too.
//   Empty: a result of too few elements has the value that the verb gives for none. If the verb has no such value,
//   the result is the value of if_empty(), or NaN for floating-point results.
//   @throws invalid_argument if there is neither; the error names the first such result
//   Backends: serial, openmp and tbb with host memory; cuda and cub with device memory. cub has fewer operations and
//   types, and thrust has no batches (docs/batch.md). @throws unsupported for what a backend does not have
//   Device memory for rows and segments:
//   - Results for the host, because they are first written to the device.
//   - Up to 256 MiB of partial states for exact results, results of another type than the verb's own, and results of
//     more than 4096 elements. Exact results take up to 256 MiB more, for sums that partial states do not hold.
//   - Segments of more than 4096 elements: up to two states more for every 4096 elements of x. For exact sums this is
//     0.07 bytes for each float, or 0.3 for each double.
//   - Segments of 256 elements or more, for other exact operations: up to two states more for every 256 elements of
//     x. For exact variances of doubles this is 13 bytes for each element.
//   - Fast sums, max and argmax of segments: up to 2.5 % of x's memory instead.
//   Device memory for groups, of up to 2^32 - 2 elements and as many groups:
//   - Sums, means and sums of magnitudes of f32 and f64 in up to 2^22 groups, fast or exact: 68 to 108 bytes for each
//     group, and 96 (f32) or 552 (f64) for each group or element, whichever are fewer. From some 40000 to 80000
//     groups on, by type, up to 6.2 or 10.3 bytes for each element more. With up to as many groups, f16 and bf16 take
//     as much as f32, and squares as much as f64.
//   - Extrema, counts, and exact sums, squares and variances of integers, in up to some 11000 groups: up to 128 bytes
//     for each group.
//   - All other groups are sorted: 4 bytes for each group, and 12 for each element of 4 bytes or 16 for each of 8.
//     With fewer than 2^16 groups, elements of 1, 2 and 4 bytes take 5, 6 and 8. With elements of another size, two
//     inputs, a mask or an index, each element takes up to 16 bytes and the copies. If the number of groups has more
//     than 8 bits, each element takes up to 12 bytes more.
//   - Groups that are not sorted, with keys of 8 and 16 bits: 4 bytes more for each element.
//   Host memory:
//   - Contiguous rows, and segments: as for one array.
//   - Rows with strides: for each thread up to 0.5 MiB of copies and the states of up to 64 rows, or 256 KiB of
//     states for each level of the tree of leaves.
//   - Groups that are not sorted (docs/batch.md): up to 64 bytes for each group, and for exact sums 128 bytes for
//     each of up to 254 groups. Where order does not matter, each thread takes as much. If some elements of exact
//     sums do not fit, each group takes 48 bytes more, and a group with such elements up to 0.6 KiB. If the states
//     would take more than 32 MiB, the call takes a copy of elements and keys, and 0.5 MiB of states for each thread.
//   - Other groups are copied by key: n elements, and 8 bytes for each group. Each further thread takes the 8 bytes
//     again, if this is less than 8 bytes for each element. argmin and argmax take 8 bytes more for each element.
//     From 2^18 groups on, the call takes a copy of elements and keys, and for each thread a copy of a part of the
//     elements.
//   Threads: safe to call concurrently.   Overlap: results must share no byte with inputs, mask, offsets or keys.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include <fanin/elements.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// The most axes that an array of rows() has.
inline constexpr std::size_t most_axes = 32;

/// One axis of an array: the number of places, and the distance from one place to the next. The distance is counted
/// in elements for each input, and in entries for the mask.
struct array_axis {
  std::size_t count = 1;
  std::array<std::ptrdiff_t, most_inputs> stride{};
  std::ptrdiff_t mask_stride = 0;
};

/// Elements, and the result to which each of them belongs. rows(), segments() and groups() make it. It does not own
/// the elements.
struct batch {
  layout kind = layout::rows;
  /// The elements. For rows, `data` points to index 0 of every axis, and `count` is the number of elements of all
  /// rows.
  input_views inputs = array_view();
  std::size_t result_count = 0;
  /// The axes of rows: first the axes that are kept, then the axes that are reduced. Axes that act as one are
  /// joined.
  std::array<array_axis, most_axes> axes{};
  std::size_t kept = 0, reduced = 0;
  /// The offsets of segments, which are i32, i64, u32 or u64, or the keys of groups, which are of any integer type.
  array_view index = {};
  bool drops_others = false;
  std::optional<scalar> of_empty = {};

  /// A copy of this batch with a value for results of too few elements. The value has the type of the results.
  batch if_empty(const scalar& value) const {
    batch changed = *this;
    changed.of_empty = value;
    return changed;
  }
  /// A copy of these groups that leaves out elements whose key is not the number of a group. report::absent counts
  /// them.
  batch drop_others() const {
    batch changed = *this;
    changed.drops_others = true;
    return changed;
  }
};

/// The caller's memory for `count` results of the form `form`, with numbers of `type`. Results can be in device
/// memory only if the elements are in device memory too.
struct results_view {
  void* data;
  std::size_t count;
  element_type type;
  result_form form = result_form::number;
  memory place = memory::host;

  results_view(void* data_, std::size_t count_, element_type type_, result_form form_ = result_form::number,
               memory place_ = memory::host) noexcept
      : data(data_), count(count_), type(type_), form(form_), place(place_) {}
  /// Takes a std::vector, std::span, std::array or the like.
  template <class Out>
  requires detail::contiguous<Out> && std::output_iterator<detail::iterator_of<Out>, detail::range_value<Out>> &&
      result_value<detail::range_value<Out>>
      results_view(Out&& out)
  noexcept : data(std::ranges::data(out)), count(std::ranges::size(out)) {
    using traits = result_traits<detail::range_value<Out>>;
    type = type_of<typename traits::number>;
    form = traits::form;
  }
};

/// Reduces each row, segment or group of the batch to one result. The verbs call this function.
/// @throws as reduce(); invalid_argument if the memory is for another number or type of results, if offsets descend
/// or leave the elements, or if a key is no group number (the error names the first); overflow, which names the
/// result
FANIN_API report reduce(operation what, const batch& many, const results_view& out, const options& chosen = {});

/// Reduces each row, segment or group by several operations: out[i] has the results of what[i].
/// Each result has the bits that reduce() gives for its operation, and report i is what reduce() returns for it.
/// Memory: as for reduce(), for all operations together. CPU backends take states more: for each MiB of a long row or
/// segment, and for each block of a column.
/// Cost: on CPU backends one read of rows and segments from memory. Each operation folds the same block of elements,
/// which stays in a cache. Groups, device memory, log_sum_exp of integers, and some columns (docs/batch.md) take one
/// read for each operation.
/// @throws as reduce() for the first operation that fails, and then all results are unspecified; invalid_argument if
/// there are no operations, or memory for another number of operations
FANIN_API std::vector<report> reduce_each(std::span<const operation> what, const batch& many,
                                          std::span<const results_view> out, const options& chosen = {});

/// fanin::reduce_each({operation::mean, operation::max}, fanin::rows(x, {rows, columns}, 0), {means, largest})
inline std::vector<report> reduce_each(std::initializer_list<operation> what, const batch& many,
                                       std::initializer_list<results_view> out, const options& chosen = {}) {
  return reduce_each(std::span(what.begin(), what.size()), many, std::span(out.begin(), out.size()), chosen);
}

/// Reduces each row, segment or group together with the result that is in `out` already: out[k] becomes out[k] + x[i]
/// + x[j] + ... over the elements of result k. `what` is sum, product, min or max. If no element of a result takes
/// part, the result keeps its bits.
/// Accuracy: out[k] counts as one more element, after the others. report::bound holds, with |out[k]| in the sum of
/// the magnitudes. method::exact sums out[k] and the elements without rounding, and rounds once. Each further call
/// rounds once more. If many calls have to give the bits of one call, keep states and not results (`incremental`,
/// `exact_accumulator`).
/// Reproducible: as reduce() of a batch. With method::exact, and for integers, the order of the elements does not
/// matter.
/// Backends: as for reduce() of a batch. On a device partial states take memory as for results of another type. If a
/// backend fails, no other backend is tried, because some results may have been changed.
/// @throws as reduce(); unsupported for other operations; invalid_argument for a batch with if_empty(). After
/// overflow all results have been added to, except those that would not fit; the error names the first of these.
/// After out_of_memory some results have been added to, and after other errors none.
FANIN_API report add_to(operation what, const batch& many, const results_view& out, const options& chosen = {});

/// Adds the sums of the batch's elements to the results.
inline report add_to(const batch& many, const results_view& out, const options& chosen = {}) {
  return add_to(operation::sum, many, out, chosen);
}

/// The rows of an array along the axes `along`. A row has the elements whose indices on all other axes are the same,
/// in C order. Axis -1 is the last one. Without `strides` the array is in C order. `strides` are distances in
/// elements, counted from the first element of the input; they may be negative or 0. A mask is always in C order.
/// @throws invalid_argument if the inputs have another number of elements than the array in C order, if there are
/// more than most_axes axes, or if an axis does not exist or is named twice
FANIN_API batch rows(const input_views& inputs, std::span<const std::size_t> shape, std::span<const int> along,
                     std::span<const std::ptrdiff_t> strides = {});

/// Segment k has the elements offsets[k] up to offsets[k + 1] - 1. There is one more offset than there are segments.
/// @throws invalid_argument if there are no offsets, if they are not i32, i64, u32 or u64, or if they are not in the
/// same memory as the inputs
FANIN_API batch segments(const input_views& inputs, const array_view& offsets);

/// Group k has the elements whose key is k, for k from 0 up to group_count - 1.
/// @throws invalid_argument if there are not as many keys as elements, if they are no integers, or if they are not in
/// the same memory as the inputs
FANIN_API batch groups(const input_views& inputs, const array_view& keys, std::size_t group_count);

namespace detail {

template <class X>
input_views views_of(const X& x) {
  input_views inputs(view_of(x));
  if constexpr (is_masked<X>) inputs = inputs.where(x.mask());
  return inputs;
}
template <class X, class Y>
input_views views_of(const X& x, const Y& y) {
  static_assert(!is_masked<Y>, "only the first input of dot takes a mask, which leaves out pairs");
  return input_views(view_of(x), view_of(y)).where(views_of(x).mask());
}

/// The views of inputs of the verbs, or of objects that name their memory themselves, such as device_span.
template <class X, class... Y>
input_views inputs_anywhere(const X& x, const Y&... y) {
  if constexpr (requires { x.operator array_view(); }) {
    return input_views(array_view(x), array_view(y)...);
  } else {
    return views_of(x, y...);
  }
}

template <class I>
concept indices = elements<I> && std::integral<element_of<I>>;

}  // namespace detail

/// These overloads take the inputs of the verbs, also where() of such an input, and device_span.
template <elements X>
batch rows(const X& x, std::initializer_list<std::size_t> shape, int along) {
  return rows(detail::inputs_anywhere(x), {shape.begin(), shape.size()}, {&along, 1});
}
template <elements X, elements Y>
batch rows(const X& x, const Y& y, std::initializer_list<std::size_t> shape, int along) {
  return rows(detail::inputs_anywhere(x, y), {shape.begin(), shape.size()}, {&along, 1});
}
template <elements X, detail::indices Offsets>
batch segments(const X& x, const Offsets& offsets) {
  return segments(detail::inputs_anywhere(x), detail::inputs_anywhere(offsets)[0]);
}
template <elements X, elements Y, detail::indices Offsets>
batch segments(const X& x, const Y& y, const Offsets& offsets) {
  return segments(detail::inputs_anywhere(x, y), detail::inputs_anywhere(offsets)[0]);
}
template <elements X, detail::indices Keys>
batch groups(const X& x, const Keys& keys, std::size_t group_count) {
  return groups(detail::inputs_anywhere(x), detail::inputs_anywhere(keys)[0], group_count);
}
template <elements X, elements Y, detail::indices Keys>
batch groups(const X& x, const Y& y, const Keys& keys, std::size_t group_count) {
  return groups(detail::inputs_anywhere(x, y), detail::inputs_anywhere(keys)[0], group_count);
}

}  // namespace fanin
