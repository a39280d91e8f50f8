// SPDX-License-Identifier: Apache-2.0
// START HERE. Reductions: many numbers become one result. Each verb (sum, mean, norm2, ...) returns a value and a
// report. The report says which backend and method computed the value, how large the error can be, and for which
// changes the bits of the value stay the same.
//
//   std::vector<float> x = ...;
//   auto total = fanin::sum(x);                                  // total.value: correctly rounded
//   double most = total.error_bound();                           // |total.value - exact sum| <= most
//   float same = fanin::sum(x);                                  // a result converts to its value
//   float fast = fanin::sum(x, fanin::fast);                     // each addition rounds
//   double wide = fanin::sum<double>(x);                         // the exact sum, rounded to double
//   auto part = fanin::mean(x.begin(), x.begin() + 10);          // contiguous iterators
//
// Shared by all functions below:
//   Input: contiguous host memory. A NaN among the elements gives the quiet NaN without sign and payload. With
//   options::nan = skip, NaN do not take part. With fanin::where(x, mask) only the elements that the mask names take
//   part (elements.hpp). Elements that take no part do not change the result, and report::absent counts them. An
//   index always counts all elements of x.
//
//   Method: `exact` is the default, if the operation has it. Products and log_sum_exp of floats, and sums of the
//   moduli of complex numbers, have only `fast`.
//
//   Accuracy: result::error_bound(). docs/numerics.md has the proofs and the order of additions. In the comments
//   below u is the unit roundoff of the element type, and g(k) = k u / (1 - k u). d and d' are the longest chains of
//   rounded additions. Narrow floats (f16, bf16, e5m2, e4m3) are converted to f32, so they have the u and the limits
//   of f32. For complex numbers the error is a modulus, and each part of a sum or mean is computed separately.
//   Results of integers are exact. Quotients, roots and dot products of integers are rounded once. Operations that
//   only compare, such as min, are exact.
//
//   Reproducible: three kinds of results have the same bits for any order, split, backend and release: `exact`
//   results, results of integers, and results of operations that only compare. (An index depends on the order.) Other
//   results have the same bits for the same order, on any CPU backend, with any thread count and release
//   (fixed_order). report::reproducibility says what holds on a GPU.
//
//   Memory: no copy. Scratch: up to 140 KiB of stack. Narrow floats and complex numbers take 145 KiB more, and absent
//   elements 190 KiB more. Each calling thread keeps about 26 KiB for each thread that takes part in its calls. In
//   steady state a call of a named backend or of a plan allocates nothing. There are two exceptions. The variant
//   serial/recursive copies half the input. A list of backends, and `auto` for input of 256 KiB or more, allocate
//   report::fallback. Threads: safe to call concurrently.   Cost: one read of x.
//   @throws invalid_argument, unsupported, backend_unavailable, out_of_memory (see error.hpp and options)
#pragma once

#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <fanin/backend.hpp>
#include <fanin/batch.hpp>
#include <fanin/describe.hpp>
#include <fanin/elements.hpp>
#include <fanin/error.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>
#include <fanin/typed_reduce.hpp>
#include <fanin/version.hpp>

namespace fanin {

/// Short names of the methods: fanin::sum(x, fanin::fast).
inline constexpr method fast = method::fast, compensated = method::compensated, exact = method::exact;

/// Reduces inputs whose type is known only at run time, and writes the value to memory of the caller. Every function
/// below calls this one. Operations of two inputs take {x, y}. The type of `value` is the type of the result.
/// @throws also invalid_argument if the operation takes another number of inputs, if the inputs differ in length,
/// type or place, or if options::result is set to another type than the type of `value`
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value,
                        const options& chosen = {});

/// Reduces with the value in the result, which holds the alternative of the result type.
FANIN_API result<scalar> reduce(operation what, const input_views& inputs, const options& chosen = {});

