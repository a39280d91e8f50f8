// SPDX-License-Identifier: Apache-2.0
// Checks that all backends share, so that their errors have the same wording.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>

#include <fanin/backend.hpp>
#include <fanin/environment.hpp>
#include <fanin/error.hpp>

namespace fanin {

/// Checks that `b` has a variant for the request and that the catalogue has the result type. `has_arithmetic`:
/// whether `b` has arithmetic for the operation, element type and method. On success request::variant names the
/// variant that serves the request.
support check_offer(const backend& b, request& request, bool has_arithmetic);

/// @throws backend_unavailable with the backend's own reason if `b` is not usable on this machine
void require_usable(const backend& b);

/// The bytes of an address space, and of the widest element.
inline constexpr std::size_t address_space = std::numeric_limits<std::ptrdiff_t>::max();
inline constexpr std::size_t widest_element =
    std::ranges::max(element_rows.for_each([]<class T>(const element_row<T>&) { return sizeof(T); }));

/// @throws invalid_argument
[[noreturn]] void refuse(const char* why);
/// Throws the error of check_count().
[[noreturn]] void refuse_count(operation what, std::uint64_t present, std::uint64_t left_out);

// Short calls take about as long as function calls of these checks would, so the compiler inlines the checks.

/// @throws invalid_argument if the operation has no value for `present` elements. `left_out` counts the elements of
/// the input that take no part.
inline void check_count(operation what, std::uint64_t present, std::uint64_t left_out = 0) {
  if (present < least_count(what)) refuse_count(what, present, left_out);
}

/// @throws invalid_argument if an input is null and has elements or has more than an address space holds, if two
/// differ in type, place or length, or if the mask's form does not exist
inline void check_data(const input_views& inputs) {
  for (int i = 0; i < inputs.size(); ++i) {
    const array_view& x = inputs[i];
    if (x.data == nullptr && x.count > 0) refuse("the input is null, but its count is not 0");
    if (x.count > address_space / widest_element && x.count > address_space / byte_size(x.type)) {
      refuse("the input has more elements than an address space holds");
    }
    if (i == 0) continue;
    if (x.count != inputs.count()) refuse("the inputs have different lengths");
    if (x.type != inputs.type() || x.place != inputs.place()) {
      refuse("the inputs differ in type or place");
    }
  }
  if (inputs.mask().form > mask_form::bits) refuse("there is no such form of a mask");
}

/// @throws invalid_argument unless offsets or keys are integers of at least so many bytes where the inputs are
void check_index(const input_views& inputs, const array_view& index, const char* name, std::size_t least_bytes);

/// @throws invalid_argument if the memory for the operation's result is null, is for a result of another form, or of
/// another type than `wanted`, if that is set
inline void check_result(operation what, const result_view& value, std::optional<element_type> wanted) {
  if (value.data == nullptr) refuse("the memory for the result is null");
  if (wanted.value_or(value.type) != value.type || row_of(what).form != value.form) {
    refuse("the memory for the result has another type than the result");
  }
}

/// @throws invalid_argument as the two above, and if the memory is for another number of results than the batch has,
/// or device memory where the inputs are in host memory
void check_batch(operation what, const batch& many, const results_view& out, std::optional<element_type> wanted);

/// @throws invalid_argument if there are no operations, or not as many results
inline void check_operations(std::span<const operation> what, std::span<const results_view> out) {
  if (what.empty()) throw invalid_argument("there are no operations");
  if (out.size() != what.size()) {
    throw invalid_argument("there are " + std::to_string(what.size()) +
                           " operations, but memory for the results of " + std::to_string(out.size()));
  }
}

/// Checks a batch that is added to results. @throws as check_batch(), unsupported if no result is an element of the
/// operation, and invalid_argument if the batch has a value for results of too few elements
void check_addition(operation what, const batch& many, const results_view& out, std::optional<element_type> wanted);

/// @throws invalid_argument unless the operation, the method and the inputs' type and place exist, and the operation
/// reads this number of inputs
void check_known(operation what, const input_views& inputs, std::optional<method> how);

/// @throws unsupported if the options ask for a bound that is computed: reduce() of one array has done that before it
/// comes here
void check_bound(const options& chosen);

/// Checks the options for the state of an exact sum of `type` to which elements of `added` are added, and sets its
/// method. @throws invalid_argument
void check_state(element_type type, element_type added, options& chosen);

/// Calls f, and throws fanin::out_of_memory where f throws std::bad_alloc.
template <class F>
auto translate_bad_alloc(F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw out_of_memory("host memory ran out");
  }
}

/// Returns f(), called in the floating-point environment of environment_guard, and translates std::bad_alloc as
/// above. Every function of the compiled library that computes calls its backend, or finishes a value, by compute().
/// fold.cuh and the threads of pools have guards of their own.
template <class F>
auto compute(F f) {
  const detail::environment_guard guard;
  return translate_bad_alloc(f);
}

}  // namespace fanin
