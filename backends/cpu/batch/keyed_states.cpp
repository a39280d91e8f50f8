// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "backends/cpu/batch/keyed_addition.hpp"

namespace fanin::cpu {
namespace {

class accumulator_states final : public group_states {
 public:
  accumulator_states(const keyed_addition& addition, term_rule terms, element_type type)
      : addition_(addition), terms_(terms), form_(terms.kind, type) {}

  void add(const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t first) override {
    addition_.add(states_, group, x, count, first);
  }
  std::uint64_t count(std::uint32_t group) const override {
    std::uint64_t elements;
    std::memcpy(&elements, state(group) + addition_.count_offset, sizeof elements);
    return elements;
  }
  std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                       std::span<const std::unique_ptr<group_states>> others) override {
    std::uint64_t longest = 0;
    alignas(16) std::byte memory[48] = {};
    for (std::size_t g = begin; g < end; ++g) {
      for (const auto& other : others) {
        addition_.merge(state(g), static_cast<const accumulator_states&>(*other).state(g));
      }
      const std::uint64_t elements = count(static_cast<std::uint32_t>(g));
      results.finish(first_result + g, elements, elements, accumulator_state(g, memory));
      longest = std::max(longest, elements);
    }
    return longest;
  }

 private:
  std::byte* state(std::size_t group) const { return states_ + group * addition_.state_bytes; }
  /// The state of a group as the accumulator of the request has it, which is in `memory` if it differs.
  std::byte* accumulator_state(std::size_t group, std::byte* memory) const {
    if (terms_.keys + terms_.sums == 0) return state(group);
    write_state(terms_, form_, state(group), memory);
    return memory;
  }
  void reset(std::size_t states) override {
    states_ = memory_.get(states * addition_.state_bytes);
    addition_.reset(states_);
    for (std::size_t g = 1; g < states; ++g) std::memcpy(state(g), states_, addition_.state_bytes);
  }

  const keyed_addition& addition_;
  term_rule terms_;
  term_form form_;
  state_memory memory_;
  std::byte* states_ = nullptr;
};

}  // namespace

group_states_factory keyed_states(const keyed_addition& addition, term_rule terms, element_type type) {
  return {addition.state_bytes, terms.kind,
          [&addition, terms, type] { return std::make_unique<accumulator_states>(addition, terms, type); }};
}

}  // namespace fanin::cpu