/// A reduction whose backend, variant and method are chosen once. It is for calls that are so short that the choice
/// takes a noticeable part of their time. Threads: safe to call concurrently.
class FANIN_API plan {
 public:
  /// `auto` chooses for inputs of `expected_count` elements; the calls may have any count.
  /// With a `kind` the plan is for batches of that layout. @throws as reduce
  plan(operation what, element_type type, const options& chosen = {}, std::size_t expected_count = unknown_count,
       memory place = memory::host, layout kind = layout::array);
  /// A plan for add_to() of batches of layout `kind`. @throws as add_to
  static plan of_add_to(operation what, element_type type, layout kind, const options& chosen = {},
                        memory place = memory::host);
  /// report::fallback stays empty: chosen() has the list. In steady state only serial/recursive allocates.
  /// @throws as reduce; invalid_argument if inputs or result have another type, place or number than planned, or if
  /// the plan is for batches
  report operator()(const input_views& inputs, const result_view& value) const;
  /// Reduces with the value in the result.
  result<scalar> operator()(const input_views& inputs) const;
  /// Reduces a batch like reduce(), or adds it to `out` like add_to(), as planned.
  /// @throws also invalid_argument if the batch has another layout than planned
  report operator()(const batch& many, const results_view& out) const;
  /// The backend, the variant and the method of the calls.
  const selection& chosen() const noexcept { return chosen_; }

  /// With this `expected_count`, `auto` chooses as for a long input.
  static constexpr std::size_t unknown_count = static_cast<std::size_t>(-1) / 8;

 private:
  explicit plan(selection chosen) : chosen_(std::move(chosen)) {}
  selection chosen_;
};

/// A reduction of input that arrives in blocks, of any total length. The sizes of the blocks do not change the bits
/// of a result that is `fixed_order` or `exact`. Each block may have a mask. Not copyable.
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
  /// Adds the elements of an input that the verbs take, such as a vector.
  template <elements X>
  void push(const X& block) {
    push(detail::inputs_anywhere(block));
  }
  /// The value and the report for all elements pushed. Call finish() once, after the last push().
  /// @throws invalid_argument for operations that have no value for so few elements, and if `value` has another type
  /// than the stream's result; overflow, out_of_memory, device_error
  report finish(const result_view& value);
  /// Finishes with the value in the result.
  result<scalar> finish();
  /// The backend, the variant and the method of the reduction.
  const selection& chosen() const noexcept { return chosen_; }

 private:
  selection chosen_;
  std::unique_ptr<stream> stream_;
  std::uint64_t count_ = 0;
};

/// Every function below takes x as `elements`, as a list in braces, as two iterators, or as an iterator or pointer
/// and a count. dot and vdot take two of these; the second is one iterator if the first is two, as in
/// std::inner_product. The last argument is options, or a method alone: fanin::sum(x, fanin::fast). With a batch
/// (batch.hpp) every function writes one result for each row, segment or group.
#define FANIN_OF_BATCH(NAME)                                                                                    \
  template <class Out = const results_view&, choice C = options>                                                \
  requires(!choice<std::remove_cvref_t<Out>>) report NAME(const batch& many, Out&& out, const C& chosen = {}) { \
    return fanin::reduce(operation::NAME, many, detail::results_of(out), detail::options_of(chosen));           \
  }                                                                                                             \
  template <class Result = void>                                                                                \
  auto NAME(detail::anything = 0, detail::anything = 0, detail::anything = 0, detail::anything = 0,             \
            detail::anything = 0) {                                                                             \
    return detail::refuse_arguments<Result, std::integral_constant<operation, operation::NAME>>();              \
  }
#define FANIN_OTHER_FORMS(NAME)                                                                  \
  template <class Result = void, std::input_iterator I, detail::end_of<I> S, choice C = options> \
  auto NAME(I first, S last, const C& chosen = {}) {                                             \
    return fanin::NAME<Result>(detail::span_of(first, last), chosen);                            \
  }                                                                                              \
  template <class Result = void, class T, choice C = options>                                    \
  auto NAME(std::initializer_list<T> x, const C& chosen = {}) {                                  \
    return fanin::NAME<Result>(std::span(x.begin(), x.size()), chosen);                          \
  }                                                                                              \
  FANIN_OF_BATCH(NAME)
