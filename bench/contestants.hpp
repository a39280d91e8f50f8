// Who sums host memory: the ceilings, other people's libraries, and every method of every CPU backend.
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
  std::string name;                 ///< "serial/simd", "peer/eigen"
  std::function<double()> seconds;  ///< measures: the median of a call
};

/// What each one's seconds() says, round by round. All take turns, so that a drift of the clock meets everybody.
template <class Contestant>
std::vector<std::vector<double>> take_turns(const std::vector<Contestant>& all, int rounds) {
  std::vector<std::vector<double>> seconds(all.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) seconds[i].push_back(all[i].seconds());
  }
  return seconds;
}

std::vector<const backend*> cpu_backends();  ///< the usable ones

/// `input` outlives them, of elements of T, float or double.
template <class T>
std::vector<contestant> sums_by(const backend& b, const measure::rotation& input,
                                const measure::stopping_rule& limit);
/// Those of one thread, and with `all_threads` those of several too.
template <class T>
std::vector<contestant> others(const measure::rotation& input, measure::reader* all_threads,
                               const measure::stopping_rule& limit);

}  // namespace fanin::bench
