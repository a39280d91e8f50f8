// SPDX-License-Identifier: Apache-2.0
// The flag by which the processor tells that an operation has rounded.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fanin::cpu {

/// The exception flags of the calling thread, which are as before at the end of the scope. The compiler loads
/// elements after clear_inexact(). An operation is before has_inexact() if the compiler cannot move its result past
/// that.
class exception_flags {
 public:
  exception_flags(const exception_flags&) = delete;
  exception_flags& operator=(const exception_flags&) = delete;

#if defined(__SSE2__)
  exception_flags() : before_(_mm_getcsr()) {}
  ~exception_flags() { _mm_setcsr(before_); }
  void clear_inexact() {
    _mm_setcsr(before_ & ~inexact);
    asm volatile("" ::: "memory");
  }
  /// Returns true if an operation of this thread has rounded since the last call of clear_inexact().
  bool has_inexact() const { return (_mm_getcsr() & inexact) != 0; }

 private:
  static constexpr unsigned inexact = 0x20;
  unsigned before_;
#else
  exception_flags() { std::fegetexceptflag(&before_, FE_ALL_EXCEPT); }
  ~exception_flags() { std::fesetexceptflag(&before_, FE_ALL_EXCEPT); }
  void clear_inexact() {
    std::feclearexcept(FE_INEXACT);
    asm volatile("" ::: "memory");
  }
  bool has_inexact() const { return std::fetestexcept(FE_INEXACT) != 0; }

 private:
  std::fexcept_t before_;
#endif
};

/// Returns true if operations that round set the processor's inexact flag. Under Valgrind such operations do not.
inline bool sets_inexact() {
  static const bool sets = [] {
    exception_flags flags;
    flags.clear_inexact();
    const volatile double three = 3;
    [[maybe_unused]] const volatile double third = 1 / three;
    return flags.has_inexact();
  }();
  return sets;
}

}  // namespace fanin::cpu
