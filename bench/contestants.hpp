// SPDX-License-Identifier: Apache-2.0
// The sums of host memory that the benchmarks compare: the read ceilings, other libraries, and every method of every
// CPU backend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fanin/backend.hpp>

#include "measure/ceiling.hpp"
#include "measure/rotation.hpp"
#include "measure/timing.hpp"

namespace fanin::bench {

struct contestant {
  std::string name;                 ///< as in "serial/simd" or "peer/eigen"
  std::function<double()> seconds;  ///< measures the median time of a call
};

/// Calls seconds() of every contestant in every round, and returns the times by contestant and round. The contestants
/// take turns, so that a drift of the clock frequency affects all of them.
template <class Contestant>
std::vector<std::vector<double>> take_turns(const std::vector<Contestant>& all, int rounds) {
  std::vector<std::vector<double>> seconds(all.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) seconds[i].push_back(all[i].seconds());
  }
  return seconds;
}

std::vector<const backend*> cpu_backends();  ///< the CPU backends that are usable here

/// The sums of the backend, one per method. `input` has elements of type T and outlives the contestants.
template <class T>
std::vector<contestant> sums_of_backend(const backend& b, const measure::rotation& input,
                                        const measure::stopping_rule& limit);
/// The read ceilings and the sums of other libraries. Ones of several threads are included if `all_threads` is not
/// null.
template <class T>
std::vector<contestant> ceilings_and_peers(const measure::rotation& input, measure::reader* all_threads,
                                           const measure::stopping_rule& limit);

}  // namespace fanin::bench
