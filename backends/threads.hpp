// The cores that the process may use, also if an OpenMP runtime has bound the main thread to one of them.
#pragma once

namespace fanin {

/// Lets the calling thread run on every core of the process again, if an OpenMP runtime in this process had bound the
/// main thread (OMP_PROC_BIND) and other threads inherited that. Does nothing otherwise.
void unbind_this_thread() noexcept;

}  // namespace fanin
