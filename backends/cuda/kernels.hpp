// The shipped kernels. One translation unit for each pair of element types (cmake/cuda.cmake).
#pragma once

#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// Null for products that there are not.
template <class T>
const device_fold* find_kernel(operation what, method how) noexcept;

}  // namespace fanin::cuda
