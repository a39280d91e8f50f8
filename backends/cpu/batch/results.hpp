// SPDX-License-Identifier: Apache-2.0
// The results of a batch, as tasks write them in any order.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <span>

#include <fanin/batch.hpp>

#include "backends/cpu/cpu_backend.hpp"

namespace fanin::cpu {

/// Writes results. Threads: each result from one thread; different ones from different threads at once.
class batch_results {
 public:
  /// @throws invalid_argument if the batch's value for results of too few elements has another type, unsupported
  /// if elements may be absent and the operation cannot leave out elements of this type
  batch_results(const request& request, const batch& many, void* results);

  /// From now on, indices in results are positions[offsets[i] + index] for an index in result i, if `positions` is
  /// not null.
  void restore_indices(const std::uint64_t* positions, const std::uint64_t* offsets) noexcept {
    positions_ = positions;
    offsets_ = offsets;
  }

  const request& asked() const noexcept { return request_; }
  const arithmetic& loops() const noexcept { return arithmetic_; }
  const presence_rule& rule() const noexcept { return rule_; }
  /// The fewest elements that have a value, or change one that is added to.
  std::uint64_t least() const noexcept { return least_; }
  /// Whether elements may be absent.
  bool partial() const noexcept { return partial_; }
  std::byte* at(std::size_t i) const noexcept { return results_ + i * bytes_; }

  /// Writes result i, of `count` contiguous elements, whose mask begins with the first of them.
  void reduce(std::size_t i, const operands& data, std::size_t count, const mask_view& mask) noexcept;
  /// Whether reduce_each() serves results of `count` elements.
  bool takes_runs_of(std::size_t count) const noexcept {
    return of_runs_->reduce_each != nullptr && !partial_ && count >= least_;
  }
  /// Writes the results first, first + 1, ... Result first + i has counts[i] contiguous elements.
  void reduce_each(std::size_t first, std::span<const operands> runs, const std::size_t* counts) noexcept;
  /// Writes result i from a state of `count` elements. `present` of them take part.
  void finish(std::size_t i, std::uint64_t count, std::uint64_t present, void* state) noexcept;
  /// Takes note of the exception that is being handled, which result i caused.
  void fail(std::size_t i) noexcept;
  /// @throws the error of the first result that failed
  void check() const;
  std::uint64_t absent() const noexcept { return absent_; }

 private:
  void restore_index(std::size_t i) const noexcept;

  const request& request_;
  layout layout_;
  const arithmetic& arithmetic_;
  const arithmetic* of_runs_;  ///< has the function for several runs, of floats if the elements are narrow floats
  presence_rule rule_;
  std::uint64_t least_;
  bool partial_;
  std::byte* results_;
  std::size_t bytes_;
  bool has_empty_;  ///< empty_ is the result of too few elements
  alignas(16) std::byte empty_[32];
  const std::uint64_t* positions_ = nullptr;
  const std::uint64_t* offsets_ = nullptr;
  std::atomic<std::uint64_t> absent_ = 0;
  std::mutex failing_;
  std::size_t failed_ = ~std::size_t{0};
  std::exception_ptr failure_;
};

}  // namespace fanin::cpu
