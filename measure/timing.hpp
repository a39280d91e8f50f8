// SPDX-License-Identifier: Apache-2.0
// Timing of calls on the host. Every measurement here uses the same rules for when to stop sampling and which samples
// to discard.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace fanin::measure {

/// The current time of the host's steady clock, in seconds.
double now_seconds();

/// The median of at least one sample. The median of an even number of samples is the mean of the middle two.
double median(std::vector<double> samples);

/// Half the width of the 95 % confidence interval of the median, divided by the median. The ends of the interval are
/// two order statistics, chosen by the binomial distribution with probability 1/2, so that the interval is valid for
/// every distribution of the samples. Infinite for fewer than 6 samples, which cannot give 95 %.
double relative_noise(std::vector<double> samples);

/// The stopping rule of a measurement: sampling ends when the relative noise is at most `settled_noise`, or when the
/// budget is spent.
struct stopping_rule {
  double budget_seconds = 0.1;
  double settled_noise = 0.01;
  const volatile std::sig_atomic_t* stop = nullptr;  ///< sampling also ends when *stop is not 0
};

/// The largest share of the sampling time that a thread may wait for a core in a measurement of use. A sample that
/// contains such a wait has no involuntary context switch if the thread was waking up, and is not discarded.
constexpr double most_waited_share = 0.1;

struct timing {
  std::vector<double> samples;             ///< seconds per call, in the order taken; never empty
  std::size_t calls_per_sample = 1;        ///< above 1 for calls that are too short for the clock
  std::size_t taken = 0;                   ///< number of samples, the discarded ones included
  std::size_t discarded = 0;               ///< number of samples left out because of an involuntary context switch
  std::optional<std::uint64_t> throttled;  ///< nr_throttled of the process's cgroup: how often its quota stopped it
  std::optional<double> waited_share;  ///< share of the sampling time that the thread which waited most for a core
                                       ///< could run and had none; empty if the kernel does not count that
  double cpu_seconds = 0;              ///< mean CPU time of one call, summed over all threads
  bool settled = false;

  double seconds() const { return median(samples); }
  /// Whether other load makes the samples worthless: waited_share is above most_waited_share.
  bool disturbed() const { return waited_share.value_or(0) > most_waited_share; }
};

/// Makes the calls f(first), ..., f(first + calls - 1) and returns the seconds that they took together, by any clock.
using batch_clock = std::function<double(std::size_t first, std::size_t calls)>;

/// Times one batch per sample, at most 1000 samples; the calls per batch are doubled until one takes
/// `shortest_batch_seconds`. The noise is computed from 11 samples on. A sample with an involuntary context switch is
/// discarded, unless fewer than 11 samples are without one.
/// Samples of several clocks are taken in turn, so a cause that slows the machine for a while slows all of them.
/// Each sample follows a call that is not timed, so its threads are awake. The calls are numbered through all
/// clocks. So if calls take inputs in turn, no call takes an input that another clock has just left in a cache.
/// The clocks end together: when every clock has settled, or when the budget times the number of clocks is spent.
std::vector<timing> time_in_turn(const std::vector<batch_clock>& clocks, double shortest_batch_seconds,
                                 const stopping_rule& limit);

/// Times one clock alone, as time_in_turn() does.
inline timing time_batches(const batch_clock& batch_seconds, double shortest_batch_seconds,
                           const stopping_rule& limit) {
  return time_in_turn({batch_seconds}, shortest_batch_seconds, limit).front();
}

/// The shortest batch that the host's steady clock measures, whose reading takes tens of nanoseconds.
constexpr double shortest_host_batch_seconds = 20e-6;

/// The clock of the calls f(0), f(1), ... by the host's steady clock. `f` has to outlive it.
template <class F>
batch_clock host_clock(F& f) {
  return [&f](std::size_t first, std::size_t calls) {
    const double start = now_seconds();
    for (std::size_t i = first; i < first + calls; ++i) f(i);
    return now_seconds() - start;
  };
}

/// Times the calls f(0), f(1), ... by the host's steady clock, as time_batches() does.
template <class F>
timing time_calls(F&& f, const stopping_rule& limit) {
  return time_batches(host_clock(f), shortest_host_batch_seconds, limit);
}

}  // namespace fanin::measure
