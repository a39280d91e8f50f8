// SPDX-License-Identifier: Apache-2.0
// The operations: one row for each, with every fact that the library, its interfaces, the command and the documents
// need to know. CONTRIBUTING.md says what else a new operation takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace fanin {

/// F(name) for each operation, in the order of the enumerators. New ones are added at the end.
#define FANIN_OPERATIONS(F)    \
  F(sum)                       \
  F(product)                   \
  F(min)                       \
  F(max)                       \
  F(sum_of_squares)            \
  F(mean)                      \
  F(norm2)                     \
  F(variance)                  \
  F(dot)                       \
  F(sum_of_magnitudes)         \
  F(argmin)                    \
  F(argmax)                    \
  F(minmax)                    \
  F(max_magnitude)             \
  F(count_nonzero)             \
  F(any)                       \
  F(all)                       \
  F(standard_deviation)        \
  F(sample_variance)           \
  F(sample_standard_deviation) \
  F(log_sum_exp)               \
  F(vdot)

enum class operation : std::uint8_t {
#define FANIN_ENUMERATOR(NAME) NAME,
  FANIN_OPERATIONS(FANIN_ENUMERATOR)
#undef FANIN_ENUMERATOR
};

/// How floating-point results are computed. In the bounds, u is the unit roundoff, g(k) = k u / (1 - k u), d and d'
/// are the longest chains of rounded additions, S is the exact sum; docs/numerics.md has the proofs. Results of
/// integers, and of operations in which nothing rounds, are the same with every method.
enum class method : std::uint8_t {
  fast,         ///< one addition per element, error <= g(d) sum|x|
  compensated,  ///< error-free transformations, error <= u |S| + (1 + u) g(d) g(d') sum|x|
  exact,        ///< the correctly rounded value: the same bits for any order, split, backend and machine
};

struct method_row {
  fanin::method method;
  std::string_view name;
};
inline constexpr method_row method_rows[] = {
    {method::fast, "fast"}, {method::compensated, "compensated"}, {method::exact, "exact"}};

/// The rule for the default type of the number in a result. Results of complex numbers are complex, unless the rule
/// says otherwise.
enum class result_rule : std::uint8_t {
  element,    ///< the element's type
  widened,    ///< the element's type for floats, but at least f32; i64 or u64 for integers
  length,     ///< as widened; for complex numbers the type of their parts
  distance,   ///< as quotient; for complex numbers the type of their parts
  quotient,   ///< the element's type for floats, but at least f32; f64 for integers
  magnitude,  ///< the element's type for floats; u64 for integers
  count,      ///< u64
  truth,      ///< u8, which is 0 or 1, as a bool in memory
};

/// The form of a result (form.hpp).
enum class result_form : std::uint8_t {
  number,    ///< one number of the type that the rule gives
  indexed,   ///< fanin::indexed: such a number and its 64-bit index
  extremes,  ///< fanin::extremes: two such numbers
};

/// The value for no elements. With `none` the call throws invalid_argument, with `none_of_one` for one element too.
enum class empty_value : std::uint8_t { zero, one, minus_infinity, none, none_of_one };

/// The value that stands for an element that does not take part. It changes no result.
enum class stand_in : std::uint8_t {
  zero,            ///< -0 for floats
  one,             ///< 1
  minus_infinity,  ///< a float
  other,           ///< a copy of an element that takes part, behind it
};

/// A set of methods.
struct method_set {
  bool fast, compensated, exact;
  constexpr bool has(method how) const noexcept {
    return how == method::fast ? fast : how == method::compensated ? compensated : how == method::exact && exact;
  }
};
inline constexpr method_set every_method{true, true, true}, fast_only{true, false, false},
    no_method{false, false, false};

/// The terms that an operation adds up. The operation's exact state and the magnitudes in its error bound follow
/// from them.
enum class summand : std::uint8_t {
  none,
  elements,
  magnitudes,
  squares,
  products,    ///< products of the elements of two inputs
  deviations,  ///< squares of the distances from the mean
  exponentials,
};

/// The value that is computed from a sum.
enum class sum_value : std::uint8_t {
  total,         ///< the result is the sum
  mean,          ///< the sum divided by the number of elements, or by one less if the operation needs two elements
  root,          ///< the root of the sum
  root_of_mean,  ///< the root of such a quotient
};
constexpr bool is_quotient(sum_value value) noexcept {
  return value == sum_value::mean || value == sum_value::root_of_mean;
}
constexpr bool is_root(sum_value value) noexcept {
  return value == sum_value::root || value == sum_value::root_of_mean;
}

