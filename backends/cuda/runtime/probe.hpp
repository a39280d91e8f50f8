// Whether the CUDA runtime finds something to run on; the same answer for all backends that use it.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::cuda {

/// Cached; never throws, never prints. Starts the driver, but no work on a device.
const availability& probe() noexcept;

/// Whether kernels of this build, as that device runs them, are compiled for compute capability 9.0 or higher: then
/// they wait for the kernel in front of them by themselves, and have the device copy for them.
/// @throws device_error
bool kernels_are_for_90(int device);

}  // namespace fanin::cuda
