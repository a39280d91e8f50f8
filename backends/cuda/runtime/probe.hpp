// SPDX-License-Identifier: Apache-2.0
// Whether the CUDA runtime finds a usable device, for all backends that use the runtime.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::cuda {

/// Cached; never throws, never prints. Initialises the driver, but enqueues no work.
const availability& probe() noexcept;

/// Whether the kernels that this device runs are compiled for compute capability 9.0 or higher. Such kernels contain
/// the wait for the preceding kernel that programmatic launches need, and use bulk copies into shared memory.
/// @throws device_error
bool kernels_are_for_90(int device);

}  // namespace fanin::cuda
