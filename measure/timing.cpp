// SPDX-License-Identifier: Apache-2.0
#include "measure/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace fanin::measure {

namespace {

constexpr std::size_t least_samples = 11, most_samples = 1000;
constexpr std::size_t most_calls_per_batch = std::size_t{1} << 16;

double process_cpu_seconds() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// The number of involuntary context switches of this process so far.
long involuntary_switches() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nivcsw;
}

std::optional<std::uint64_t> throttle_count() {
  std::ifstream file("/sys/fs/cgroup/cpu.stat");
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;) {
    if (key == "nr_throttled") return value;
  }
  return std::nullopt;
}

/// The time that each thread of this process has spent waiting for a core so far, in seconds, by the thread's id: the
/// second number of the thread's schedstat.
std::map<std::string, double> waits_for_core() {
  std::map<std::string, double> waits;
  std::error_code absent;  // Without /proc there is no thread to look at.
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", absent)) {
    std::ifstream file(thread.path() / "schedstat");
    double ran = 0, waited = 0;
    if (file >> ran >> waited) waits[thread.path().filename()] = 1e-9 * waited;
  }
  return waits;
}

/// The longest wait of a thread since `before`, as a share of `elapsed_seconds`.
std::optional<double> share_waited_since(const std::map<std::string, double>& before, double elapsed_seconds) {
  if (before.empty()) return std::nullopt;
  double longest = 0;
  for (const auto& [thread, waited] : waits_for_core()) {
    const auto known = before.find(thread);
    longest = std::max(longest, waited - (known == before.end() ? 0 : known->second));
  }
  return longest / elapsed_seconds;
}

double middle_of(const std::vector<double>& sorted) {
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

/// A sampler takes samples one by one, and keeps samples without an involuntary context switch apart from the
/// others.
class sampler {
 public:
  /// Doubles the calls per batch until one batch takes `shortest_batch_seconds`.
  sampler(const batch_clock& batch_seconds, double shortest_batch_seconds, const stopping_rule& limit,
          std::size_t& next_call)
      : batch_seconds_(batch_seconds), settled_noise_(limit.settled_noise), next_call_(next_call) {
    while (run(to_.calls_per_sample) < shortest_batch_seconds && to_.calls_per_sample < most_calls_per_batch)
      to_.calls_per_sample *= 2;
  }

  /// One call that is not timed: it wakes the threads that the calls of another clock left asleep.
  void wake() { run(1); }

  void take() {
    const long before = involuntary_switches();
    const double cpu_before = process_cpu_seconds();
    const double seconds = run(to_.calls_per_sample) / static_cast<double>(to_.calls_per_sample);
    cpu_seconds_ += process_cpu_seconds() - cpu_before;
    all_.push_back(seconds);
    if (involuntary_switches() != before) return;
    to_.samples.push_back(seconds);
    if (to_.samples.size() < next_look_) return;
    to_.settled = relative_noise(to_.samples) <= settled_noise_;
    next_look_ += next_look_ / 8 + 1;
  }

  std::size_t taken() const { return all_.size(); }
  bool settled() const { return to_.settled; }

  /// On a busy machine nearly every long sample contains a context switch; if too few samples are without one, all
  /// samples count.
  timing finish() {
    if (to_.samples.size() < std::min(least_samples, taken())) to_.samples = all_;
    to_.taken = taken();
    to_.discarded = taken() - to_.samples.size();
    to_.cpu_seconds = cpu_seconds_ / static_cast<double>(taken() * to_.calls_per_sample);
    return std::move(to_);
  }

 private:
  double run(std::size_t calls) { return batch_seconds_(std::exchange(next_call_, next_call_ + calls), calls); }

  const batch_clock& batch_seconds_;
  const double settled_noise_;
  std::size_t& next_call_;
  timing to_;
  std::vector<double> all_;
  std::size_t next_look_ = least_samples;  // Sorting after every sample would take longer than the samples.
  double cpu_seconds_ = 0;
};

}  // namespace

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return middle_of(samples);
}

double relative_noise(std::vector<double> samples) {
  const std::size_t count = samples.size();
  // The number of samples below the median has the binomial distribution with probability 1/2. `outside` is the
  // largest number for which "at most `outside` samples lie below the median" has a probability of at most 2.5 %.
  double probability = std::ldexp(1.0, -static_cast<int>(count));
  double tail = probability;
  if (count == 0 || tail > 0.025) return std::numeric_limits<double>::infinity();
  std::size_t outside = 0;
  for (;; ++outside) {
    probability *= static_cast<double>(count - outside) / static_cast<double>(outside + 1);
    tail += probability;
    if (tail > 0.025) break;
  }
  std::sort(samples.begin(), samples.end());
  return (samples[count - 1 - outside] - samples[outside]) / 2 / middle_of(samples);
}

std::vector<timing> time_in_turn(const std::vector<batch_clock>& clocks, double shortest_batch_seconds,
                                 const stopping_rule& limit) {
  std::size_t next_call = 0;
  std::vector<sampler> samplers;
  for (const batch_clock& clock : clocks) samplers.emplace_back(clock, shortest_batch_seconds, limit, next_call);

  const auto throttled_before = throttle_count();
  const auto stopped = [&] { return limit.stop != nullptr && *limit.stop != 0; };
  const auto waits_before = waits_for_core();
  const double start = now_seconds(), end = start + limit.budget_seconds * static_cast<double>(clocks.size());
  do {
    for (sampler& one : samplers) {
      if (samplers.size() > 1) one.wake();
      one.take();
    }
  } while (!std::ranges::all_of(samplers, &sampler::settled) && !stopped() &&
           samplers.front().taken() < most_samples && now_seconds() < end);
  const std::optional<double> waited_share = share_waited_since(waits_before, now_seconds() - start);
  std::optional<std::uint64_t> throttled;
  if (throttled_before) throttled = throttle_count().value_or(*throttled_before) - *throttled_before;

  std::vector<timing> results;
  for (sampler& one : samplers) {
    results.push_back(one.finish());
    results.back().waited_share = waited_share;
    results.back().throttled = throttled;
  }
  return results;
}

}  // namespace fanin::measure
