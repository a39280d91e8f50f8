// SPDX-License-Identifier: Apache-2.0
// The cores that the process may use, also if an OpenMP runtime has bound the main thread to one of them, and the
// threads that it can start.
#pragma once

namespace fanin {

/// Lets the calling thread run on every core of the process again, if an OpenMP runtime in this process had bound the
/// main thread (OMP_PROC_BIND) and other threads inherited that. Does nothing otherwise.
void unbind_this_thread() noexcept;

/// The number of threads that the process can have now: at most `wanted`, with the calling thread. OpenMP's
/// runtime ends the process if it cannot start a thread. So threads are started here first. Cost: the start of the
/// threads, in the first call of a thread with so many.
unsigned startable_threads(unsigned wanted);

}  // namespace fanin
