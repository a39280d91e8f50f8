// START HERE. Reductions with a chosen backend and a chosen method. The report that comes with each value has a
// proven error bound and tells for which changes the bits stay the same.
//
//   std::vector<float> x = ...;
//   float fast  = fanin::sum(x).value;
//   auto  exact = fanin::sum(x, {.how = fanin::method::exact});      // exact.value: correctly rounded
//   auto  wide  = fanin::sum<double>(x, {.how = fanin::method::exact});
//
// Shared by all functions below:
//   Input: contiguous host memory. A NaN among the elements gives the canonical quiet NaN.
//   Accuracy: report::bound; docs/numerics.md has the proofs. u is the unit roundoff of the element type, and g(k) =
//   k u / (1 - k u); d and d' are the longest chains of rounded additions. Results of integers, and min and max, are
//   exact, but for the mean of integers, which is rounded once.
//   Reproducible: method::exact, integers, min and max give the same bits for any order, split and backend; the rest
//   for the same order on any CPU backend with any thread count (fixed_order). report::reproducibility has what holds
//   on a GPU.
//   Memory: no copy. Scratch: up to 140 KiB of stack; besides, each calling thread keeps about 26 KiB for each thread
//   that takes part in its calls. In steady state a call of a named backend or of a plan allocates nothing, except
//   that the variant serial/recursive copies half the input; a list of backends, and `auto` from 256 KiB of input on,
//   allocate report::fallback.
//   Threads: safe to call concurrently.   Cost: one read of x.
//   @throws invalid_argument, unsupported, backend_unavailable, out_of_memory (see error.hpp and options)
#pragma once

#include <ranges>
#include <type_traits>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Reduces inputs whose type is known only at run time and writes the value to memory of the caller. Every function
/// below calls it. Operations of two inputs take {x, y}. options::result is the type of `value`, and need not be set.
/// @throws also invalid_argument for another number of inputs than the operation reads, for inputs of different
/// lengths, types or places, and where options::result is set and differs
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value, options chosen = {});

/// As above, with the value in the result, which holds the alternative of the result type.
FANIN_API result<scalar> reduce(operation what, const input_views& inputs, const options& chosen = {});

/// A reduction whose backend, variant and method are chosen once, for calls so short that the choice would be a
/// noticeable part of their time. Threads: safe to call concurrently.
class FANIN_API plan {
 public:
  /// `auto` chooses for inputs of `expected_count` elements; the calls may have any count. @throws as reduce
  plan(operation what, element_type type, const options& chosen = {}, std::size_t expected_count = unknown_count,
       memory place = memory::host);
  /// report::fallback stays empty; chosen() has it. Allocates nothing in steady state, except for serial/recursive.
  /// @throws as reduce; invalid_argument if inputs or result are of another type, place or number than planned
  report operator()(const input_views& inputs, const result_view& value) const;
  /// As above, with the value in the result.
  result<scalar> operator()(const input_views& inputs) const;
  /// The backend, the variant and the method of the calls.
  const selection& chosen() const noexcept { return chosen_; }

  /// For `expected_count`: `auto` chooses as for a long input.
  static constexpr std::size_t unknown_count = static_cast<std::size_t>(-1) / 8;

 private:
  selection chosen_;
};

/// A reduction of input that arrives in blocks, of any total length. The sizes of the blocks do not change the bits
/// of a result that is `fixed_order` or `exact`. Not copyable.
/// Memory: up to 16 MiB of pending elements of each input.   Threads: one call at a time.
class FANIN_API incremental {
 public:
  incremental(const incremental&) = delete;
  incremental& operator=(const incremental&) = delete;
  /// @throws as reduce
  incremental(operation what, element_type type, const options& chosen = {});
  /// Adds the next elements of each input. They are in host memory, which the caller may reuse on return.
  /// @throws invalid_argument if they are null and not empty, or of another type or number of arrays than the stream;
  /// out_of_memory, device_error
  void push(const input_views& blocks);
  /// The value and the report for all elements pushed. Call finish() once, after the last push().
  /// @throws invalid_argument for min, max, mean and variance of no elements, and if `value` has another type than
  /// the stream's result; overflow, out_of_memory, device_error
  report finish(const result_view& value);
  /// As above, with the value in the result.
  result<scalar> finish();
  /// The backend, the variant and the method of the reduction.
  const selection& chosen() const noexcept { return chosen_; }

 private:
  selection chosen_;
  std::unique_ptr<stream> stream_;
  std::uint64_t count_ = 0;
};

/// The element type of a range.
template <class Range>
using element_of = std::remove_cv_t<std::ranges::range_value_t<Range>>;

/// A contiguous range of elements of a type of catalog.hpp, such as a vector or a span.
template <class Range>
concept elements =
    std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> && element<element_of<Range>>;

namespace detail {

/// Result, or the type that default_result() names if Result is void.
template <operation What, class Result, class T>
using result_t =
    std::conditional_t<std::is_void_v<Result>, element_of_type<default_result(What, type_of<T>)>, Result>;

template <elements Range>
array_view view_of(const Range& x) {
  return std::span<const element_of<Range>>(std::ranges::data(x), std::ranges::size(x));
}

template <operation What, class Result, elements Range, class... Other>
auto typed_reduce(const options& chosen, const Range& x, const Other&... y) {
  result<result_t<What, Result, element_of<Range>>> answer{};
  answer.report = reduce(What, input_views(view_of(x), view_of(y)...), answer.value, chosen);
  return answer;
}

}  // namespace detail

