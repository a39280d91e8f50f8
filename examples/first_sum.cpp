// SPDX-License-Identifier: Apache-2.0
// One sum three ways: exact, fast, and the plain loop that gets it wrong.
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  const std::vector<float> x(100'000'000, 1.23f);
  const auto exact = fanin::sum(x);
  const auto fast = fanin::sum(x, {.method = fanin::fast, .bound = true});
  const auto naive = fanin::sum(x, {.backend = "serial", .variant = "naive"});
  std::printf("exact %.9g, off by at most %.2g  (%s)\n", exact.value, exact.error_bound(),
              exact.report.backend.data());
  std::printf("fast  %.9g, off by at most %.2g\n", fast.value, fast.error_bound());
  std::printf("naive %.9g\n", naive.value);

  // 10^8 times the float nearest to 1.23 is 123000001.907...; the nearest float is 123000000.
  return exact.value == 123000000.0f && naive.value == 33554432.0f ? 0 : 1;
}
