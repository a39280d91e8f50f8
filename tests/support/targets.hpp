// Every instruction set that this machine and this build have.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

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

}  // namespace fanin::test
