// SPDX-License-Identifier: Apache-2.0
// The kernels of the shipped variants. Four element types are a translation unit (cmake/cuda.cmake).
#pragma once

#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// The fold of a reduction, or null if it has no recipe.
template <class T>
const device_fold* find_kernel(operation what, method how);

}  // namespace fanin::cuda
