// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the kernels of exact sums use, for a C++ compiler.
#pragma once

#include <bit>
#include <cmath>

#include "tests/unit/kernels/block_on_cpu.hpp"

// Kernels load floats as words of this type.
struct __attribute__((may_alias)) uint4 {
  unsigned x, y, z, w;
};
template <class T>
T __ldg(const T* from) {
  return *from;
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<unsigned>((shift < 32 ? both << shift >> 32 : low));
}
inline int __ffs(unsigned x) { return x == 0 ? 0 : std::countr_zero(x) + 1; }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clz(unsigned x) { return std::countl_zero(x); }
inline int __clzll(std::uint64_t x) { return std::countl_zero(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
