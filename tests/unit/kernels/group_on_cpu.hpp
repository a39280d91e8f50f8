// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that the kernels of groups use, for a C++ compiler.
#pragma once

#include "tests/unit/kernels/exact_on_cpu.hpp"

struct __attribute__((may_alias)) uint2 {
  unsigned x, y;
};
#define __grid_constant__

template <class T>
T __ldcs(const T* from) {
  return *from;
}
