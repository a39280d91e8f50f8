// SPDX-License-Identifier: Apache-2.0
// Floating-point environments that callers may be in.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fanin::test {

/// How the processor treats subnormals. It keeps them, or takes subnormals that it reads (DAZ), subnormals that it
/// computes (FTZ), or both, for zero.
enum class subnormals : unsigned { kept = 0, read_as_zero = 0x40, computed_as_zero = 0x8000, flushed = 0x8040 };

/// Sets this for the calling thread.
inline void flush_subnormals([[maybe_unused]] subnormals how) {
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | static_cast<unsigned>(how));
#endif
}

/// A rounding direction, and subnormals flushed where the processor can, until the end of the scope.
class changed_environment {
 public:
  explicit changed_environment(int rounding, subnormals how = subnormals::kept) {
    std::fegetenv(&found_);
    std::fesetround(rounding);
    flush_subnormals(how);
    control_ = control();
  }
  ~changed_environment() { std::fesetenv(&found_); }
  changed_environment(const changed_environment&) = delete;
  changed_environment& operator=(const changed_environment&) = delete;

  bool unchanged() const { return control() == control_; }

 private:
#if defined(__SSE2__)
  static unsigned control() { return _mm_getcsr() & ~0x3fu; }  // without the sticky flags
#else
  static unsigned control() { return static_cast<unsigned>(std::fegetround()); }
#endif

  std::fenv_t found_;
  unsigned control_;
};

/// An environment that a caller may be in.
struct caller_environment {
  const char* name;
  int rounding;
  subnormals how;
};
inline constexpr caller_environment caller_environments[] = {
    {"upward", FE_UPWARD, subnormals::kept},
    {"downward", FE_DOWNWARD, subnormals::kept},
    {"toward zero", FE_TOWARDZERO, subnormals::kept},
    {"FTZ", FE_TONEAREST, subnormals::computed_as_zero},
    {"DAZ", FE_TONEAREST, subnormals::read_as_zero},
    {"FTZ and DAZ, MXCSR 0x9fc0", FE_TONEAREST, subnormals::flushed},
};

}  // namespace fanin::test
