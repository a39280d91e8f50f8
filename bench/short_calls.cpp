// SPDX-License-Identifier: Apache-2.0
// Times sums of short arrays, which stay in a cache: by plans and verbs of each method, and by Eigen's loop. Prints
// nanoseconds of a call, the least mean of many rounds in which the contestants take turns.
// Usage: fanin_short_calls [ROUNDS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "bench/peers.hpp"
#include "measure/timing.hpp"

namespace {

using fanin::method;

volatile double sink;  ///< receives the results, so that the compiler keeps the calls

struct contestant {
  const char* name;
  std::function<void(int calls)> run;
  double least_seconds = std::numeric_limits<double>::infinity();  ///< of one call
};

template <class F>
contestant repeated(const char* name, F f) {
  return {name, [f](int calls) {
            for (int i = 0; i < calls; ++i) sink = static_cast<double>(f());
          }};
}

/// Numbers with random signs and fractions, and exponents that are uniform over so many values around 0. Without
/// binades, the numbers are uniform in [0, 1).
template <class T>
std::vector<T> numbers(std::size_t count, int binades) {
  std::mt19937_64 random(1);
  std::vector<T> x(count);
  for (T& v : x) {
    const double fraction = static_cast<double>(random() >> 11) * 0x1p-53, sign = random() % 2 == 0 ? 1 : -1;
    v = static_cast<T>(fraction);
    if (binades == 0) continue;
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(binades)) - binades / 2;
    v = std::ldexp(static_cast<T>(sign * (1 + fraction / 2)), exponent);
  }
  return x;
}

template <class T>
std::vector<contestant> contestants(std::span<const T> x) {
  const auto by_plan = [&](const char* name, method how) {
    const fanin::plan sum(fanin::operation::sum, fanin::type_of<T>, {.backend = "serial", .method = how});
    return repeated(name, [=] { return fanin::get<T>(sum(fanin::array_view(x)).value); });
  };
  return {repeated("Eigen", [=] { return fanin::bench::eigen_sum(x.data(), x.size()); }),
          by_plan("plan fast", method::fast),
          by_plan("compensated", method::compensated),
          by_plan("exact", method::exact),
          repeated("verb fast", [=] { return fanin::sum(x, fanin::fast).value; }),
          repeated("exact", [=] { return fanin::sum(x).value; })};
}

template <class T>
void race(std::size_t count, int binades, int rounds) {
  const std::vector<T> x = numbers<T>(count, binades);
  std::vector<contestant> all = contestants(std::span<const T>(x));
  const int calls = static_cast<int>(std::max<std::size_t>(8, 4000 / count));
  for (int round = 0; round < rounds; ++round) {
    for (contestant& one : all) {
      one.run(1);
      const double start = fanin::measure::now_seconds();
      one.run(calls);
      one.least_seconds = std::min(one.least_seconds, (fanin::measure::now_seconds() - start) / calls);
    }
  }
  const std::string data = binades == 0 ? "uniform" : std::to_string(binades) + " binades";
  std::printf("f%d n %5zu %-13s", static_cast<int>(8 * sizeof(T)), count, data.c_str());
  for (const contestant& one : all) std::printf("  %s %8.1f", one.name, 1e9 * one.least_seconds);
  const double exact = all[3].least_seconds;
  std::printf(" ns  exact/fast %.3f  exact/compensated %.3f\n", all[1].least_seconds / exact,
              all[2].least_seconds / exact);
}

template <class T>
void race_all(int rounds) {
  constexpr int all_exponents = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent;
  for (const std::size_t count : {16, 64, 128, 256, 1024, 4096}) {
    for (const int binades : {0, 60, 100, 200, all_exponents}) race<T>(count, binades, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 400;
  race_all<float>(rounds);
  race_all<double>(rounds);
}
