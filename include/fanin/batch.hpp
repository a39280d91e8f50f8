// SPDX-License-Identifier: Apache-2.0
// Many results in one call: one for each row of an array along any of its axes, for each segment, or for each group
// of elements that have the same key.
//
//   std::vector<float> sums(rows);
//   fanin::sum(fanin::rows(x, {rows, columns}, 1), sums);            // x[i][0] + x[i][1] + ...
//   fanin::sum(fanin::rows(x, {rows, columns}, 0), column_sums);     // x[0][j] + x[1][j] + ...
//   fanin::sum(fanin::segments(x, offsets), segment_sums);           // x[offsets[k]] up to x[offsets[k + 1] - 1]
//   fanin::sum(fanin::groups(x, keys, group_count), group_sums);     // all x[i] where keys[i] == k
//   fanin::add_to(fanin::groups(x, keys, group_count), group_sums);  // the same, and what stands in group_sums
//
// Shared by all of them:
//   Results: one after another in memory of the caller, of the type that the verb gives for one array. Results of
//   rows stand in the order of the axes that are left (C order). An index is that in the row or the segment; in
//   groups it is that in x. report::bound holds for each result, and report::absent counts for all of them.
//   Reproducible: on a CPU backend a result has the bits that the verb gives for an array of the same elements in the
//   same order: of a row in C order, of a group in the order in which they stand in x. So neither other results in
//   the same call, nor strides, threads or the CPU backend change it; with method::exact, neither does the order.
//   `cuda` gives the bits of the same elements as the only row or segment, whatever the others, strides and
//   alignment, those of a group in the order of x; only with method::exact are they those of one array. Sums and
//   means of f32 and f64 in groups of device memory are exact with method::fast, too. Empty: a result of too few
//   elements has the value that the verb gives for none; where that is an error it is NaN if it consists of
//   floating-point numbers, or the value given by if_empty().
//   @throws invalid_argument otherwise, which names the first such result
//   Backends: serial, openmp and tbb, with host memory; cuda with device memory, and cub and thrust, which have fewer
//   operations and types (docs/batch.md). @throws unsupported for what they do not have
//   Device memory: results of more than 4096 elements, of another type than the verb's own, and exact ones take up to
//   256 MiB for partial states. Segments of more than 4096 elements take besides up to two states for every 4096
//   elements of x: in exact sums of floats 0.07 bytes for each element, of doubles 0.3. Segments of other exact
//   operations take them from 256 elements on, for every 256: in exact variances of doubles 13 bytes for each
//   element. Fast sums, max and argmax of segments take up to 2.5 % of x's memory instead. Results for the host are
//   held on the device first. Groups, of up to 2^32 - 2 elements and as many groups, are sorted. That takes 12 bytes
//   for each element of 4 bytes, 16 for each of 8, and for other elements, two inputs, a mask or an index 16 and the
//   copies; 4 bytes for each group; and where their number has more than 8 bits, up to 12 bytes more for each
//   element. Sums and means of f32 and f64 in up to 2^22 groups, `fast` or exact, take in place of that 68 to 108
//   bytes for each group; 96 (f32) or 552 (f64) for each group or element, whichever are fewer; and for more than
//   some 40000 to 80000 groups, by type, 6 or 10 for each element. Host memory: rows whose elements are contiguous,
//   and segments, need what one array needs. Rows with strides take for each thread up to 0.5 MiB of copies and the
//   states of up to 64 rows, or 256 KiB of states for each level of the tree of leaves. Groups are copied once, by
//   key: n elements, 8 bytes for each group, and the same again for each further thread as long as that is less than
//   8 bytes for each element; argmin and argmax take 8 bytes more for each element. From 2^18 groups on they take a
//   copy of elements and keys, and for each thread one of a part of the elements. Groups that are not sorted
//   (docs/batch.md) need no copy where all of them take less than 1 MiB: up to 544 bytes for each group, in a fast
//   sum 288, and as much for each level of the tree of leaves. Else they take a copy of elements and keys, and up to
//   8 MiB of such states for each thread. Threads: safe to call concurrently.   Overlap: results must share no byte
//   with inputs, mask, offsets or keys.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>

#include <fanin/elements.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// The most axes that an array of rows() has.
inline constexpr std::size_t most_axes = 32;

/// One axis of an array: the number of places, and the distance from one to the next, counted in elements of each
/// input and in entries of the mask.
struct array_axis {
  std::size_t count = 1;
  std::array<std::ptrdiff_t, most_inputs> stride{};
  std::ptrdiff_t mask_stride = 0;
};

