// SPDX-License-Identifier: Apache-2.0
// A trace run over floats whose sum tells orders apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "cli/lesson/trace.hpp"

namespace fanin::test {

/// Numbers of 24 binades and their negatives, shuffled: nearly every addition rounds, and little but that is left.
/// Two orders seldom leave the same.
inline std::vector<float> order_sensitive_values(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] =
        i % 2 == 1 ? -x[i - 1] : std::ldexp(static_cast<float>(random() >> 40), static_cast<int>(random() % 24) - 24);
  }
  std::shuffle(x.begin(), x.end(), random);
  return x;
}

inline float traced_sum(const cli::trace& all, const std::vector<float>& x) {
  cli::trace_memory<float> memory(all, x);
  for (const cli::trace_step& step : all.steps) memory.run(step);
  return memory.at({cli::space::total, 0});
}

}  // namespace fanin::test
