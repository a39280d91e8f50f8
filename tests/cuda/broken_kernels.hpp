// SPDX-License-Identifier: Apache-2.0
// Kernels with the mistakes that the suite is for.
#pragma once

#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::test {

/// Starts sums of float at +0, which makes +0 of -0.
extern const cuda::kernel_launcher& starts_at_plus_zero;
/// Leaves out the last of over 8192 elements.
extern const cuda::kernel_launcher& leaves_out_an_element;

}  // namespace fanin::test