/// Which element in the order of elements, of magnitudes or of truths an operation finds.
enum class extremity : std::uint8_t { none, least, greatest, both };

struct operation_row {
  operation what;
  std::string_view name;
  std::string_view story;  ///< one line, for help and tables
  int inputs = 1;          ///< how many arrays it reads
  result_rule result;
  result_form form = result_form::number;
  empty_value empty;
  method_set of_floats = every_method;  ///< the methods that exist for floating-point elements
  method_set of_complex = no_method;    ///< the methods for complex numbers
  bool of_integers = true;              ///< whether it exists for integers, with every method
  bool unrounded = false;               ///< whether nothing rounds, whatever the method: all methods are the same
  stand_in absent;                      ///< for an element that does not take part
  summand adds = summand::none;
  sum_value value = sum_value::total;
  extremity seeks = extremity::none;
  bool takes_results = false;  ///< whether a result is an element of the same operation, as add_to() needs it
  bool merges = true;          ///< whether exact partial results merge as integers, in any order
};

inline constexpr operation_row operation_rows[] = {
    {.what = operation::sum,
     .name = "sum",
     .story = "Sum of all elements",
     .result = result_rule::widened,
     .empty = empty_value::zero,
     .of_complex = every_method,
     .absent = stand_in::zero,
     .adds = summand::elements,
     .takes_results = true},
    {.what = operation::product,
     .name = "product",
     .story = "Product of all elements",
     .result = result_rule::widened,
     .empty = empty_value::one,
     .of_floats = fast_only,
     .of_complex = fast_only,
     .absent = stand_in::one,
     .takes_results = true,
     .merges = false},
    {.what = operation::min,
     .name = "min",
     .story = "Smallest element",
     .result = result_rule::element,
     .empty = empty_value::none,
     .unrounded = true,
     .absent = stand_in::other,
     .seeks = extremity::least,
     .takes_results = true},
    {.what = operation::max,
     .name = "max",
     .story = "Largest element",
     .result = result_rule::element,
     .empty = empty_value::none,
     .unrounded = true,
     .absent = stand_in::other,
     .seeks = extremity::greatest,
     .takes_results = true},
    {.what = operation::sum_of_squares,
     .name = "sum_of_squares",
     .story = "Sum of the squares of all elements",
     .result = result_rule::widened,
     .empty = empty_value::zero,
     .absent = stand_in::zero,
     .adds = summand::squares},
    {.what = operation::mean,
     .name = "mean",
     .story = "Mean of all elements",
     .result = result_rule::quotient,
     .empty = empty_value::none,
     .of_complex = every_method,
     .absent = stand_in::zero,
     .adds = summand::elements,
     .value = sum_value::mean},
    {.what = operation::norm2,
     .name = "norm2",
     .story = "Square root of the sum of the squares of all elements",
     .result = result_rule::distance,
     .empty = empty_value::zero,
     .of_complex = every_method,
     .absent = stand_in::zero,
     .adds = summand::squares,
     .value = sum_value::root},
    {.what = operation::variance,
     .name = "variance",
     .story = "Population variance of all elements",
     .result = result_rule::quotient,
     .empty = empty_value::none,
     .absent = stand_in::zero,
     .adds = summand::deviations,
     .value = sum_value::mean},
    {.what = operation::dot,
     .name = "dot",
     .story = "Dot product of two inputs",
     .inputs = 2,
     .result = result_rule::quotient,
     .empty = empty_value::zero,
     .of_complex = every_method,
     .absent = stand_in::zero,
     .adds = summand::products},
    {.what = operation::sum_of_magnitudes,
     .name = "sum_of_magnitudes",
     .story = "Sum of the magnitudes of all elements (L1 norm)",
     .result = result_rule::length,
     .empty = empty_value::zero,
     .of_complex = fast_only,
     .absent = stand_in::zero,
     .adds = summand::magnitudes},
    {.what = operation::argmin,
     .name = "argmin",
     .story = "Index of the first smallest element, and the element",
     .result = result_rule::element,
     .form = result_form::indexed,
     .empty = empty_value::none,
     .unrounded = true,
     .absent = stand_in::other,
     .seeks = extremity::least},
    {.what = operation::argmax,
     .name = "argmax",
     .story = "Index of the first largest element, and the element",
     .result = result_rule::element,
     .form = result_form::indexed,
     .empty = empty_value::none,
     .unrounded = true,
     .absent = stand_in::other,
     .seeks = extremity::greatest},
    {.what = operation::minmax,
     .name = "minmax",
     .story = "Smallest and largest element",
     .result = result_rule::element,
     .form = result_form::extremes,
     .empty = empty_value::none,
     .unrounded = true,
     .absent = stand_in::other,
     .seeks = extremity::both},
    {.what = operation::max_magnitude,
     .name = "max_magnitude",
     .story = "Largest magnitude of the elements (infinity norm)",
     .result = result_rule::magnitude,
     .empty = empty_value::zero,
     .unrounded = true,
     .absent = stand_in::zero,
     .seeks = extremity::greatest},
    {.what = operation::count_nonzero,
     .name = "count_nonzero",
     .story = "Number of elements that are not zero",
     .result = result_rule::count,
     .empty = empty_value::zero,
     .unrounded = true,
     .absent = stand_in::zero},
    {.what = operation::any,
     .name = "any",
     .story = "Whether an element is not zero",
     .result = result_rule::truth,
     .empty = empty_value::zero,
     .unrounded = true,
     .absent = stand_in::zero,
     .seeks = extremity::greatest},
    {.what = operation::all,
     .name = "all",
     .story = "Whether no element is zero",
     .result = result_rule::truth,
     .empty = empty_value::one,
     .unrounded = true,
     .absent = stand_in::one,
     .seeks = extremity::least},
    {.what = operation::standard_deviation,
     .name = "standard_deviation",
     .story = "Population standard deviation of all elements",
     .result = result_rule::quotient,
     .empty = empty_value::none,
     .absent = stand_in::zero,
     .adds = summand::deviations,
     .value = sum_value::root_of_mean},
    {.what = operation::sample_variance,
     .name = "sample_variance",
     .story = "Variance of a sample, divided by n - 1",
     .result = result_rule::quotient,
     .empty = empty_value::none_of_one,
     .absent = stand_in::zero,
     .adds = summand::deviations,
     .value = sum_value::mean},
    {.what = operation::sample_standard_deviation,
     .name = "sample_standard_deviation",
     .story = "Standard deviation of a sample, with n - 1",
     .result = result_rule::quotient,
     .empty = empty_value::none_of_one,
     .absent = stand_in::zero,
     .adds = summand::deviations,
     .value = sum_value::root_of_mean},
    {.what = operation::log_sum_exp,
     .name = "log_sum_exp",
     .story = "Logarithm of the sum of the exponentials of all elements",
     .result = result_rule::quotient,
     .empty = empty_value::minus_infinity,
     .of_floats = fast_only,
     .of_integers = false,
     .absent = stand_in::minus_infinity,
     .adds = summand::exponentials,
     .merges = false},
    {.what = operation::vdot,
     .name = "vdot",
     .story = "Dot product of the complex conjugate of the first input and the second",
     .inputs = 2,
     .result = result_rule::quotient,
     .empty = empty_value::zero,
     .of_complex = every_method,
     .absent = stand_in::zero,
     .adds = summand::products},
};
inline constexpr std::size_t operation_count = std::size(operation_rows);

