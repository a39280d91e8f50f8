// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <fanin/backend.hpp>

namespace fanin {
namespace {

cpu_set_t affinity_of_this_thread() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);  // fails above 1024 cores, and then leaves the set empty
  return set;
}

/// A function of the OpenMP runtime in this process, which the application may have loaded; null if there is none.
/// The lookup by name works in builds of fanin without OpenMP too.
template <class F>
F openmp_function(const char* name) noexcept {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

/// The cores that the OpenMP runtime found before it bound the main thread; empty if there is no runtime or
/// it bound nothing.
cpu_set_t openmp_places() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  const auto places = openmp_function<int (*)()>("omp_get_num_places");
  const auto processors_of_place = openmp_function<int (*)(int)>("omp_get_place_num_procs");
  const auto list_place = openmp_function<void (*)(int, int*)>("omp_get_place_proc_ids");
  if (places == nullptr || processors_of_place == nullptr || list_place == nullptr) return set;
  for (int p = 0; p < places(); ++p) {
    std::vector<int> ids(static_cast<std::size_t>(processors_of_place(p)));
    list_place(p, ids.data());
    for (int id : ids) CPU_SET(static_cast<std::size_t>(id), &set);
  }
  return set;
}

}  // namespace

unsigned default_threads() noexcept {
  static const unsigned count = [] {
    const cpu_set_t here = affinity_of_this_thread();
    const cpu_set_t places = openmp_places();
    const int cores = std::max(CPU_COUNT(&here), CPU_COUNT(&places));
    return cores > 0 ? static_cast<unsigned>(cores) : std::max(1u, std::thread::hardware_concurrency());
  }();
  return count;
}

void unbind_this_thread() noexcept {
  static const cpu_set_t places = openmp_places();
  const cpu_set_t here = affinity_of_this_thread();
  if (CPU_COUNT(&places) > CPU_COUNT(&here)) sched_setaffinity(0, sizeof places, &places);
}

unsigned startable_threads(unsigned wanted) {
  thread_local unsigned started_before = 1;
  if (wanted <= started_before) return wanted;
  std::latch end(1);
  std::atomic<std::size_t> ready = 0;
  std::vector<std::jthread> all;
  // A thread takes its stack, and with its first allocation an arena of address space.
  const auto wait_for_end = [&] {
    std::free(std::malloc(1));
    ready.fetch_add(1);
    end.wait();
  };
  try {
    all.reserve(wanted - 1);
    while (all.size() + 1 < wanted) all.emplace_back(wait_for_end);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  while (ready.load() < all.size()) std::this_thread::yield();
  end.count_down();
  if (all.size() + 1 == wanted) return started_before = wanted;
  // The rest of the address space is left to the memory that the runtimes allocate for their threads. TBB ends the
  // process if it cannot start a thread. With a quarter of the threads that happened in one of 60 calls under
  // `ulimit -v 600000`, on a busy machine of two cores. With a sixteenth it happened in none of 600 calls.
  return static_cast<unsigned>(all.size()) / 16 + 1;
}

}  // namespace fanin
