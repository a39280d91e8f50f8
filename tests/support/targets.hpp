// SPDX-License-Identifier: Apache-2.0
// Every instruction set that this machine and this build have.
#pragma once

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <string>

#if defined(HWY_COMPILE_ONLY_STATIC) && defined(__AVX2__)
static_assert(HWY_STATIC_TARGET <= HWY_AVX2, "Highway's AVX2 takes -maes -mpclmul besides -march=x86-64-v3");
#endif

namespace fanin::test {

/// Makes the leaves use one instruction set until the end of the scope. Not for concurrent use.
class only_target {
 public:
  explicit only_target(std::int64_t target) { choose(target); }
  ~only_target() { choose(0); }
  only_target(const only_target&) = delete;
  only_target& operator=(const only_target&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// Runs `body` once for each instruction set.
template <class Body>
void on_every_target(Body body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    const only_target chosen(target);
    CAPTURE(std::string(hwy::TargetName(target)));
    body();
  }
}

}  // namespace fanin::test
