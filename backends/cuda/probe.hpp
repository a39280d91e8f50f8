// Whether the CUDA runtime finds something to run on; the same answer for all backends that use it.
#pragma once

#include <fanin/backend.hpp>

namespace fanin::cuda {

/// Cached; never throws, never prints. Starts the driver, but no work on a device.
const availability& probe() noexcept;

}  // namespace fanin::cuda
