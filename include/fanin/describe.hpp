// SPDX-License-Identifier: Apache-2.0
// The description of an array, in one read: the number of elements and of NaN, the smallest and the largest element,
// the sum, the mean and the standard deviation, all exact. fanin.hpp includes this header.
//
//   std::vector<float> x = ...;
//   const auto all = fanin::describe(x).value;        // all.count, all.nan, all.min, ..., all.standard_deviation
//   const auto some = fanin::describe(fanin::where(x, mask), {.nan = fanin::nan_policy::skip}).value;
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>

#include <fanin/elements.hpp>
#include <fanin/form.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>
#include <fanin/typed_reduce.hpp>

namespace fanin {

/// The result of describe() for elements of type Element. Each number has the type and the bits of its verb's value
/// with method::exact.
template <class Element, class Sum = result_of<operation::sum, Element>,
          class Quotient = result_of<operation::standard_deviation, Element>>
struct description {
  std::uint64_t count;  ///< elements that are not NaN, without those that a mask leaves out
  std::uint64_t nan;    ///< NaN, without those that a mask leaves out
  Element min, max;
  Sum sum;
  Quotient mean, standard_deviation;  ///< of a population: the variance is divided by `count`
  bool sum_overflows = false;         ///< an integer sum does not fit into Sum, and `sum` is 0
};

/// A description of elements whose type is known only at run time.
using any_description = description<scalar, scalar, scalar>;

namespace detail {

/// The caller's memory for the description of elements of `type`.
struct description_view {
  void* data;
  element_type type;
  template <element T>
  description_view(description<T>& value) noexcept : data(&value), type(type_of<T>) {}
};

FANIN_API report describe(const input_views& x, const description_view& value, const options& chosen);

class description_fold;

template <class T>
struct names_of_parts<description<T>> {
  static constexpr part_of_value<T> count{}, nan{}, min{}, max{}, sum{}, mean{}, standard_deviation{};
};

}  // namespace detail

/// Count, number of NaN, min, max, sum, mean and population standard deviation of x[0..n), of any element type.
/// x is an input of the verbs (fanin.hpp), also where(x, mask).
/// With options::nan = skip, NaN are only counted. Otherwise one NaN makes five numbers NaN: min, max, sum, mean and
/// standard deviation. `count` and `nan` are the same in both cases. An infinity makes the standard deviation NaN.
/// Accuracy: every number is correctly rounded. report::bound holds for each of them.
/// Reproducible: the same bits for any order, split, backend and thread count (exact).
/// Memory: host memory, no copy. device.hpp has describe() of device memory. Scratch: as for a verb. Input above 4
/// MiB takes up to 400 KiB more on the heap. Threads: safe to call concurrently.
/// Cost on a CPU backend: one read of x from memory. Four folds (the sum, the extremes, the mean and the deviation)
/// take turns with pieces of 4 MiB, which stay in a cache. With a mask, floats are read once more from the cache, to
/// tell NaN from elements that are left out.
/// Cost on a GPU backend: four copies of x to the device, one for each fold. Input above 4 MiB takes pinned memory
/// for four streams.
/// `chosen`: backend, threads and nan; `method` may be exact.
/// @throws invalid_argument if no element takes part, or if another method, a variant or a type of the result is set;
/// unsupported if the backend has no exact standard deviation of the type; backend_unavailable, out_of_memory,
/// device_error
template <class X, choice C = options>
auto describe(const X& x, const C& chosen = {}) {
  if constexpr (detail::checked_elements<X>()) {
    input_views all(detail::view_of(x));
    if constexpr (detail::is_masked<X>) all = all.where(x.mask());
    using D = description<element_of<X>>;
    return result<D>([&](D& value) { return detail::describe(all, value, detail::options_of(chosen)); });
  } else {
    return result<description<double>>();
  }
}
template <class T, choice C = options>
auto describe(std::initializer_list<T> x, const C& chosen = {}) {
  return fanin::describe(std::span(x.begin(), x.size()), chosen);
}
template <std::input_iterator I, detail::end_of<I> S, choice C = options>
auto describe(I first, S last, const C& chosen = {}) {
  return fanin::describe(detail::span_of(first, last), chosen);
}
/// No call: the compiler refuses other arguments.
template <class X = void>
auto describe(const detail::anything&, const detail::anything&, const detail::anything& = 0) {
  return detail::refuse_arguments<X>();
}

/// describe() of input that arrives in blocks, of any total length. The sizes of the blocks change no bits. Each
/// block may have a mask. Not copyable.
/// Memory: up to 16 MiB of pending elements for each of the four folds.   Threads: one call at a time.
class FANIN_API describer {
 public:
  /// @throws as describe
  explicit describer(element_type type, const options& chosen = {});
  ~describer();
  describer(const describer&) = delete;
  describer& operator=(const describer&) = delete;

  /// Adds the next elements. They are in host memory, which the caller may reuse on return.
  /// @throws invalid_argument if the block is null and not empty, or of another type; out_of_memory, device_error
  void push(const input_views& block);
  /// The description and the report for all elements pushed. Call finish() once, after the last push().
  /// @throws as describe; invalid_argument also if T is not the type of the elements
  template <element T>
  report finish(description<T>& value) {
    return finish_to(value);
  }
  /// Finishes like the other finish(), with the description in the result.
  result<any_description> finish();

 private:
  report finish_to(const detail::description_view& value);

  std::unique_ptr<detail::description_fold> fold_;
};

}  // namespace fanin
