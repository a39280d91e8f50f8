// START HERE. Reductions with a chosen backend, a chosen method and a report of what the answer is worth.
//
//   std::vector<float> x = ...;
//   float fast  = fanin::sum(x).value;
//   auto  exact = fanin::sum(x, {.how = fanin::method::exact});      // exact.value: correctly rounded
//   auto  wide  = fanin::sum<double>(x, {.how = fanin::method::exact});
//
// Shared by all verbs below:
//   Input is host memory, contiguous. NaN anywhere gives the canonical quiet NaN.
//   Accuracy and reproducibility are in the report and, with proofs, in docs/numerics.md.
//   Memory: no copy. Scratch: up to 130 KiB of stack; per thread about 26 KiB for each thread that takes part, kept
//   for the next call. No allocation in steady state with a named backend or a plan; lists, and `auto` from 256 KiB
//   on, allocate the report's trail, serial/recursive a copy of half the input. Threads: safe to call
//   concurrently.   Cost: one read of x.
//   @throws invalid_argument, unsupported, backend_unavailable, out_of_memory (see error.hpp and options)
#pragma once

#include <ranges>
#include <type_traits>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Writes the reduction of inputs whose type is known only at run time to memory of the caller; every verb below is
/// this call. Operations of two inputs take {x, y}. options::result is the type of `value`, and need not be set.
/// @throws also invalid_argument for another number of inputs than the operation reads, for inputs of different
/// lengths, types or places, and where options::result is set and differs
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value, options chosen = {});

/// The same with a value that holds the alternative that matches the result type.
FANIN_API result<scalar> reduce(operation what, const input_views& inputs, const options& chosen = {});

/// A reduction whose backend, variant and method are chosen once, for calls so small or so frequent that choosing
/// would count. Calls are safe from many threads at once.
class FANIN_API plan {
 public:
  /// `expected_count` guides `auto`; any count may follow. @throws as reduce
  plan(operation what, element_type type, const options& chosen = {}, std::size_t expected_count = unknown_count,
       memory place = memory::host);
  /// The report's trail stays empty: it is in chosen(). Allocates nothing in steady state.
  /// @throws as reduce; invalid_argument if inputs or result are of another type, place or number than planned
  report operator()(const input_views& inputs, const result_view& value) const;
  result<scalar> operator()(const input_views& inputs) const;
  const selection& chosen() const noexcept { return chosen_; }

  static constexpr std::size_t unknown_count = static_cast<std::size_t>(-1) / 8;

 private:
  selection chosen_;
};

/// The same over input that arrives in blocks, of any length in all. Not thread-safe, not copyable.
/// Memory: up to 16 MiB of pending elements of each input.
class FANIN_API incremental {
 public:
  incremental(const incremental&) = delete;
  incremental& operator=(const incremental&) = delete;
  /// @throws as reduce
  incremental(operation what, element_type type, const options& chosen = {});
  /// The next elements of each input, in host memory that is free again on return.
  /// @throws invalid_argument if they are null and not empty, or of another type or number of arrays than the stream;
  /// out_of_memory, device_error
  void push(const input_views& blocks);
  /// Value and report of everything pushed; call once, last. @throws invalid_argument for min, max, mean and variance
  /// of nothing; overflow
  report finish(const result_view& value);
  result<scalar> finish();
  const selection& chosen() const noexcept { return chosen_; }

 private:
  selection chosen_;
  std::unique_ptr<stream> stream_;
  std::uint64_t count_ = 0;
};

template <class Range>
using element_of = std::remove_cv_t<std::ranges::range_value_t<Range>>;

template <class Range>
concept elements =
    std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> && element<element_of<Range>>;

namespace detail {

/// The result's type: Result, or where that is void the operation's own choice.
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
/// @throws overflow if an integer total does not fit
template <class Result = void, elements Range>
auto sum(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::sum, Result>(chosen, x);
}

/// Product of x[0..n). Empty gives 1; the sign of a zero and infinities follow IEEE. Types as for sum.
/// Floating point: method::fast only; |error| <= g(n - 1) |P| unless an intermediate product over- or underflows.
/// Reproducible: fixed_order on CPU backends; exact for integers.
/// @throws overflow if an integer product does not fit
template <elements Range>
auto product(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::product, void>(chosen, x);
}

/// Smallest element; -0 is smaller than +0. @throws invalid_argument if x is empty
template <elements Range>
auto min(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::min, void>(chosen, x);
}

/// Largest element; +0 is larger than -0. @throws invalid_argument if x is empty
template <elements Range>
auto max(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::max, void>(chosen, x);
}

/// Sum of x[i]^2. Empty gives +0; NaN propagates. Types as for sum. @throws overflow if an integer total does not fit
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

/// Sum of x divided by n. Integers give the correctly rounded f64, and so does method::exact, even where the sum
/// alone would overflow; the other methods divide their sum, rounding once more. @throws invalid_argument if x is
/// empty
template <class Result = void, elements Range>
auto mean(const Range& x, const options& chosen = {}) {
  return detail::typed_reduce<operation::mean, Result>(chosen, x);
}

/// Euclidean norm: the square root of the sum of x[i]^2. Empty and all zeros give +0; any NaN gives NaN, otherwise
/// any infinity +inf. f32 -> f32 (f64 on request), f64 -> f64. method::exact only, and so without asking; not on cub
/// and thrust. Accuracy: correctly rounded, also where the sum of the squares would overflow or underflow.
/// Reproducible: same bits for any order, split, backend and thread count.   Cost: one read of x.
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
/// infinity. Types, method and reproducibility as for norm2.   Cost: one read of x and y.
/// Accuracy: correctly rounded; no product is rounded, overflows or underflows.
/// @throws invalid_argument if the lengths differ
template <class Result = void, elements Range, elements Other>
requires std::same_as<element_of<Range>, element_of<Other>> && std::floating_point<element_of<Range>>
auto dot(const Range& x, const Other& y, const options& chosen = {}) {
  return detail::typed_reduce<operation::dot, Result>(chosen, x, y);
}

}  // namespace fanin
