// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the kernels of exact sums use, for a C++ compiler.
#pragma once

#include <bit>
#include <cmath>

#include "tests/unit/kernels/block_on_cpu.hpp"

using std::max;

// Kernels load floats as words of this type.
struct __attribute__((may_alias)) uint4 {
  unsigned x, y, z, w;
};
template <class T>
T __ldg(const T* from) {
  return *from;
}

template <class T>
T __shfl_sync(unsigned, T mine, unsigned lane) {
  return static_cast<T>(fanin::test::exchange(mine, lane));
}
inline unsigned __shfl_xor_sync(unsigned, unsigned mine, unsigned mask) {
  return static_cast<unsigned>(fanin::test::exchange(mine, threadIdx.x % 32 ^ mask));
}
inline std::int64_t __shfl_up_sync(unsigned, std::int64_t mine, unsigned distance) {
  const unsigned lane = threadIdx.x % 32;
  return static_cast<std::int64_t>(
      fanin::test::exchange(static_cast<std::uint64_t>(mine), lane >= distance ? lane - distance : lane));
}

template <class T>
T atomicAdd(T* into, T more) {
  return std::atomic_ref(*into).fetch_add(more);
}
template <class T>
T atomicExch(T* into, T value) {
  return std::atomic_ref(*into).exchange(value);
}
inline unsigned atomicOr(unsigned* into, unsigned bits) { return std::atomic_ref(*into).fetch_or(bits); }

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
