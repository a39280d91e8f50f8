// SPDX-License-Identifier: Apache-2.0
// Describes an array in one read, and data that come in blocks.
#include <cmath>
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  std::vector<float> celsius(1'000'000);
  for (std::size_t i = 0; i < celsius.size(); ++i)
    celsius[i] = i % 1000 == 0 ? NAN : 20.0f + static_cast<float>(i % 7);
  const fanin::options skip{.nan = fanin::nan_policy::skip};

  const auto all = fanin::describe(celsius, skip).value;
  std::printf("%llu numbers and %llu NaN from %g to %g, mean %g, standard deviation %g\n",
              static_cast<unsigned long long>(all.count), static_cast<unsigned long long>(all.nan), all.min, all.max,
              all.mean, all.standard_deviation);

  fanin::describer blocks(fanin::element_type::f32, skip);
  for (std::size_t i = 0; i < celsius.size(); i += 2500)
    blocks.push(std::span<const float>(celsius).subspan(i, 2500));
  fanin::description<float> streamed{};
  const fanin::report how = blocks.finish(streamed);
  std::printf("computed by %.*s\n", static_cast<int>(how.backend.size()), how.backend.data());
  return all.nan == 1000 && all.max == 26 && streamed.mean == all.mean ? 0 : 1;
}
