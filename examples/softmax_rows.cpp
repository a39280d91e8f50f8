// SPDX-License-Identifier: Apache-2.0
// The denominators of a softmax: one for each row of a matrix. A row's result does not depend on the batch it is in.
#include <cmath>
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  constexpr std::size_t rows = 4, columns = 1000;
  std::vector<float> scores(rows * columns);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = std::sin(static_cast<float>(i)) * 100;

  std::vector<float> logs(rows), largest(rows);
  fanin::log_sum_exp(fanin::rows(scores, {rows, columns}, 1), logs);
  fanin::max(fanin::rows(scores, {rows, columns}, 1), largest);

  float alone;  // the second row, in a batch of one
  const std::vector<float> second(scores.begin() + columns, scores.begin() + 2 * columns);
  fanin::log_sum_exp(fanin::rows(second, {1, columns}, 1), std::span<float>(&alone, 1));
  for (std::size_t r = 0; r < rows; ++r) std::printf("row %zu: largest %.3f, log sum %.3f\n", r, largest[r], logs[r]);
  return alone == logs[1] && logs[1] >= largest[1] ? 0 : 1;
}
