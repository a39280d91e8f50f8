// SPDX-License-Identifier: Apache-2.0
// One stage over one input, checked: the value, that it comes again, and that nothing beside its memory was touched.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backends/cuda/stages/ladder.hpp"
#include "tests/cuda/ladder_memory.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {

/// Elements on the device, `offset` elements after a 256-byte boundary, between neighbours that spoil every result.
template <class T>
class device_input {
 public:
  device_input(std::vector<T> x, std::size_t offset)
      : x_(std::move(x)), first_(64 + offset), memory_((first_ + x_.size() + 64) * sizeof(T)) {
    std::vector<T> all(first_ + x_.size() + 64);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = poison(i);
    std::copy(x_.begin(), x_.end(), all.begin() + static_cast<std::ptrdiff_t>(first_));
    cuda::check(cudaMemcpy(memory_.get(), all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  const std::vector<T>& host() const { return x_; }
  const T* device() const { return static_cast<const T*>(memory_.get()) + first_; }

  /// Whether a stage has left the input alone.
  bool untouched() const {
    std::vector<T> now(x_.size());
    cuda::check(cudaMemcpy(now.data(), device(), now.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::memcmp(now.data(), x_.data(), now.size() * sizeof(T)) == 0 && memory_.guards_intact();
  }

 private:
  static T poison(std::size_t i) {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
    return i % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }

  std::vector<T> x_;
  std::size_t first_;
  device_memory memory_;
};

/// The results that a stage may return for x.
template <class T>
class expectation {
 public:
  explicit expectation(const std::vector<T>& x) : x_(x), reference_(x) {}

  bool allows(operation what, const scalar& value, const error_bound& bound) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (x_.empty()) return same(value, scalar(T{0}));
      return reference_.keeps(what, fanin::get<T>(value), bound);
    } else {
      std::int64_t total = 0;
      for (const std::int64_t v : x_) total += what == operation::sum ? v : v * v;
      return same(value, scalar(total));
    }
  }

 private:
  struct nothing {
    explicit nothing(const std::vector<T>&) {}
  };
  const std::vector<T>& x_;
  std::conditional_t<std::is_floating_point_v<T>, exact_reference<T>, nothing> reference_;
};

/// One run of a plan over device memory.
class stage_run {
 public:
  explicit stage_run(const cuda::stage_plan& plan)
      : plan_(plan),
        workspace_(plan.workspace_bytes),
        state_(plan.state_bytes),
        cycles_(plan.blocks * sizeof(long long)) {}

  void prepare(const void* data, void* stream = nullptr) { prepare_stage(plan_, data, workspace_.get(), stream); }
  void run(const void* data, bool cycles = false, void* stream = nullptr) {
    run_stage(plan_, data, workspace_.get(), state_.get(), cycles ? static_cast<long long*>(cycles_.get()) : nullptr,
              stream);
  }
  scalar value() const {
    alignas(16) std::array<std::byte, 64> state{};
    cuda::check(cudaMemcpy(state.data(), state_.get(), plan_.state_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return stage_value(plan_, state.data());
  }
  std::vector<long long> cycles() const {
    std::vector<long long> counted(plan_.blocks);
    cuda::check(cudaMemcpy(counted.data(), cycles_.get(), counted.size() * sizeof(long long), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
    return counted;
  }
  bool guards_intact() const {
    return workspace_.guards_intact() && state_.guards_intact() && cycles_.guards_intact();
  }

 private:
  cuda::stage_plan plan_;
  device_memory workspace_, state_, cycles_;
};

/// Whether this device and build can run the stage for operation and type at all.
inline bool serves(const cuda::stage_info& stage, operation what, element_type type) {
  try {
    cuda::plan_stage(stage, what, type, 1);
  } catch (const unsupported&) {
    return false;
  }
  return true;
}

/// The faults of a stage on an input. Empty if there are none.
template <class T>
std::string fault_of(const cuda::stage_info& stage, operation what, const device_input<T>& x,
                     const expectation<T>& expected, unsigned block_size) {
  const auto plan = plan_stage(stage, what, type_of<T>, x.host().size(), block_size);
  stage_run once(plan);
  once.prepare(x.device());
  once.run(x.device());
  const scalar value = once.value();
  std::string faults;
  if (!expected.allows(what, value, plan.bound())) faults += "wrong value; ";
  if (stage.reproducibility != reproducibility::none || !std::is_floating_point_v<T>) {
    once.prepare(x.device());
    once.run(x.device(), true);
    if (!same(once.value(), value)) faults += "another value the second time; ";
  }
  if (!once.guards_intact()) faults += "wrote beside its memory; ";
  if (faults.empty()) return {};
  return std::string(stage.text.name) + ", " + std::string(to_string(what)) + " of " +
         std::to_string(x.host().size()) + " " + std::string(to_string(type_of<T>)) + ", blocks of " +
         std::to_string(block_size) + ": " + faults + "\n";
}

}  // namespace fanin::test
