// SPDX-License-Identifier: Apache-2.0
#include "backends/tbb/tbb.hpp"

#include <map>
#include <memory>
#include <mutex>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include "base/threads.hpp"

namespace fanin::tbb_backend {
namespace {

/// Lets workers run on all cores of the process. Workers inherit the affinity of the thread that starts them, which
/// is one core if an OpenMP runtime bound the main thread; all workers would share it.
class unbinding_observer final : public tbb::task_scheduler_observer {
 public:
  explicit unbinding_observer(tbb::task_arena& arena) : task_scheduler_observer(arena) { observe(true); }
  ~unbinding_observer() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) unbind_this_thread();
  }
};

struct pool {
  explicit pool(unsigned threads) : arena(static_cast<int>(threads)), observer(arena) {}
  tbb::task_arena arena;
  unbinding_observer observer;
};

/// The arena for a number of threads, kept for the life of the process. TBB's default limit on threads is raised to
/// this number if it is lower; a lower limit that the application has set stays in force.
tbb::task_arena& arena_of(unsigned threads) {
  static std::mutex mutex;
  static auto& pools = *new std::map<unsigned, std::unique_ptr<pool>>;  // workers may outlive static objects
  static std::unique_ptr<tbb::global_control> limit;
  constexpr auto workers = tbb::global_control::max_allowed_parallelism;

  const std::lock_guard lock(mutex);
  auto& found = pools[threads];
  if (!found) {
    if (tbb::global_control::active_value(workers) < threads) {
      limit.reset();
      limit = std::make_unique<tbb::global_control>(workers, threads);
    }
    found = std::make_unique<pool>(threads);
  }
  return found->arena;
}

}  // namespace

void backend::run(unsigned threads, std::size_t count, task each) const {
  arena_of(threads).execute([&] {
    tbb::parallel_for(
        std::size_t{0}, count, [&](std::size_t i) { each.call(each.context, i); }, tbb::simple_partitioner());
  });
}

}  // namespace fanin::tbb_backend
