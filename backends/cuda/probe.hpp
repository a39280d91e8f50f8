// Whether the CUDA runtime finds something to run on; the same answer for all backends that use it.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::cuda {

/// Cached; never throws, never prints. Starts the driver, but no work on a device.
const availability& probe() noexcept;

/// Whether kernels of this build, as that device runs them, wait for the kernel in front of them by themselves.
/// @throws device_error
bool kernels_take_over(int device);

}  // namespace fanin::cuda