/// Elements, and the result to which each of them belongs. Does not own them. Made by rows(), segments() and
/// groups().
struct batch {
  layout kind = layout::rows;
  /// The elements. For rows, `data` points to index 0 of every axis, and `count` is that of all rows together.
  input_views inputs = array_view();
  std::size_t result_count = 0;
  /// For rows: the axes that are left, then the axes along which rows lie. Axes that act as one are joined.
  std::array<array_axis, most_axes> axes{};
  std::size_t kept = 0, reduced = 0;
  /// The offsets of segments, or the keys of groups: i32, i64, u32 or u64.
  array_view index;
  bool drops_others = false;
  std::optional<scalar> of_empty = {};

  /// A copy of this batch with a value for results of too few elements. The value has the type of the results.
  batch if_empty(const scalar& value) const {
    batch changed = *this;
    changed.of_empty = value;
    return changed;
  }
  /// A copy of these groups that leaves out elements whose keys are of no group. report::absent counts them.
  batch drop_others() const {
    batch changed = *this;
    changed.drops_others = true;
    return changed;
  }
};

/// The caller's memory for `count` results of the form `form`, with numbers of `type`. Only results of device memory
/// can be written to device memory.
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
  requires std::ranges::contiguous_range<Out> && std::ranges::sized_range<Out> &&
      std::ranges::output_range<Out, std::ranges::range_value_t<Out>> && result_value<std::ranges::range_value_t<Out>>
      results_view(Out&& out)
  noexcept : data(std::ranges::data(out)), count(std::ranges::size(out)) {
    using form_of_value = result_traits<std::ranges::range_value_t<Out>>;
    type = type_of<typename form_of_value::number>;
    form = form_of_value::form;
  }
};

/// Reduces each row, segment or group of the batch to one result. The verbs call it.
/// @throws as reduce(); invalid_argument if the memory is for another number or type of results, if offsets descend
/// or leave the elements, or if a key is of no group, which then names the first; overflow, which names the result
FANIN_API report reduce(operation what, const batch& many, const results_view& out, const options& chosen = {});

/// Reduces each row, segment or group together with the result that stands in `out`: out[k] becomes out[k] + x[i] +
/// x[j] + ... over the elements of result k. `what` is sum, product, min or max, of which a result can be an element.
/// A result of which no element takes part keeps its bits.
/// Accuracy: as for one more element, which stands behind the others: report::bound holds, with out[k] among the
/// magnitudes. method::exact sums out[k] and the elements without rounding, and rounds once. So does each further
/// call: where many calls are to give the bits of one, keep states and not results (`incremental`,
/// `exact_accumulator`).
/// Reproducible: as reduce() of a batch; method::exact and integers do not see the order of the elements.
/// Backends: as there; on a device partial states take memory as for results of another type. The backend is chosen
/// once: results that are added to cannot be added to again.
/// @throws as reduce(), and unsupported for other operations, invalid_argument for a batch with if_empty(). After
/// overflow all results have been added to but those that would not fit, of which it names the first; after
/// out_of_memory some have been; after other errors none.
FANIN_API report add_to(operation what, const batch& many, const results_view& out, const options& chosen = {});

/// Adds the sums of the batch's elements to the results.
inline report add_to(const batch& many, const results_view& out, const options& chosen = {}) {
  return add_to(operation::sum, many, out, chosen);
}

/// The rows of an array with these axes along `along`: the elements whose indices on all other axes are the same, in
/// C order. Axis -1 is the last one. With `strides`, in elements, the inputs are read at these distances, which may
/// be negative or 0, from their first element on; without, the array is in C order. A mask always is.
/// @throws invalid_argument if the inputs have another number of elements than the array in C order, if there are
/// more than most_axes axes, or if an axis does not exist or is named twice
FANIN_API batch rows(const input_views& inputs, std::span<const std::size_t> shape, std::span<const int> along,
                     std::span<const std::ptrdiff_t> strides = {});

/// Segment k is the elements offsets[k] up to offsets[k + 1] - 1. There is one more offset than segments.
/// @throws invalid_argument if there are no offsets, or offsets of another type or place than i32, i64, u32 or u64 in
/// the inputs' memory
FANIN_API batch segments(const input_views& inputs, const array_view& offsets);

/// Group k is the elements whose keys are k, for k from 0 up to group_count - 1.
/// @throws invalid_argument if there are not as many keys as elements, or keys of another type or place as above
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
  static_assert(!is_masked<Y>, "the mask goes with the first input, and leaves out pairs");
  return input_views(view_of(x), view_of(y)).where(views_of(x).mask());
}

/// The views of what the verbs take, or of what names its memory itself, as device_span does.
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

/// These overloads take what the verbs take, also where() of it, and device_span.
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
