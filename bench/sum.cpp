// Sums of f32 and f64 by every CPU backend and method, by other people's libraries, and the read ceilings, in one
// process. Run it through scripts/bench-cpu, which interleaves repetitions and turns the output into a table of
// ratios.
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fanin/fanin.hpp>

#include "bench/measure/ceiling.hpp"
#include "bench/peers.hpp"

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
  for (const fanin::backend* b : fanin::backends()) {
    if (!b->probe().usable()) continue;
    for (fanin::method how : fanin::all_methods) {
      const fanin::plan sum(fanin::operation::sum, fanin::type_of<T>, {.backend = b->name(), .how = how});
      const std::string variant(sum.chosen().chosen->variants()[static_cast<std::size_t>(how)].name);
      add(name(std::string(b->name()) + "/" + variant), x.size_bytes(), [=] { return std::get<T>(sum(x).value); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t largest = std::size_t{1} << 27;
  const auto f64 = uniform<double>(largest);
  const auto f32 = uniform<float>(largest);
  for (std::size_t count :
       {1u << 8, 1u << 10, 1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20, 1u << 22, 1u << 24, 1u << 27}) {
    add_all("f64", f64, count);
    add_all("f32", f32, count);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("threads", std::to_string(fanin::default_threads()));
  benchmark::RunSpecifiedBenchmarks();
}
