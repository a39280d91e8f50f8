// SPDX-License-Identifier: Apache-2.0
// Measures sums of f32 and f64 by every CPU backend and method and by other libraries, and the read ceilings, in one
// process. Prints JSON in Google Benchmark's schema, with a row for each round, from which scripts/bench-cpu makes a
// table of ratios.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <fanin/fanin.hpp>

#include "bench/contestants.hpp"
#include "oracle/families.hpp"

namespace {

using fanin::bench::contestant;
using fanin::measure::rotation;
using json = nlohmann::ordered_json;

constexpr int rounds = 7;
constexpr fanin::measure::stopping_rule stopping_rule_per_round{.budget_seconds = 0.03};

/// Numbers uniform in [0, 1), the same on every machine.
template <class T>
std::vector<T> uniform(std::size_t count) {
  std::vector<T> x(count);
  std::uint64_t state = 1;
  for (T& value : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(state >> 40) * static_cast<T>(0x1p-24);
  }
  return x;
}

void append(std::vector<contestant>& to, std::vector<contestant> more) {
  std::ranges::move(more, std::back_inserter(to));
}

/// Adds a row for each contestant and round. The name of a row is group/type/contestant/count.
void race(json& rows, const std::string& group, const fanin::array_view& x, const std::vector<contestant>& all) {
  const auto seconds = fanin::bench::take_turns(all, rounds);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name =
        group + "/" + std::string(to_string(x.type)) + "/" + all[i].name + "/" + std::to_string(x.count);
    std::cerr << name << '\n';
    for (int round = 0; round < rounds; ++round) {
      const double one = seconds[i][static_cast<std::size_t>(round)];
      rows.push_back({{"name", name},
                      {"run_name", name},
                      {"run_type", "iteration"},
                      {"repetitions", rounds},
                      {"repetition_index", round},
                      {"real_time", 1e9 * one},
                      {"time_unit", "ns"},
                      {"bytes_per_second", static_cast<double>(x.bytes()) / one}});
    }
  }
}

template <class T>
void race_on(json& rows, const std::vector<T>& data, std::size_t count, fanin::measure::reader& all_threads) {
  const fanin::array_view x = std::span<const T>(data.data(), count);
  const rotation input = rotation::in_place(x);
  std::vector<contestant> all = fanin::bench::ceilings_and_peers<T>(
      input, x.bytes() >= fanin::small_input_bytes ? &all_threads : nullptr, stopping_rule_per_round);
  for (const fanin::backend* b : fanin::bench::cpu_backends()) {
    append(all, fanin::bench::sums_of_backend<T>(*b, input, stopping_rule_per_round));
  }
  race(rows, "sum", x, all);
}

/// Measures every method on families of data: all CPU backends at the largest count, only `serial` at the others.
template <class T>
void race_families(json& rows) {
  constexpr std::size_t period = std::size_t{1} << 22, longest = (std::size_t{1} << 30) / sizeof(T);
  for (const char* family :
       {"constant", "uniform", "normal", "lognormal:10", "lognormal:100", "wide", "condition:1e30"}) {
    const std::vector<T> once = fanin::oracle::generate<T>(family, period, 1);
    std::vector<T> data;
    data.reserve(longest);
    while (data.size() < longest) data.insert(data.end(), once.begin(), once.end());
    for (const std::size_t count : {std::size_t{1} << 8, std::size_t{1} << 12, std::size_t{1} << 16, longest}) {
      const fanin::array_view x = std::span<const T>(data.data(), count);
      const rotation input = rotation::in_place(x);
      std::vector<contestant> all;
      for (const fanin::backend* b : fanin::bench::cpu_backends()) {
        const bool takes_part = count == longest || b->name() == "serial";
        if (takes_part) append(all, fanin::bench::sums_of_backend<T>(*b, input, stopping_rule_per_round));
      }
      race(rows, family, x, all);
    }
  }
}

/// Measures up to 2^30 elements, as far as they fit in half of the memory.
template <class T>
void race_lengths(json& rows, fanin::measure::reader& all_threads) {
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t largest = std::min(std::size_t{1} << 30, std::bit_floor(memory / 2 / sizeof(T)));
  const auto data = uniform<T>(largest);
  for (const int log : {4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 28, 30}) {
    if (largest >> log > 0) race_on(rows, data, std::size_t{1} << log, all_threads);
  }
}

}  // namespace

int main() {
  fanin::measure::reader all_threads(fanin::default_threads());
  json rows = json::array();
  race_lengths<double>(rows, all_threads);
  race_lengths<float>(rows, all_threads);
  race_families<float>(rows);
  race_families<double>(rows);
  const json context = {{"executable", "fanin_bench"}, {"threads", fanin::default_threads()}};
  std::cout << json{{"context", context}, {"benchmarks", rows}}.dump(1) << '\n';
}
