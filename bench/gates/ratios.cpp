// SPDX-License-Identifier: Apache-2.0
// Checks the speeds of sums relative to the read ceiling, to other libraries and to each other, in one process. A
// floor is about half of the ratio in bench/results/, and lower for sums by several threads, which need free cores.
// The contestants take turns, and the fastest round of each counts, because other work on the machine only adds time.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>

#include "bench/contestants.hpp"
#include "oracle/random_input.hpp"

namespace {

using fanin::bench::contestant;
using fanin::measure::rotation;

constexpr fanin::measure::stopping_rule stopping_rule_per_round{.budget_seconds = 0.02};

struct gate {
  std::string_view ours, theirs;
  double floor;  ///< lower bound of the time of `theirs` divided by the time of `ours`
};

constexpr gate from_cache[] = {{"serial/simd", "ceiling/one-thread", 0.4},
                               {"serial/simd", "peer/eigen", 0.3},
                               {"serial/simd", "peer/std-reduce-unseq", 2.5},
                               {"serial/compensated", "serial/simd", 0.18},
                               {"serial/exact", "serial/simd", 0.12}};
constexpr gate from_memory[] = {{"serial/simd", "ceiling/one-thread", 0.4},
                                {"serial/exact", "serial/simd", 0.35},
                                {"tbb/simd", "ceiling/all-threads", 0.3},
                                {"tbb/simd", "peer/std-reduce-par-unseq", 0.5},
                                {"tbb/exact", "tbb/simd", 0.3},
                                {"openmp/simd", "ceiling/all-threads", 0.3},
                                {"openmp/exact", "openmp/simd", 0.3}};

using times = std::map<std::string_view, double>;

/// Runs one round, and updates the fastest time of each contestant.
void race(const std::vector<contestant>& all, times& fastest) {
  const auto seconds = fanin::bench::take_turns(all, 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [best, is_new] = fastest.try_emplace(all[i].name, seconds[i][0]);
    best->second = std::min(best->second, seconds[i][0]);
  }
}

/// @throws std::out_of_range if there is no contestant with a name of the gate
bool holds(const gate& one, const times& fastest) {
  return fastest.at(one.theirs) >= one.floor * fastest.at(one.ours);
}

bool applies(const gate& one) { return fanin::find_backend(one.ours.substr(0, one.ours.find('/'))).probe().usable(); }

/// Runs a few rounds, or more as long as a gate does not hold, and prints the ratios.
bool check_gates(std::span<const gate> known, const std::vector<contestant>& all, const std::string& name) {
  constexpr int least_rounds = 3, most_rounds = 20;
  std::vector<gate> gates;
  std::ranges::copy_if(known, std::back_inserter(gates), applies);
  times fastest;
  bool good = false;
  for (int round = 1; round <= most_rounds && !good; ++round) {
    race(all, fastest);
    good = round >= least_rounds && std::ranges::all_of(gates, [&](const gate& one) { return holds(one, fastest); });
  }
  for (const gate& one : gates) {
    const double ratio = fastest.at(one.theirs) / fastest.at(one.ours);
    std::cout << name << ": " << one.ours << " is " << ratio << " times as fast as " << one.theirs << ", floor "
              << one.floor << (holds(one, fastest) ? "\n" : "  FAILED\n");
  }
  return good;
}

template <class T>
bool check_on(const rotation& input, std::span<const gate> gates, fanin::measure::reader& all_threads) {
  std::vector<contestant> all = fanin::bench::ceilings_and_peers<T>(input, &all_threads, stopping_rule_per_round);
  for (const fanin::backend* one : fanin::bench::cpu_backends()) {
    std::ranges::move(fanin::bench::sums_of_backend<T>(*one, input, stopping_rule_per_round),
                      std::back_inserter(all));
  }
  return check_gates(gates, all,
                     std::to_string(input.at(0).count) + " of " + std::string(to_string(fanin::type_of<T>)));
}

template <class T>
bool check() {
  constexpr auto sum = fanin::operation::sum;
  fanin::measure::reader all_threads(fanin::default_threads());
  const fanin::oracle::random_input near(sum, fanin::type_of<T>, std::size_t{1} << 14);
  const fanin::oracle::random_input far(sum, fanin::type_of<T>, std::size_t{1} << 24);
  const bool near_holds = check_on<T>(rotation::warm(near.view()), from_cache, all_threads);
  const bool far_holds = check_on<T>(rotation::past_caches(far.view()), from_memory, all_threads);
  return near_holds && far_holds;
}

}  // namespace

int main() {
  std::cout << std::setprecision(3);
  const bool single = check<float>(), wide = check<double>();
  return single && wide ? 0 : 1;
}
