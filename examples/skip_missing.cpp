// SPDX-License-Identifier: Apache-2.0
// Only some elements take part: those that a mask selects, and those that are no NaN.
#include <array>
#include <cmath>
#include <cstdio>

#include <fanin/fanin.hpp>

int main() {
  const std::array<double, 6> celsius{18.5, NAN, 21.0, 19.5, NAN, 35.0};
  const std::array<bool, 6> trusted{true, true, true, true, true, false};
  const fanin::options skip{.method = fanin::method::exact, .nan = fanin::nan_policy::skip};

  const auto mean = fanin::mean(fanin::where(celsius, trusted), skip);
  const auto hottest = fanin::argmax(celsius, skip);  // the index is that in the whole array
  std::printf("mean %.2f without %d readings\n", mean.value, static_cast<int>(mean.report.absent));
  std::printf("hottest %.1f at %d\n", hottest.value.value, static_cast<int>(hottest.value.index));
  return std::isnan(fanin::mean(celsius).value) && mean.report.absent == 3 ? 0 : 1;
}
