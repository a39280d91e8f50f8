// How long a call takes, on the host's steady clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace fanin::measure {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The upper one of two. `samples` is not empty.
inline double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// The median time of one call f(), in seconds. f runs once unmeasured, then until `budget_seconds` are spent, at
/// least once and at most 1001 times; calls too short for the clock are timed in batches.
template <class F>
double median_seconds(F&& f, double budget_seconds) {
  constexpr double shortest_sample = 20e-6;
  double start = now_seconds();
  f();
  const double first = std::max(now_seconds() - start, 1e-9);
  const auto batch = static_cast<std::size_t>(std::max(1.0, shortest_sample / first));
  std::vector<double> samples;
  const double end = now_seconds() + budget_seconds;
  do {
    start = now_seconds();
    for (std::size_t i = 0; i < batch; ++i) f();
    samples.push_back((now_seconds() - start) / static_cast<double>(batch));
  } while (now_seconds() < end && samples.size() < 1001);
  return median(std::move(samples));
}

}  // namespace fanin::measure
