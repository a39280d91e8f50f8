// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/stages/stage_fold.hpp"

#include <algorithm>
#include <vector>

#include <fanin/error.hpp>

#include "backends/cuda/stages/ladder.hpp"

namespace fanin::cuda {
namespace {

class stage_fold final : public kernel_launcher {
 public:
  stage_fold(const stage_info& stage, operation what, element_type type)
      : kernel_launcher(find_state_functions(what, type, method::fast)), stage_(stage), what_(what), type_(type) {}

  bool serves(const request& request) const {
    return stage_.text.name == request.variant && what_ == request.what && type_ == request.inputs.type();
  }

  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    const stage_plan plan = planned(count);
    auto* const workspace = static_cast<std::byte*>(where.scratch);
    std::byte* const state = workspace + state_offset(plan);
    prepare_stage(plan, data.x, workspace, where.stream);
    run_stage(plan, data.x, workspace, state, nullptr, where.stream);
    check(cudaMemcpyAsync(out, state, plan.state_bytes, cudaMemcpyDefault, where.stream), "cudaMemcpyAsync");
  }
  rounding_chain longest_chain(const execution&, std::uint64_t count) const override {
    return {static_cast<double>(planned(count).chain), 0};
  }
  std::size_t scratch_bytes(const execution&, std::uint64_t count) const override {
    const stage_plan plan = planned(count);
    return state_offset(plan) + plan.state_bytes;
  }
  support runs_here() const override {
    try {
      static_cast<void>(planned(1));
      return {};
    } catch (const unsupported& why) {
      return {reason::unsupported, why.what()};
    }
  }
  bool ordered() const override { return stage_.reproducibility != reproducibility::none; }

 private:
  stage_plan planned(std::uint64_t count) const { return plan_stage(stage_, what_, type_, count); }
  static std::size_t state_offset(const stage_plan& plan) { return (plan.workspace_bytes + 255) / 256 * 256; }

  const stage_info& stage_;
  operation what_;
  element_type type_;
};

}  // namespace

std::span<const variant_info> stage_variants() {
  static const std::vector<variant_info> rows = [] {
    std::vector<variant_info> all;
    for (const stage_info& s : stages()) all.push_back({s.text.name, method::fast, s.text.story, s.text.needs});
    return all;
  }();
  return rows;
}

const kernel_launcher* find_stage_fold(const request& request) {
  static const std::vector<stage_fold> folds = [] {
    std::vector<stage_fold> all;
    for (const stage_info& s : stages()) {
      for (const operation what : ladder_operations) {
        for (const element_type type : ladder_types) {
          if (s.at(what, type).architecture != 0) all.emplace_back(s, what, type);
        }
      }
    }
    return all;
  }();
  const auto found = std::find_if(folds.begin(), folds.end(), [&](const stage_fold& f) { return f.serves(request); });
  return found != folds.end() && request.method == method::fast ? &*found : nullptr;
}

}  // namespace fanin::cuda
