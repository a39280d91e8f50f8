// SPDX-License-Identifier: Apache-2.0
// Tests of the timing functions, with simulated clocks.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "measure/rotation.hpp"
#include "measure/timing.hpp"

namespace fanin::measure {
namespace {

std::vector<double> first_numbers(std::size_t count) {
  std::vector<double> x(count);
  std::iota(x.begin(), x.end(), 1.0);
  std::swap(x.front(), x.back());
  return x;
}

/// Binds the calling thread to one core.
class one_core {
 public:
  one_core() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t single;
    CPU_ZERO(&single);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    CPU_SET(core, &single);
    ::sched_setaffinity(0, sizeof single, &single);
  }
  ~one_core() { ::sched_setaffinity(0, sizeof before_, &before_); }
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;

 private:
  cpu_set_t before_;
};

long involuntary_switches() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nivcsw;
}

/// Runs two threads on the same core until there has been an involuntary context switch.
void get_interrupted() {
  const one_core here;
  const long before = involuntary_switches();
  std::atomic<bool> done = false;
  std::jthread rival([&] {
    while (!done) {
    }
  });
  while (involuntary_switches() == before) {
  }
  done = true;
}

TEST_SUITE_BEGIN("timing");

TEST_CASE("the median is the mean of the middle two of an even number") {
  CHECK(median({4}) == 4);
  CHECK(median({4, 1}) == 2.5);
  CHECK(median({9, 1, 2}) == 2);
  CHECK(median({9, 1, 2, 5}) == 3.5);
}