#define FANIN_OTHER_FORMS_OF_TWO(NAME)                                                                  \
  template <class Result = void, std::input_iterator I, std::sentinel_for<I> S, std::input_iterator J,  \
            choice C = options>                                                                         \
  auto NAME(I first, S last, J first2, const C& chosen = {}) {                                          \
    const auto x = detail::span_of(first, last);                                                        \
    return fanin::NAME<Result>(x, detail::span_of(first2, x.size()), chosen);                           \
  }                                                                                                     \
  template <class Result = void, std::input_iterator I, std::input_iterator J, choice C = options>      \
  auto NAME(I first, J first2, std::size_t n, const C& chosen = {}) {                                   \
    return fanin::NAME<Result>(detail::span_of(first, n), detail::span_of(first2, n), chosen);          \
  }                                                                                                     \
  template <class Result = void, class T, choice C = options>                                           \
  auto NAME(std::initializer_list<T> x, std::initializer_list<T> y, const C& chosen = {}) {             \
    return fanin::NAME<Result>(std::span(x.begin(), x.size()), std::span(y.begin(), y.size()), chosen); \
  }                                                                                                     \
  FANIN_OF_BATCH(NAME)

/// Sum of x[0..n). Empty gives +0; all -0 gives -0; +inf and -inf together give NaN.
/// Types: f32, narrow floats -> f32, f64 -> f64, signed -> i64, unsigned -> u64, complex numbers -> their own type.
/// With method::exact options::result may name another type: f64 or the narrow type in place of f32, c128 in place of
/// c64.
/// Accuracy (S is the exact sum): fast: |error| <= g(d) sum|x[i]| [Higham 2002, 4.2]. compensated: |error| <= u |S| +
/// (1 + u) g(d) g(d') sum|x[i]| [Ogita, Rump, Oishi 2005]. exact: correctly rounded.
/// @throws overflow if an integer total does not fit
template <class Result = void, class X, choice C = options>
auto sum(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::sum, Result>(chosen, x);
}
FANIN_OTHER_FORMS(sum)

/// Product of x[0..n). Empty gives 1; the sign of a zero and infinities follow IEEE. Types as for sum.
/// Floating point: method::fast only. P is the exact product. If no intermediate product overflows or underflows,
/// |error| <= g(n - 1) |P| [Higham 2002, 3.1], and for complex numbers g(sqrt(5) (n - 1)) |P| [Brent, Percival,
/// Zimmermann 2007]. A complex factor of 1 changes nothing, and a part that is zero is +0.
/// Reproducible: fixed_order on CPU backends; exact for integers.
/// @throws overflow if an integer product does not fit
template <class Result = void, class X, choice C = options>
auto product(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::product, Result>(chosen, x);
}
FANIN_OTHER_FORMS(product)

/// Smallest element, in the element's type; -0 is smaller than +0. @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto min(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::min, Result>(chosen, x);
}
FANIN_OTHER_FORMS(min)

/// Largest element, in the element's type; +0 is larger than -0. @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto max(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::max, Result>(chosen, x);
}
FANIN_OTHER_FORMS(max)

/// Smallest and largest element in one read, as extremes<T>{min, max}. They are the values of min() and max().
/// @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto minmax(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::minmax, Result>(chosen, x);
}
FANIN_OTHER_FORMS(minmax)

/// Smallest element and its first index, as indexed<T>{value, index}. If there is a NaN, the index is that of the
/// first NaN. -0 is smaller than +0. Reproducible: as min, for the same values in the same order.
/// @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto argmin(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::argmin, Result>(chosen, x);
}
FANIN_OTHER_FORMS(argmin)

/// Largest element and its first index, as for argmin. +0 is larger than -0.
/// @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto argmax(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::argmax, Result>(chosen, x);
}
FANIN_OTHER_FORMS(argmax)

/// Largest |x[i]|, the infinity norm. Empty gives +0; any NaN gives NaN. Floats keep their type, integers give u64.
template <class Result = void, class X, choice C = options>
auto max_magnitude(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::max_magnitude, Result>(chosen, x);
}
FANIN_OTHER_FORMS(max_magnitude)

/// The number of elements that are not zero, as u64. -0 is zero, NaN is not.
template <class Result = void, class X, choice C = options>
auto count_nonzero(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::count_nonzero, Result>(chosen, x);
}
FANIN_OTHER_FORMS(count_nonzero)