namespace detail {
constexpr bool operations_are_in_order() {
#define FANIN_NAME(NAME) #NAME,
  constexpr std::string_view names[] = {FANIN_OPERATIONS(FANIN_NAME)};
#undef FANIN_NAME
  if (std::size(names) != operation_count) return false;
  for (std::size_t i = 0; i < operation_count; ++i) {
    const operation_row& row = operation_rows[i];
    if (static_cast<std::size_t>(row.what) != i || row.name != names[i]) return false;
  }
  return true;
}
static_assert(operations_are_in_order(), "the rows of operations stand in the order of the enumerators, all of them");
}  // namespace detail

/// The most arrays that an operation reads.
inline constexpr std::size_t most_inputs = 2;

/// The power of the elements that an operation adds up, where its value is the sum, or the mean of a sum of power 1,
/// or the root of a sum of power 2. An exact sum gives these values. 0 for other operations.
constexpr int power_of(const operation_row& row) noexcept {
  const bool is_total = row.value == sum_value::total;
  if (row.adds == summand::squares) return is_total || row.value == sum_value::root ? 2 : 0;
  const bool is_power_1 = row.adds == summand::elements || row.adds == summand::magnitudes;
  return is_power_1 && (is_total || row.value == sum_value::mean) ? 1 : 0;
}

}  // namespace fanin
