// Sums of f32 and f64 by every CPU backend and method, by other people's libraries, and the read ceilings, in one
// process. Prints JSON in Google Benchmark's schema, a row for each round. Run it through scripts/bench-cpu, which
// turns the output into a table of ratios.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <fanin/fanin.hpp>

#include "bench/contestants.hpp"
#include "cli/families.hpp"

namespace {

using fanin::bench::contestant;
using fanin::measure::rotation;
using json = nlohmann::ordered_json;

constexpr int rounds = 7;
constexpr fanin::measure::patience patience_per_round{.budget_seconds = 0.03};

/// Uniform in [0, 1), the same on every machine.
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

/// Names are group/type/contestant/count.
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
  std::vector<contestant> all = fanin::bench::others<T>(
      input, x.bytes() >= fanin::small_input_bytes ? &all_threads : nullptr, patience_per_round);
  for (const fanin::backend* b : fanin::bench::cpu_backends()) {
    append(all, fanin::bench::sums_by<T>(*b, input, patience_per_round));
  }
  race(rows, "sum", x, all);
}

/// Every method on data that make exact sums easy or hard; by several threads where they take part.
template <class T>
void race_families(json& rows) {
  constexpr std::size_t period = std::size_t{1} << 22, longest = std::size_t{1} << 24;
  for (const char* family :
       {"constant", "uniform", "normal", "lognormal:10", "lognormal:100", "wide", "condition:1e30"}) {
    const std::vector<T> once = fanin::cli::generate<T>(family, period, 1);
    std::vector<T> data;
    while (data.size() < longest) data.insert(data.end(), once.begin(), once.end());
    for (const std::size_t count : {1u << 8, 1u << 12, 1u << 16, 1u << 24}) {
      const fanin::array_view x = std::span<const T>(data.data(), count);
      const rotation input = rotation::in_place(x);
      std::vector<contestant> all;
      for (const fanin::backend* b : fanin::bench::cpu_backends()) {
        const bool takes_part = count == longest || b->name() == "serial";
        if (takes_part) append(all, fanin::bench::sums_by<T>(*b, input, patience_per_round));
      }
      race(rows, family, x, all);
    }
  }
}

}  // namespace

int main() {
  constexpr std::size_t largest = std::size_t{1} << 27;
  const auto f64 = uniform<double>(largest);
  const auto f32 = uniform<float>(largest);
  fanin::measure::reader all_threads(fanin::default_threads());
  json rows = json::array();
  for (const std::size_t count : {1u << 4, 1u << 6, 1u << 8, 1u << 10, 1u << 12, 1u << 14, 1u << 16, 1u << 18,
                                  1u << 20, 1u << 22, 1u << 24, 1u << 27}) {
    race_on(rows, f64, count, all_threads);
    race_on(rows, f32, count, all_threads);
  }
  race_families<float>(rows);
  race_families<double>(rows);
  const json context = {{"executable", "fanin_bench"}, {"threads", fanin::default_threads()}};
  std::cout << json{{"context", context}, {"benchmarks", rows}}.dump(1) << '\n';
}
