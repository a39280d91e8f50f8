// SPDX-License-Identifier: Apache-2.0
// The base class of the CPU backends, which implement only the distribution of tasks to threads.
#pragma once

#include "backends/cpu/presence.hpp"
#include "base/tasks.hpp"

namespace fanin::cpu {

/// The elements of an array that take part.
struct presence {
  presence_rule rule;
  mask_view mask;
};

/// Returns whether the library has loops for one of `instruction_sets`, which Highway found in a processor.
availability availability_on(std::int64_t instruction_sets) noexcept;

class cpu_backend : public task_backend {
 public:
  const availability& probe() const noexcept override;
  std::span<const variant_info> variants() const noexcept override;
  support prepare(request& request) const override;
  outcome reduce(const request& request, void* result) const override;
  report reduce_inputs(const request& prepared, const input_views& inputs, void* result) const override;
  outcome reduce_each(const request& request, const batch& many, const results_view& out) const override;
  std::vector<outcome> reduce_jointly(std::span<const request> asked, const batch& many,
                                      std::span<const results_view> out) const override;
  std::unique_ptr<stream> open(const request& request) const override;

  /// Folds the elements that take part, or if `who` is null, all `count` elements, into `state`. The previous
  /// contents of `state` are lost. Up to `threads` threads work, and their number does not change the bits.
  /// Returns the number of elements that take part.
  std::uint64_t fold_parallel(const arithmetic& arithmetic, const operands& data, std::size_t count, unsigned threads,
                              void* state, const presence* who = nullptr) const;

  /// Writes the reduction of `inputs`, or the state that the request asks for, by way of a state in memory.
  void fold(const request& prepared, const input_views& inputs, void* result) const;

  /// Does all of reduce() where elements may be absent. @throws invalid_argument if too few take part
  virtual outcome reduce_present(const request& prepared, const input_views& inputs, void* result) const;
};

/// Folds the elements that take part, or with null all, into `state`. Returns how many take part.
std::uint64_t fold_one_part(const arithmetic& arithmetic, const presence* who, const operands& data,
                            std::size_t count, void* state);
/// Writes the value of all elements, which the calling thread folds at once: at least one, if the request adds to
/// results. States are no larger than a state_buffer. @throws overflow
void reduce_alone(const arithmetic& arithmetic, const operands& data, std::size_t count, element_type result,
                  void* out);

/// Writes the value of a state of `count` elements. `present` of them take part. @throws invalid_argument if
/// `present` is too small, overflow
void finish_present(const request& request, const presence_rule& rule, std::uint64_t count, std::uint64_t present,
                    void* state, void* result);

/// Inputs with fewer bytes are folded by one thread: waking others costs more than they save.
inline constexpr std::size_t parallel_bytes = std::size_t{1} << 21;

}  // namespace fanin::cpu
