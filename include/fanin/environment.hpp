// SPDX-License-Identifier: Apache-2.0
// The floating-point environment in which the library computes: round to nearest, subnormals kept.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fanin::detail {

/// Sets this environment on the calling thread for a scope, and then restores the caller's environment. Writing the
/// control register is slow, so it is written only if it has another value.
class environment_guard {
 public:
#if defined(__SSE2__)
  environment_guard() noexcept : saved_(_mm_getcsr()) {
    if ((saved_ & ~sticky_flags) != default_control) _mm_setcsr(default_control);
  }
  ~environment_guard() {
    if ((saved_ & ~sticky_flags) != default_control) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned sticky_flags = 0x3f;
  static constexpr unsigned default_control = 0x1f80;  // every exception masked, to nearest, no FTZ, no DAZ
  unsigned saved_;
#else
  environment_guard() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~environment_guard() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif

 public:
  environment_guard(const environment_guard&) = delete;
  environment_guard& operator=(const environment_guard&) = delete;
};

}  // namespace fanin::detail