/// Whether an element is not zero, as bool. Empty gives false.   Cost: at most one read of x. CPU backends end early,
/// unless elements may be absent: absent elements have to be counted.
template <class Result = void, class X, choice C = options>
auto any(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::any, Result>(chosen, x);
}
FANIN_OTHER_FORMS(any)

/// Whether no element is zero, as bool. Empty gives true.   Cost: as any.
template <class Result = void, class X, choice C = options>
auto all(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::all, Result>(chosen, x);
}
FANIN_OTHER_FORMS(all)

/// Sum of x[i]^2. Empty gives +0; NaN propagates. Types as for sum.
/// Accuracy (S is the exact result, and eta the smallest subnormal): fast: |error| <= g(d + 1) S + n eta;
/// compensated: |error| <= u S + (1 + u) g(d + 1) g(d' + 1) S + 2 n eta; exact: correctly rounded.
/// @throws overflow if an integer total does not fit
template <class Result = void, class X, choice C = options>
auto sum_of_squares(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::sum_of_squares, Result>(chosen, x);
}
FANIN_OTHER_FORMS(sum_of_squares)

/// Sum of |x[i]|, the L1 norm. Empty and all zeros give +0. Any NaN gives NaN; otherwise any infinity gives +inf.
/// Types and accuracy as for sum. For complex numbers the moduli are added, in the type of their parts, with
/// method::fast only; |error| <= g(d + 3) S + 3 n eta. @throws overflow if an integer total does not fit
template <class Result = void, class X, choice C = options>
auto sum_of_magnitudes(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::sum_of_magnitudes, Result>(chosen, x);
}
FANIN_OTHER_FORMS(sum_of_magnitudes)

/// Sum of x[0..n) divided by n. Types as for sum, but integers give f64, correctly rounded. method::exact gives the
/// correctly rounded quotient, even if the sum alone would overflow. The other methods divide their sum in f64: the
/// error is at most the bound of the sum, divided by n, plus the roundings of the division (docs/numerics.md).
/// @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto mean(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::mean, Result>(chosen, x);
}
FANIN_OTHER_FORMS(mean)

/// Euclidean norm: the square root of the sum of x[i]^2. Empty and all zeros give +0. Any NaN gives NaN; otherwise
/// any infinity gives +inf. Types: f32, narrow floats, c64 -> f32; f64, c128, integers -> f64; with method::exact
/// also the types that sum offers. cub and thrust do not have method::exact here.
/// Accuracy: exact: correctly rounded, even if the sum of the squares would overflow or underflow. fast, compensated:
/// the root of the sum of squares, which may overflow or underflow. The relative error is at most the relative error
/// of sum_of_squares plus two more roundings. The absolute error is the root of the absolute error of sum_of_squares
/// (docs/numerics.md).
template <class Result = void, class X, choice C = options>
auto norm2(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::norm2, Result>(chosen, x);
}
FANIN_OTHER_FORMS(norm2)

/// log(sum of e^x[i]); nothing overflows on the way. Empty gives -inf, and so do elements that are all -inf. Any NaN
/// gives NaN; otherwise any +inf gives +inf. One element x gives exactly x. f32, narrow floats -> f32, others -> f64.
/// Accuracy: |error| <= e |S| + (D + 6 u log n)(1 + e). S is the exact result, u = 2^-53, and to first order
/// D = 4 d u + u log n (docs/numerics.md), for f64, where e is u. Exponentials of f32 and narrower elements are
/// formed in float; there |error| <= 4 * 2^-24 max(1, |S|). If the result is near 0, the absolute error is small, but
/// the relative error may be large. Reproducible: fixed_order on CPU backends, run_to_run on a GPU. The exponential
/// and the logarithm are fanin's own, and have the same bits on every machine (floats: on every CPU).
/// Cost: one read of x, and some 40 operations in double for each f64, or 16 instructions for a float on a GPU, or 36
/// for a vector of floats on a CPU. Integers are copied to doubles. @throws overflow if a double cannot hold an
/// integer; unsupported for other methods than fast
template <class Result = void, class X, choice C = options>
auto log_sum_exp(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::log_sum_exp, Result>(chosen, x);
}
FANIN_OTHER_FORMS(log_sum_exp)

