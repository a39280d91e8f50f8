// The floating-point environment that the leaves need: round to nearest, subnormals kept.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fanin::cpu {

/// Sets that environment for a scope on the calling thread and puts the caller's back. Reading is cheap, so that
/// nothing is written in the usual case.
class environment_guard {
 public:
#if defined(__SSE2__)
  environment_guard() noexcept : found_(_mm_getcsr()) {
    if ((found_ & ~sticky_flags) != default_control) _mm_setcsr(default_control);
  }
  ~environment_guard() {
    if ((found_ & ~sticky_flags) != default_control) _mm_setcsr(found_);
  }

 private:
  static constexpr unsigned sticky_flags = 0x3f;
  static constexpr unsigned default_control = 0x1f80;  // every exception masked, to nearest, no FTZ, no DAZ
  unsigned found_;
#else
  environment_guard() noexcept {
    std::fegetenv(&found_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~environment_guard() { std::fesetenv(&found_); }

 private:
  std::fenv_t found_;
#endif

 public:
  environment_guard(const environment_guard&) = delete;
  environment_guard& operator=(const environment_guard&) = delete;
};

}  // namespace fanin::cpu
