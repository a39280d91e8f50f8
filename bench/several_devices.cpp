// SPDX-License-Identifier: Apache-2.0
// Measures the exact sum of a host array, pinned and pageable, through one GPU and through all: median of several
// rounds in turns, in one process. Prints a line of JSON for each. usage: fanin_several_devices [GIB]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <fanin/fanin.hpp>

#include "base/cuda/handles.hpp"
#include "bench/hashed.hpp"
#include "measure/timing.hpp"

namespace {

constexpr int rounds = 7;

/// Writes floats uniform in [0, 1).
void fill(std::span<float> x) {
  const std::size_t threads = fanin::default_threads();
  std::vector<std::jthread> crew;
  for (std::size_t t = 0; t < threads; ++t) {
    crew.emplace_back([=] {
      for (std::size_t i = x.size() * t / threads; i < x.size() * (t + 1) / threads; ++i) {
        x[i] = static_cast<float>(fanin::bench::hashed(i) >> 40) * 0x1p-24f;
      }
    });
  }
}

/// Prints the medians, and returns whether each sum was the one of the CPU.
bool race(std::string_view memory, std::span<const float> x) {
  std::vector<int> all(static_cast<std::size_t>(fanin::find_backend("cuda").device_count()));
  std::iota(all.begin(), all.end(), 0);
  const auto sum_by = [&](std::string_view backend, std::size_t devices) {
    return fanin::sum(
        x, {.backend = backend, .method = fanin::method::exact, .devices = std::span<const int>(all).first(devices)});
  };
  const float right = sum_by("openmp,tbb,serial", 0).value;
  bool same = true;
  std::vector<std::vector<double>> seconds(all.size());
  for (int round = -1; round < rounds; ++round) {  // The first round allocates.
    for (std::size_t devices = 1; devices <= all.size(); devices *= 2) {
      const double start = fanin::measure::now_seconds();
      same = sum_by("cuda", devices).value == right && same;
      if (round >= 0) seconds[devices - 1].push_back(fanin::measure::now_seconds() - start);
    }
  }
  for (std::size_t devices = 1; devices <= all.size(); devices *= 2) {
    const double median = fanin::measure::median(seconds[devices - 1]);
    std::printf(
        "{\"memory\": \"%s\", \"devices\": %zu, \"bytes\": %zu, \"seconds\": %.6f, \"gigabytes_per_second\": %.2f}\n",
        memory.data(), devices, x.size_bytes(), median, static_cast<double>(x.size_bytes()) / median / 1e9);
  }
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = std::size_t{argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16} << 30;
  const std::size_t count = bytes / sizeof(float);
  std::unique_ptr<float[]> pageable(new float[count]);
  fill({pageable.get(), count});
  bool same = race("pageable", {pageable.get(), count});
  pageable.reset();
  const fanin::cuda::pinned_memory memory = fanin::cuda::allocate_pinned(bytes);
  const std::span<float> pinned(reinterpret_cast<float*>(memory.get()), count);
  fill(pinned);
  same = race("pinned", pinned) && same;
  if (!same) std::fputs("a sum is not that of the CPU\n", stderr);
  return same ? 0 : 1;
}
