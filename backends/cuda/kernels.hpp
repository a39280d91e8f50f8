// SPDX-License-Identifier: Apache-2.0
// The kernels of the shipped variants. Elements whose numbers have the same size share the kernels of comparisons
// (keys.hpp), and so are one translation unit: kernels_1.cu to kernels_8.cu.
#pragma once

#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

/// The fold of a reduction, or null if it has no recipe.
template <class T>
const kernel_launcher* find_kernel(operation what, method how);

}  // namespace fanin::cuda
