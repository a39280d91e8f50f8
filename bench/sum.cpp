// Sums of f32 and f64 by every CPU backend and method, by other people's libraries, and the read ceilings, in one
// process. Run it through scripts/bench-cpu, which interleaves repetitions and turns the output into a table of
// ratios.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fanin/fanin.hpp>

#include "bench/measure/ceiling.hpp"
#include "bench/peers.hpp"
#include "cli/families.hpp"

namespace {

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

template <class F>
void add(const std::string& name, std::size_t bytes, F call) {
  auto* made = benchmark::RegisterBenchmark(name.c_str(), [bytes, call](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(call());
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  });
  made->UseRealTime();
}

/// A backend's sums by every method.
template <class T>
void add_backend(const std::string& group, const fanin::backend& b, std::span<const T> x) {
  if (!b.probe().usable()) return;
  for (fanin::method how : fanin::all_methods) {
    const fanin::plan sum(fanin::operation::sum, fanin::type_of<T>, {.backend = b.name(), .how = how});
    const std::string_view variant = sum.chosen().chosen->variants()[static_cast<std::size_t>(how)].name;
    std::string name = group;
    for (const std::string_view part : {to_string(fanin::type_of<T>), b.name(), variant}) {
      name.append("/").append(part);
    }
    add(name + "/" + std::to_string(x.size()), x.size_bytes(), [=] { return std::get<T>(sum(x).value); });
  }
}

template <class T>
void add_all(const char* type, const std::vector<T>& data, std::size_t count) {
  const std::span<const T> x(data.data(), count);
  const auto name = [&](const std::string& what) {
    return "sum/" + std::string(type) + "/" + what + "/" + std::to_string(count);
  };
  const unsigned threads = fanin::default_threads();

  add(name("ceiling/one-thread"), x.size_bytes(),
      [=] { return fanin::measure::read_alone(x.data(), x.size_bytes()); });
  add(name("peer/eigen"), x.size_bytes(), [=] { return fanin::bench::eigen_sum(x.data(), x.size()); });
  add(name("peer/std-reduce-unseq"), x.size_bytes(),
      [=] { return fanin::bench::std_reduce_unseq(x.data(), x.size()); });
  add(name("serial/simd-unplanned"), x.size_bytes(), [=] { return fanin::sum(x, {.backend = "serial"}).value; });
  if (x.size_bytes() >= fanin::small_input_bytes) {
    static fanin::measure::reader all(threads);
    add(name("ceiling/all-threads"), x.size_bytes(), [=] { return all.read(x.data(), x.size_bytes()); });
    add(name("peer/std-reduce-par-unseq"), x.size_bytes(),
        [=] { return fanin::bench::std_reduce_par_unseq(x.data(), x.size()); });
  }
  for (const fanin::backend* b : fanin::backends()) add_backend("sum", *b, x);
}

/// Every method on data that make exact sums easy or hard; by several threads where they take part.
template <class T>
void add_families() {
  constexpr std::size_t period = std::size_t{1} << 22, longest = std::size_t{1} << 24;
  static std::deque<std::vector<T>> data;  // outlives the calls that are registered
  for (const char* family :
       {"constant", "uniform", "normal", "lognormal:10", "lognormal:100", "wide", "condition:1e30"}) {
    const std::vector<T> once = fanin::cli::generate<T>(family, period, 1);
    std::vector<T>& x = data.emplace_back();
    while (x.size() < longest) x.insert(x.end(), once.begin(), once.end());
    for (const std::size_t count : {1u << 8, 1u << 12, 1u << 16, 1u << 24}) {
      for (const fanin::backend* b : fanin::backends()) {
        if (count == longest || b->name() == "serial") add_backend(family, *b, std::span<const T>(x.data(), count));
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t largest = std::size_t{1} << 27;
  const auto f64 = uniform<double>(largest);
  const auto f32 = uniform<float>(largest);
  for (std::size_t count : {1u << 4, 1u << 6, 1u << 8, 1u << 10, 1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20,
                            1u << 22, 1u << 24, 1u << 27}) {
    add_all("f64", f64, count);
    add_all("f32", f32, count);
  }
  add_families<float>();
  add_families<double>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("threads", std::to_string(fanin::default_threads()));
  benchmark::RunSpecifiedBenchmarks();
}
