// SPDX-License-Identifier: Apache-2.0
// Atomic accesses for the threads of a whole device. <cuda/atomic> has the same, and takes eight seconds to compile.
#pragma once

namespace fanin::device_code {

/// Adds 1 to a counter that starts at 0, and returns whether the counter was `last`. A thread that counts later sees
/// what this thread wrote before the call.
__device__ inline bool count_up_to(unsigned* counter, unsigned last) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before == last;
}

/// Reads a word that other threads of the launch change. Orders no other access.
__device__ inline unsigned load_relaxed(const unsigned* word) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline unsigned long long load_relaxed(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

/// Writes a word that other threads of the launch read. Orders no other access.
__device__ inline void store_relaxed(unsigned* word, unsigned value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

}  // namespace fanin::device_code
