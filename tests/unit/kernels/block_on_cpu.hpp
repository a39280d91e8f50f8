// SPDX-License-Identifier: Apache-2.0
// The emulation of CUDA's threads for the kernels of this project.
//
// Include this header before any kernel. Instantiate kernels with an accumulator in an unnamed namespace, because a
// build with CUDA contains other functions of the same names.
#pragma once

#include <fanin/emulate.hpp>

inline long long clock64() { return 0; }

namespace fanin::test {
using emulate::launch;
}  // namespace fanin::test
