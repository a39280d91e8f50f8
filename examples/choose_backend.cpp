// SPDX-License-Identifier: Apache-2.0
// Choosing a backend at run time, with permission to fall back, and reading the report.
#include <cstdio>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  std::vector<double> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);

  for (const fanin::backend* b : fanin::backends()) {
    const auto& here = b->probe();
    std::printf("%-7s %s %s\n", std::string(b->name()).c_str(), std::string(to_string(here.why)).c_str(),
                std::string(here.detail).c_str());
  }

  // The first backend of the list that can serve runs; the report names those that were passed over.
  const auto total = fanin::sum(x, {.backend = "cuda,tbb,serial"});
  std::printf("%.17g by %s\n", total.value, std::string(total.report.backend).c_str());
  for (const auto& p : total.report.fallback) {
    std::printf("  not %s: %s\n", std::string(p.backend).c_str(), p.detail.c_str());
  }

  // A single name stands for that backend alone: if it cannot serve, the call throws.
  try {
    static_cast<void>(fanin::sum(x, {.backend = "sreial"}));
    return 1;
  } catch (const fanin::invalid_argument& e) {
    std::printf("%s\n", e.what());
  }

  // Every CPU backend gives the same bits: the order of additions is part of the contract.
  const auto serial = fanin::sum(x, {.backend = "serial"});
  return total.report.reproducibility == fanin::reproducibility::run_to_run || serial.value == total.value ? 0 : 1;
}