/// Sum of x[0..n). Empty gives +0; all -0 gives -0; +inf and -inf together give NaN.
/// f32 -> f32 (f64 on request with method::exact), f64 -> f64, signed -> i64, unsigned -> u64.
/// Accuracy: fast: |error| <= g(d) sum|x[i]| [Higham 2002, 4.2]; compensated: |error| <= u |S| + (1 + u) g(d) g(d')
/// sum|x[i]|, S the exact sum [Ogita, Rump, Oishi 2005]; exact: correctly rounded.
/// @throws overflow if an integer total does not fit
template <class Result = void, elements Range>
auto sum(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::sum, Result>(chosen, x);
}

/// Product of x[0..n). Empty gives 1; the sign of a zero and infinities follow IEEE. Types as for sum.
/// Floating point: method::fast only; |error| <= g(n - 1) |P|, P the exact product, unless an intermediate product
/// over- or underflows [Higham 2002, 3.1].
/// Reproducible: fixed_order on CPU backends; exact for integers.
/// @throws overflow if an integer product does not fit
template <elements Range>
auto product(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::product, void>(chosen, x);
}

/// Smallest element, in the element's type; -0 is smaller than +0. @throws invalid_argument if x is empty
template <elements Range>
auto min(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::min, void>(chosen, x);
}

/// Largest element, in the element's type; +0 is larger than -0. @throws invalid_argument if x is empty
template <elements Range>
auto max(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::max, void>(chosen, x);
}

/// Sum of x[i]^2. Empty gives +0; NaN propagates. Types as for sum.
/// Accuracy, S the exact result and eta the smallest subnormal: fast: |error| <= g(d + 1) S + n eta; compensated:
/// |error| <= u S + (1 + u) g(d + 1) g(d' + 1) S + 2 n eta; exact: correctly rounded.
/// @throws overflow if an integer total does not fit
template <class Result = void, elements Range>
auto sum_of_squares(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::sum_of_squares, Result>(chosen, x);
}

/// Sum of |x[i]|, the L1 norm. Empty gives +0, and so do zeros of either sign; any NaN gives NaN, otherwise any
/// infinity +inf. Types and accuracy as for sum. @throws overflow if an integer total does not fit
template <class Result = void, elements Range>
auto sum_of_magnitudes(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::sum_of_magnitudes, Result>(chosen, x);
}

/// Sum of x[0..n) divided by n. Types as for sum, but integers give f64, correctly rounded. method::exact gives the
/// correctly rounded quotient, even where the sum alone would overflow; the other methods divide their sum in f64.
/// Accuracy of these: the bound of the sum divided by n, and the roundings of the division (docs/numerics.md).
/// @throws invalid_argument if x is empty
template <class Result = void, elements Range>
auto mean(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::mean, Result>(chosen, x);
}

/// Euclidean norm: the square root of the sum of x[i]^2. Empty and all zeros give +0; any NaN gives NaN, otherwise
/// any infinity +inf. f32 -> f32 (f64 on request), f64 -> f64. method::exact only, which is the default here; not on
/// the backends cub and thrust. Accuracy: correctly rounded, also where the sum of the squares would overflow or
/// underflow. Reproducible: same bits for any order, split, backend and thread count.   Cost: one read of x.
/// @throws unsupported for integers
template <class Result = void, elements Range>
auto norm2(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::norm2, Result>(chosen, x);
}

/// Population variance: the sum of (x[i] - mean)^2 divided by n, with the mean not rounded. One element, or equal
/// ones, give +0; any NaN or infinity gives NaN. Types, method and reproducibility as for norm2.
/// Accuracy: correctly rounded, also where the sums would overflow or underflow.
/// Cost: one read of x, and up to 10 microseconds for the long division at the end.
/// @throws invalid_argument if x is empty, unsupported for integers
template <class Result = void, elements Range>
auto variance(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::variance, Result>(chosen, x);
}

/// Dot product: the sum of x[i] y[i], for two ranges of floats of one type. Empty gives +0; only products -0 give -0.
/// Any NaN, 0 times an infinity, or infinite products of both signs give NaN, otherwise an infinite product that
/// infinity. f32 -> f32 (f64 on request with method::exact), f64 -> f64.   Cost: one read of x and y.
/// Accuracy: as for sum_of_squares, with sum|x[i] y[i]| in place of the sum of squares, as long as it is at most half
/// of the largest finite value; exact: correctly rounded, and no product is rounded, overflows or underflows.
/// @throws invalid_argument if the lengths differ
template <class Result = void, elements Range, elements Other>
requires std::same_as<element_of<Range>, element_of<Other>> && std::floating_point<element_of<Range>>
auto dot(const Range& x, const Other& y, const options& chosen = {}) {
  return detail::typed_reduce<operation::dot, Result>(chosen, x, y);
}

}  // namespace fanin
