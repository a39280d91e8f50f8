// How long a call takes: one rule for all who measure, of when to stop and what to leave out.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace fanin::measure {

/// On the host's steady clock.
double now_seconds();

/// The mean of the middle two of an even number. `samples` is not empty.
double median(std::vector<double> samples);

/// Half the width of the median's 95 % confidence interval, relative to the median. The interval lies between two
/// order statistics, whatever the distribution: that few of n samples lie below the median has the probability of as
/// few heads in n throws. Infinite under 6 samples, with which no interval reaches 95 %.
double relative_noise(std::vector<double> samples);

/// When to stop: as soon as the noise is below `settled_noise`, or when the budget is spent.
struct stopping_rule {
  double budget_seconds = 0.1;
  double settled_noise = 0.01;
  const volatile std::sig_atomic_t* stop = nullptr;  ///< once it is not 0, no further sample is taken
};

struct timing {
  std::vector<double> samples;             ///< seconds of one call, at least one sample, in the order taken
  std::size_t calls_per_sample = 1;        ///< calls too short for the clock are timed in batches
  std::size_t taken = 0;                   ///< samples, the discarded included
  std::size_t discarded = 0;               ///< samples left out, during which the scheduler interrupted the process
  std::optional<std::uint64_t> throttled;  ///< how often the control group's quota stopped it; none: not counted
  double cpu_seconds = 0;                  ///< of one call, all threads, the mean over the samples
  bool settled = false;

  double seconds() const { return median(samples); }
};

/// The time that f(first), f(first + 1), ... take together, by whatever clock: `calls` of them.
using batch_clock = std::function<double(std::size_t first, std::size_t calls)>;

/// Runs batches unmeasured, each twice as long as the last, until they take `shortest_batch_seconds`, then measures:
/// noise is looked at from 11 samples on, and 1000 are the most. A sample during which the scheduler took a core from
/// the process against its will is discarded, unless fewer than 11 others are found.
timing time_batches(const batch_clock& batch_seconds, double shortest_batch_seconds, const stopping_rule& limit);

/// The same for calls f(0), f(1), ... by the host's clock.
template <class F>
timing time_calls(F&& f, const stopping_rule& limit) {
  constexpr double shortest_batch_seconds = 20e-6;
  const auto batch_seconds = [&](std::size_t first, std::size_t calls) {
    const double start = now_seconds();
    for (std::size_t i = first; i < first + calls; ++i) f(i);
    return now_seconds() - start;
  };
  return time_batches(batch_seconds, shortest_batch_seconds, limit);
}

}  // namespace fanin::measure
