// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/results.hpp"

#include <cstring>
#include <limits>
#include <string>

#include <fanin/error.hpp>

namespace fanin::cpu {
namespace {

/// Writes NaN in place of every number of a result. Returns false if it has others than floating-point numbers.
bool write_nan(operation what, element_type type, std::byte* result) {
  return with_result_type(what, type, [&]<class R>() {
    using T = typename form_of<R>::number;
    constexpr result_form form = form_of<R>::form;
    if constexpr (form == result_form::indexed || !(floating<T> || complex_number<T>)) {
      return false;
    } else {
      using part = part_of<T>;
      part nan[sizeof(R) / sizeof(part)];
      std::fill(std::begin(nan), std::end(nan), part(std::numeric_limits<double>::quiet_NaN()));
      std::memcpy(result, nan, sizeof nan);
      return true;
    }
  });
}

}  // namespace

batch_results::batch_results(const request& request, const batch& many, void* results)
    : request_(request),
      many_(many),
      arithmetic_(*static_cast<const arithmetic*>(request.prepared)),
      rule_(request.what, request.inputs.type(), request.nan),
      least_(least_count(request.what)),
      partial_(is_partial(many.inputs, request.nan)),
      results_(static_cast<std::byte*>(results)),
      bytes_(with_result_type(request.what, request.result, []<class R>() { return sizeof(R); })) {
  if (partial_) rule_.require_stand_in();
  if (!many.of_empty) return;
  const bool fits = with_result_type(request.what, request.result,
                                     [&]<class R>() { return std::holds_alternative<R>(*many.of_empty); });
  if (!fits) throw invalid_argument("the value for results of too few elements is of another type than the results");
}

void batch_results::reduce(std::size_t i, const operands& data, std::size_t count, const mask_view& mask) noexcept {
  try {
    if (!partial_ && count >= least_) {
      arithmetic_.reduce(data, count, request_.result, at(i));
      return restore_index(i);
    }
    const presence who{rule_, mask};
    state_buffer state;
    const std::uint64_t present = fold_one_part(arithmetic_, partial_ ? &who : nullptr, data, count, state.bytes);
    finish(i, count, present, state.bytes);
  } catch (...) {
    fail(i);
  }
}

void batch_results::finish(std::size_t i, std::uint64_t count, std::uint64_t present, void* state) noexcept {
  try {
    if (present != count) absent_ += count - present;
    if (present < least_) return write_empty(i);
    finish_present(request_, rule_, count, present, state, at(i));
    restore_index(i);
  } catch (...) {
    fail(i);
  }
}

void batch_results::restore_index(std::size_t i) const noexcept {
  if (positions_ == nullptr) return;
  std::byte* const last_member = at(i + 1) - sizeof(std::uint64_t);
  std::uint64_t index;
  std::memcpy(&index, last_member, sizeof index);
  index = positions_[offsets_[i] + index];
  std::memcpy(last_member, &index, sizeof index);
}

void batch_results::write_empty(std::size_t i) const {
  if (many_.of_empty) {
    std::visit([&]<class R>(const R& value) { std::memcpy(at(i), &value, sizeof value); }, *many_.of_empty);
  } else if (!write_nan(request_.what, request_.result, at(i))) {
    throw invalid_argument("the " + std::string(to_string(request_.what)) + " of too few elements does not exist");
  }
}

void batch_results::fail(std::size_t i) noexcept {
  const std::scoped_lock lock(failing_);
  if (i > failed_) return;
  failed_ = i;
  failure_ = std::current_exception();
}

void batch_results::check() const {
  if (!failure_) return;
  const std::string where = "result " + std::to_string(failed_) + ": ";
  try {
    std::rethrow_exception(failure_);
  } catch (const overflow& error) {
    throw overflow(where + error.what());
  } catch (const invalid_argument& error) {
    throw invalid_argument(where + error.what());
  }
}

}  // namespace fanin::cpu
