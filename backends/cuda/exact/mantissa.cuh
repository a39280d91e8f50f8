// SPDX-License-Identifier: Apache-2.0
// A number as its mantissa times a signed power of two: instructions that the compiler does not find.
#pragma once

#include <cstdint>

#include <nv/target>

namespace fanin::cuda {

/// The lower bits of x, and a one above them.
__device__ inline unsigned with_bit_23(unsigned x) {
  unsigned y = (x & ((1u << 23) - 1)) | 1u << 23;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("lop3.b32 %0, %1, 0x7fffff, %2, 0xe2;" : "=r"(y) : "r"(x), "r"(1u << 23));))
  return y;
}
__device__ inline unsigned with_bit_26(unsigned x) {
  unsigned y = (x & ((1u << 26) - 1)) | 1u << 26;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("lop3.b32 %0, %1, 0x3ffffff, %2, 0xe2;" : "=r"(y) : "r"(x), "r"(1u << 26));))
  return y;
}

/// The bits of 2^(127 - 8 k), where k are the upper five bits of the exponent of the float with the bits x.
__device__ inline unsigned inverse_step(unsigned x) {
  unsigned y = (~x & 31u << 26) | 6u << 23;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("lop3.b32 %0, %1, 0x7c000000, %2, 0xae;" : "=r"(y) : "r"(x), "r"(6u << 23));))
  return y;
}

/// mantissa * power as signed numbers, in one multiplication.
__device__ inline std::int64_t signed_product(unsigned mantissa, unsigned power) {
  std::int64_t y = std::int64_t{static_cast<int>(mantissa)} * static_cast<int>(power);
  NV_IF_TARGET(NV_IS_DEVICE, (asm("mul.wide.s32 %0, %1, %2;" : "=l"(y) : "r"(mantissa), "r"(power));))
  return y;
}

}  // namespace fanin::cuda
