// Speeds of sums relative to reading, to other people's sums and to each other, in one process. A floor is about half
// of what bench/results/ shows, so what trips it has become twice as slow, and less where threads have to find free
// cores. All take turns, and the fastest of each one's rounds counts: other work on the machine only adds to a time.
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/fanin.hpp>

#include "bench/measure/ceiling.hpp"
#include "bench/peers.hpp"
#include "cli/random_input.hpp"

namespace {

using fanin::array_view;
using fanin::measure::rotation;

constexpr fanin::measure::patience patience_per_round{.budget_seconds = 0.02};

struct contestant {
  std::string name;
  std::function<void(const array_view&)> call;
};

struct gate {
  std::string_view ours, theirs;
  double floor;  ///< of their time over ours
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

template <class T>
std::vector<contestant> contestants(fanin::measure::reader& all_threads) {
  static volatile T sink;
  const auto elements = [](const array_view& x) { return static_cast<const T*>(x.data); };
  std::vector<contestant> all = {
      {"ceiling/one-thread", [](const array_view& x) { sink = fanin::measure::read_alone(x.data, x.bytes()); }},
      {"ceiling/all-threads", [&](const array_view& x) { sink = all_threads.read(x.data, x.bytes()); }},
      {"peer/eigen", [=](const array_view& x) { sink = fanin::bench::eigen_sum(elements(x), x.count); }},
      {"peer/std-reduce-unseq",
       [=](const array_view& x) { sink = fanin::bench::std_reduce_unseq(elements(x), x.count); }},
      {"peer/std-reduce-par-unseq",
       [=](const array_view& x) { sink = fanin::bench::std_reduce_par_unseq(elements(x), x.count); }}};
  for (const fanin::backend* one : fanin::backends()) {
    if (!one->probe().usable() || one->home() != fanin::memory::host) continue;
    for (const std::string_view variant : {"simd", "compensated", "exact"}) {
      const fanin::plan sum(fanin::operation::sum, fanin::type_of<T>, {.backend = one->name(), .variant = variant});
      all.push_back({std::string(one->name()) + "/" + std::string(variant),
                     [sum](const array_view& x) { sink = std::get<T>(sum(x).value); }});
    }
  }
  return all;
}

using times = std::map<std::string_view, double>;

/// Everybody's turn; `fastest` keeps each one's best.
void race(const std::vector<contestant>& all, const rotation& input, times& fastest) {
  for (const contestant& one : all) {
    const auto call = [&](std::size_t i) { one.call(input.at(i)); };
    const double seconds = fanin::measure::time_calls(call, patience_per_round).seconds();
    const auto [best, is_new] = fastest.try_emplace(one.name, seconds);
    best->second = std::min(best->second, seconds);
  }
}

/// @throws std::out_of_range: a gate names nobody
bool holds(const gate& one, const times& fastest) {
  return fastest.at(one.theirs) >= one.floor * fastest.at(one.ours);
}

bool applies(const gate& one) { return fanin::find_backend(one.ours.substr(0, one.ours.find('/'))).probe().usable(); }

/// A few rounds, or many if something does not hold yet.
bool hold(std::span<const gate> known, const std::vector<contestant>& all, const rotation& input,
          const std::string& name) {
  constexpr int least_rounds = 3, most_rounds = 20;
  std::vector<gate> gates;
  std::ranges::copy_if(known, std::back_inserter(gates), applies);
  times fastest;
  bool good = false;
  for (int round = 1; round <= most_rounds && !good; ++round) {
    race(all, input, fastest);
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
bool check() {
  constexpr fanin::element_type type = fanin::type_of<T>;
  fanin::measure::reader all_threads(fanin::default_threads());
  const std::vector<contestant> all = contestants<T>(all_threads);
  const fanin::cli::random_input short_input(fanin::operation::sum, type, std::size_t{1} << 14);
  const fanin::cli::random_input long_input(fanin::operation::sum, type, std::size_t{1} << 24);
  const std::string name(to_string(type));
  const bool near = hold(from_cache, all, rotation::warm(short_input.view()), "2^14 " + name);
  const bool far = hold(from_memory, all, rotation::past_caches(long_input.view()), "2^24 " + name);
  return near && far;
}

}  // namespace

int main() {
  std::cout << std::setprecision(3);
  const bool single = check<float>(), wide = check<double>();
  return single && wide ? 0 : 1;
}
