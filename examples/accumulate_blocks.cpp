// SPDX-License-Identifier: Apache-2.0
// Energies and hits in the bins of a histogram, added up block by block as the events come. Counts are exact; an
// exact sum of energies is rounded once for each block, and once in all where states are kept in place of results.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <fanin/accumulator/exact.hpp>
#include <fanin/fanin.hpp>

int main() {
  constexpr std::size_t bins = 4, events = 10000, block = 100;
  std::vector<double> energy(events);
  std::vector<int> bin(events);
  for (std::size_t i = 0; i < events; ++i) {
    energy[i] = 1.0 / static_cast<double>(i % 97 + 1);
    bin[i] = static_cast<int>(i * i % 13 % bins);
  }
  const std::vector<std::int64_t> one(block, 1);
  const fanin::options exact{.method = fanin::exact};

  std::vector<double> in_bin(bins);
  std::vector<std::int64_t> hits(bins);
  std::vector<fanin::exact_accumulator<double>> states(bins);
  for (std::size_t first = 0; first < events; first += block) {
    const std::vector<double> energies(energy.begin() + static_cast<std::ptrdiff_t>(first),
                                       energy.begin() + static_cast<std::ptrdiff_t>(first + block));
    const std::vector<int> keys(bin.begin() + static_cast<std::ptrdiff_t>(first),
                                bin.begin() + static_cast<std::ptrdiff_t>(first + block));
    fanin::add_to(fanin::groups(energies, keys, bins), in_bin, exact);
    fanin::add_to(fanin::groups(one, keys, bins), hits);
    for (std::size_t i = 0; i < block; ++i) states[static_cast<std::size_t>(keys[i])].add(energies[i]);
  }

  std::vector<double> at_once(bins);
  fanin::sum(fanin::groups(energy, bin, bins), at_once, exact);
  bool right = true;
  for (std::size_t b = 0; b < bins; ++b) {
    const double off = in_bin[b] - at_once[b];
    std::printf("bin %zu: %d hits, %.17g, which is off by %.1e; from its state %.17g\n", b, static_cast<int>(hits[b]),
                in_bin[b], off, states[b].round());
    // Every block rounds, and the sum at once does: each by at most 2^-53 of the sum, as no energy is negative.
    right = right && std::abs(off) <= (events / block + 1) * 0x1p-53 * at_once[b] && states[b].round() == at_once[b];
  }
  return right ? 0 : 1;
}