TEST_CASE("noise: the interval that tables of the binomial distribution give") {
  CHECK(std::isinf(relative_noise({})));
  CHECK(std::isinf(relative_noise(first_numbers(5))));
  struct entry {
    std::size_t count, from, to;  // from and to number the order statistics from 1.
  };
  for (const entry& one : {entry{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {20, 6, 15}, {100, 40, 61}}) {
    CAPTURE(one.count);
    const double middle = static_cast<double>(one.count + 1) / 2;
    CHECK(relative_noise(first_numbers(one.count)) ==
          doctest::Approx(static_cast<double>(one.to - one.from) / 2 / middle));
  }
  CHECK(relative_noise(std::vector<double>(1000, 3.0)) == 0);
}

TEST_CASE("calls too short for the clock are timed in batches") {
  const auto clock = [](std::size_t, std::size_t calls) { return 1e-6 * static_cast<double>(calls); };
  const timing result = time_batches(clock, 20e-6, {.budget_seconds = 1});
  CHECK(result.calls_per_sample == 32);
  for (const double sample : result.samples) CHECK(sample == doctest::Approx(1e-6));
}

TEST_CASE("the i-th call is told so, and none is left out") {
  std::size_t next = 0;
  const auto f = [&](std::size_t i) { CHECK(i == next++); };
  const timing result = time_calls(f, {.budget_seconds = 0});
  CHECK(result.taken == 1);
  CHECK(next >= result.calls_per_sample);
}

TEST_CASE("sampling stops when the noise has settled, when the budget is spent, or when it is told to") {
  const auto steady = [](std::size_t, std::size_t) { return 1.0; };
  const timing settled = time_batches(steady, 0, {.budget_seconds = 60});
  CHECK(settled.settled);
  CHECK(settled.samples.size() == 11);

  int calls = 0;
  const auto noisy = [&](std::size_t, std::size_t) { return ++calls % 2 == 0 ? 1.0 : 2.0; };
  const timing most = time_batches(noisy, 0, {.budget_seconds = 60});
  CHECK(!most.settled);
  CHECK(most.taken == 1000);
  CHECK(time_batches(noisy, 0, {.budget_seconds = 60, .settled_noise = 0.5}).settled);
  CHECK(time_batches(noisy, 0, {.budget_seconds = 0}).samples.size() == 1);

  volatile std::sig_atomic_t stop = 0;
  const auto interrupting = [&](std::size_t i, std::size_t) {
    if (i == 3) stop = 1;
    return static_cast<double>(i);
  };
  CHECK(time_batches(interrupting, 0, {.budget_seconds = 60, .stop = &stop}).samples == std::vector<double>{1, 2, 3});
}

TEST_CASE("several clocks are sampled in turn, and share what the machine does meanwhile") {
  // Each batch takes as many seconds as the number of its first call.
  const auto number = [](std::size_t i, std::size_t) { return static_cast<double>(i); };
  volatile std::sig_atomic_t stop = 0;
  const auto last = [&](std::size_t i, std::size_t) {
    if (i == 9) stop = 1;
    return static_cast<double>(i);
  };
  const std::vector<timing> results =
      time_in_turn({batch_clock(number), batch_clock(last)}, 0, {.budget_seconds = 60, .stop = &stop});
  REQUIRE(results.size() == 2);
  // Calls 0 and 1 find out how many calls a sample takes; one before each sample is not timed.
  CHECK(results[0].samples == std::vector<double>{3, 7});
  CHECK(results[1].samples == std::vector<double>{5, 9});

  const auto steady = [](std::size_t, std::size_t) { return 1.0; };
  const auto late = [&](std::size_t i, std::size_t) { return i < 80 && i / 4 % 2 == 0 ? 2.0 : 1.0; };
  const std::vector<timing> both = time_in_turn({batch_clock(steady), batch_clock(late)}, 0, {.budget_seconds = 60});
  CHECK(both[0].settled);
  CHECK(both[1].settled);
  CHECK(both[0].taken == both[1].taken);
  CHECK(both[0].taken > 20);
}

TEST_CASE("a thread that waits for a core is noticed") {
  const one_core here;
  std::atomic<bool> done = false;
  std::jthread rival([&] {
    while (!done) {
    }
  });
  const auto work = [](std::size_t, std::size_t) {
    const double start = now_seconds();
    while (now_seconds() - start < 1e-3) {
    }
    return now_seconds() - start;
  };
  const timing result = time_batches(work, 0, {.budget_seconds = 0.5, .settled_noise = 0});
  done = true;
  if (!std::ifstream("/proc/self/schedstat").good()) {
    CHECK(!result.waited_share);
    return;
  }
  REQUIRE(result.waited_share);
  CHECK(*result.waited_share > 0.2);
  CHECK(*result.waited_share < 1.1);
  CHECK(result.disturbed());
  rival.join();
  const timing later = time_batches(work, 0, {.budget_seconds = 0.05, .settled_noise = 0});
  CHECK(*later.waited_share < 1.1);  // the waits before its own samples do not count
}

TEST_CASE("samples that the scheduler interrupted are discarded, unless there are hardly any others") {
  constexpr double calm = 1, late = 100;
  const auto sometimes = [](std::size_t i, std::size_t) {
    if (i % 3 != 2) return calm;
    get_interrupted();
    return late;
  };
  const timing result = time_batches(sometimes, 0, {.budget_seconds = 60});
  CHECK(result.discarded >= 5);
  CHECK(result.settled);
  CHECK(result.samples.size() + result.discarded == result.taken);
  for (const double sample : result.samples) CHECK(sample == calm);

  volatile std::sig_atomic_t stop = 0;
  const auto mostly = [&](std::size_t i, std::size_t) {
    if (i == 12) stop = 1;
    if (i % 4 == 1) return calm;
    get_interrupted();
    return late;
  };
  const timing busy = time_batches(mostly, 0, {.budget_seconds = 60, .stop = &stop});
  CHECK(busy.discarded == 0);
  CHECK(!busy.settled);
  CHECK(busy.samples.size() == 12);
}

TEST_CASE("processor time is that of one call, all threads together") {
  const auto two_threads = [](std::size_t) {
    const auto spin = [] {
      const double end = now_seconds() + 0.01;
      while (now_seconds() < end) {
      }
    };
    std::jthread other(spin);
    spin();
  };
  // At least one of the two threads ran all the time, each on at most one core.
  const timing result = time_calls(two_threads, {.budget_seconds = 0.1});
  CHECK(result.cpu_seconds > 0.001);
  CHECK(result.cpu_seconds < 2.1 * *std::ranges::max_element(result.samples));
}

TEST_CASE("copies past the caches hold the same elements in different places, and one copy is warm") {
  const std::vector<int> x = {3, 1, 4, 1, 5};
  const array_view view{std::span<const std::int32_t>(x)};
  const rotation warm = rotation::warm(view);
  CHECK(warm.is_warm());
  CHECK(warm.at(0).data == warm.at(1).data);
  CHECK(rotation::in_place(view).at(7).data == x.data());

  const std::vector<float> longer(1 << 20, 1.5f);
  const rotation cold = rotation::past_caches(std::span<const float>(longer));
  REQUIRE(!cold.is_warm());
  CHECK(cold.at(0).data != cold.at(1).data);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const array_view copy = cold.at(i);
    REQUIRE(copy.count == longer.size());
    const auto* const begin = static_cast<const float*>(copy.data);
    CHECK(std::equal(begin, begin + copy.count, longer.begin()));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::measure
