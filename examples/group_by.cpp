// SPDX-License-Identifier: Apache-2.0
// Mean and maximum of readings by sensor, where some readings are of no known sensor and one sensor has none.
#include <cmath>
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  const std::vector<float> reading{20.5f, 19.0f, 21.5f, 18.0f, 99.0f, 22.0f};
  const std::vector<int> sensor{0, 2, 0, 2, -1, 0};

  const fanin::batch by_sensor = fanin::groups(reading, sensor, 3).drop_others();
  std::vector<float> mean(3);
  const fanin::report report = fanin::mean(by_sensor, mean);
  std::vector<fanin::indexed<float>> hottest(3);
  fanin::argmax(by_sensor.if_empty(fanin::indexed<float>{NAN, 0}), hottest);
  for (std::size_t s = 0; s < 3; ++s) {
    std::printf("sensor %zu: mean %.2f, hottest %.1f at reading %d\n", s, mean[s], hottest[s].value,
                static_cast<int>(hottest[s].index));
  }
  return std::isnan(mean[1]) && report.absent == 1 && hottest[0].index == 5 ? 0 : 1;
}