/// Population variance: the sum of (x[i] - mean)^2 divided by n. The mean is not rounded. One element, or equal
/// elements, give +0; any NaN or infinity gives NaN. Types: f32, narrow floats -> f32; f64, integers -> f64; with
/// method::exact also the types that sum offers.
/// Accuracy: exact: correctly rounded, even if the sums would overflow or underflow. fast, compensated: |error| <=
/// (c + k q) V for a variance V, where q is the mean of the squares divided by V. c is 2^-23 for f32 and narrow
/// floats. For f64 c is 4300 u with fast, and 4 u with compensated. For f32 with fast, k is 4 g(d), with the u of
/// double. Otherwise k is less than 2^-80, if there are fewer than 2^30 elements on a CPU. Equal elements may give a
/// small number. If the sum of the squares overflows in double, the result is NaN.
/// Cost: one read of x, and with exact up to 10 microseconds for the long division at the end.
/// @throws invalid_argument if x is empty
template <class Result = void, class X, choice C = options>
auto variance(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::variance, Result>(chosen, x);
}
FANIN_OTHER_FORMS(variance)

/// Standard deviation of a population: the square root of the variance, rounded once. All else as for variance().
template <class Result = void, class X, choice C = options>
auto standard_deviation(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::standard_deviation, Result>(chosen, x);
}
FANIN_OTHER_FORMS(standard_deviation)

/// Variance of a sample: the sum of (x[i] - mean)^2 divided by n - 1. All else as for variance().
/// @throws invalid_argument if x has fewer than two elements
template <class Result = void, class X, choice C = options>
auto sample_variance(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::sample_variance, Result>(chosen, x);
}
FANIN_OTHER_FORMS(sample_variance)

/// Standard deviation of a sample: the square root of sample_variance(), rounded once.
/// @throws invalid_argument if x has fewer than two elements
template <class Result = void, class X, choice C = options>
auto sample_standard_deviation(const X& x, const C& chosen = {}) {
  return detail::typed_reduce<operation::sample_standard_deviation, Result>(chosen, x);
}
FANIN_OTHER_FORMS(sample_standard_deviation)

/// Dot product: the sum of x[i] y[i], for two ranges of one type. Empty gives +0. If all products are -0, the result
/// is -0; for complex numbers a part that is zero is +0. A NaN, 0 times an infinity, and infinite products of both
/// signs give NaN. Otherwise an infinite product gives its infinity. Types: f32, narrow floats -> f32; f64, integers
/// -> f64; complex numbers -> their own type; with method::exact also the types that sum offers. Integers: the exact
/// sum of the exact products, rounded once, on CPUs only.
/// Accuracy: exact: correctly rounded, and no product is rounded, overflows or underflows. fast, compensated: as for
/// sum_of_squares, with M = sum|x[i] y[i]| in place of the sum of squares, if M is at most half of the largest finite
/// value. For complex numbers the bound is sqrt(2) times that (docs/numerics.md). Cost: one read of x and y.
/// @throws invalid_argument if the lengths differ
template <class Result = void, class X, class Y, choice C = options>
requires(!std::same_as<X, batch> && !choice<Y>) auto dot(const X& x, const Y& y, const C& chosen = {}) {
  return detail::typed_reduce<operation::dot, Result>(chosen, x, y);
}
FANIN_OTHER_FORMS_OF_TWO(dot)

/// The sum of conj(x[i]) y[i], as in numpy.vdot and BLAS's dotc. For real numbers it is dot(). All else as for dot().
template <class Result = void, class X, class Y, choice C = options>
requires(!std::same_as<X, batch> && !choice<Y>) auto vdot(const X& x, const Y& y, const C& chosen = {}) {
  return detail::typed_reduce<operation::vdot, Result>(chosen, x, y);
}
FANIN_OTHER_FORMS_OF_TWO(vdot)

#undef FANIN_OF_BATCH
#undef FANIN_OTHER_FORMS
#undef FANIN_OTHER_FORMS_OF_TWO

}  // namespace fanin
