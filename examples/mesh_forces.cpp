// SPDX-License-Identifier: Apache-2.0
// Forces that particles exert on the cells of a mesh: a sum for each cell, with the same bits whatever the order in
// which the particles come.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  constexpr std::size_t cells = 8, particles = 10000;
  std::vector<double> force(particles);
  std::vector<int> cell(particles);
  for (std::size_t i = 0; i < particles; ++i) {
    force[i] = (i % 2 == 0 ? 1e12 : -1e12) + 1.0 / static_cast<double>(i + 1);
    cell[i] = static_cast<int>(i * i % 13 % cells);
  }
  std::vector<double> on_cell(cells), in_other_order(cells);
  fanin::sum(fanin::groups(force, cell, cells), on_cell, {.method = fanin::exact});

  std::reverse(force.begin(), force.end());
  std::reverse(cell.begin(), cell.end());
  fanin::sum(fanin::groups(force, cell, cells), in_other_order, {.method = fanin::exact});
  for (std::size_t c = 0; c < cells; ++c) std::printf("cell %zu: %.17g\n", c, on_cell[c]);
  return on_cell == in_other_order ? 0 : 1;
}
