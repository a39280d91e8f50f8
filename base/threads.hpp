// SPDX-License-Identifier: Apache-2.0
// The cores that the process may use, also if an OpenMP runtime has bound the main thread to one of them, and the
// threads that it can start.
#pragma once

namespace fanin {

/// Lets the calling thread run on every core of the process again, if an OpenMP runtime in this process had bound the
/// main thread (OMP_PROC_BIND) and other threads inherited that. Does nothing otherwise.
void unbind_this_thread() noexcept;

/// The number of threads, of `wanted`, the calling one included, that the process can have now. OpenMP's runtime ends
/// the process where it cannot start a thread; so threads are started here first. Cost: that of starting them, at the
/// first call of a thread with so many.
unsigned startable_threads(unsigned wanted);

}  // namespace fanin
