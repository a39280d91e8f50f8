// The shipped kernels. One translation unit for each pair of element types (cmake/cuda.cmake).
#pragma once

#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// Null where there is no recipe.
template <class T>
const device_fold* find_kernel(operation what, method how);

}  // namespace fanin::cuda
