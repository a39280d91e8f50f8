// Floating-point environments that callers may be in.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fanin::test {

/// A rounding direction, and subnormals flushed where the processor can, until the end of the scope.
class unusual_environment {
 public:
  unusual_environment(int rounding, bool flush) {
    std::fegetenv(&found_);
    std::fesetround(rounding);
    if (flush) flush_subnormals();
    control_ = control();
  }
  ~unusual_environment() { std::fesetenv(&found_); }
  unusual_environment(const unusual_environment&) = delete;
  unusual_environment& operator=(const unusual_environment&) = delete;

  bool unchanged() const { return control() == control_; }

 private:
#if defined(__SSE2__)
  static void flush_subnormals() { _mm_setcsr(_mm_getcsr() | 0x8040); }  // FTZ and DAZ
  static unsigned control() { return _mm_getcsr() & ~0x3fu; }            // without the sticky flags
#else
  static void flush_subnormals() {}
  static unsigned control() { return static_cast<unsigned>(std::fegetround()); }
#endif

  std::fenv_t found_;
  unsigned control_;
};

}  // namespace fanin::test
