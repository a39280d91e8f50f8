// SPDX-License-Identifier: Apache-2.0
// Operations that compare elements: where the largest one is, both extrema in one read, and whether there are zeros.
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  std::vector<double> load(1'000'000);
  for (std::size_t i = 0; i < load.size(); ++i) load[i] = 1 + static_cast<double>(i % 97) / 100;
  load[123'456] = 25;

  const auto peak = fanin::argmax(load).value;
  const auto [least, most] = fanin::minmax(load).value;
  const double deviation = fanin::standard_deviation(load).value;  // exact, as variances are by default
  std::printf("from %g to %g; the peak is element %llu, %.0f standard deviations above the mean\n", least, most,
              static_cast<unsigned long long>(peak.index), (peak.value - fanin::mean(load).value) / deviation);
  std::printf("no zero among them: %s\n", fanin::all(load).value ? "true" : "false");
  return peak.index == 123'456 && peak.value == most && fanin::all(load).value ? 0 : 1;
}
