// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/results.hpp"

#include <cstring>
#include <string>

#include <fanin/error.hpp>

#include "backends/batch_empty.hpp"
#include "backends/cpu/batch/narrow_runs.hpp"

namespace fanin::cpu {
batch_results::batch_results(const request& request, const batch& many, void* results)
    : request_(request),
      layout_(many.kind),
      arithmetic_(*static_cast<const arithmetic*>(request.prepared)),
      of_runs_(arithmetic_of_floats(request)),
      rule_(request.what, request.inputs.type(), request.nan),
      least_(request.adds ? 1 : least_count(request.what)),
      partial_(is_partial(many.inputs, request.nan)),
      results_(static_cast<std::byte*>(results)),
      bytes_(with_result_type(request.what, request.result, []<class R>() { return sizeof(R); })) {
  if (partial_) rule_.require_stand_in();
  has_empty_ = write_empty(request, many, empty_);
}

void batch_results::reduce(std::size_t i, const operands& data, std::size_t count, const mask_view& mask) noexcept {
  try {
    if (!partial_ && count >= least_) {
      reduce_alone(arithmetic_, data, count, request_.result, at(i));
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

void batch_results::reduce_each(std::size_t first, std::span<const operands> runs,
                                const std::size_t* counts) noexcept {
  const std::uint64_t left =
      of_runs_ == &arithmetic_
          ? arithmetic_.reduce_each(request_.what, runs.data(), counts, runs.size(), request_.result, at(first))
          : reduce_each_widened(*of_runs_, request_, runs, counts, at(first), bytes_);
  if (left == 0 && positions_ == nullptr) return;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    (left >> i & 1) != 0 ? reduce(first + i, runs[i], counts[i], {}) : restore_index(first + i);
  }
}

void batch_results::finish(std::size_t i, std::uint64_t count, std::uint64_t present, void* state) noexcept {
  try {
    if (present != count) absent_ += count - present;
    if (present < least_) {
      if (request_.adds) return;  // The result keeps its value.
      if (!has_empty_) throw invalid_argument(too_few(request_.what));
      std::memcpy(at(i), empty_, bytes_);
      return;
    }
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

void batch_results::fail(std::size_t i) noexcept {
  const std::scoped_lock lock(failing_);
  if (i > failed_) return;
  failed_ = i;
  failure_ = std::current_exception();
}

void batch_results::check() const {
  if (!failure_) return;
  const std::string where = name_of_result(layout_, failed_) + ": ";
  try {
    std::rethrow_exception(failure_);
  } catch (const overflow& error) {
    throw overflow(where + error.what());
  } catch (const invalid_argument& error) {
    throw invalid_argument(where + error.what());
  }
}

}  // namespace fanin::cpu
