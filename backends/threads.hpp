// Which cores the process may use, whatever an OpenMP runtime has done to the main thread.
#pragma once

namespace fanin {

/// Lets the calling thread run on every core of the process again, if an OpenMP runtime in this process had bound the
/// main thread (OMP_PROC_BIND) and other threads inherited that. Does nothing otherwise.
void unbind_this_thread() noexcept;

}  // namespace fanin
