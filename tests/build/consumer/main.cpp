// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  const std::vector<double> x = {1e100, 1.0, -1e100, 0.5};
  for (const fanin::backend* each : fanin::backends()) {
    if (!each->probe().usable()) continue;
    const auto sum = fanin::sum(x, {.backend = each->name(), .method = fanin::method::exact});
    std::printf("%.*s: %g\n", static_cast<int>(each->name().size()), each->name().data(), sum.value);
    if (sum.value != 1.5 || sum.report.backend != each->name()) return 1;
  }
  return fanin::sum(x, {.backend = "serial"}).report.backend == std::string_view("serial") ? 0 : 1;
}
