// SPDX-License-Identifier: Apache-2.0
// A sum of blocks as they arrive, and a merge of saved partial sums: both have the bits of the sum of the whole
// input.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <fanin/accumulator/exact.hpp>
#include <fanin/fanin.hpp>

int main() {
  std::vector<double> x;
  for (int i = 0; i < 300'000; ++i) x.push_back(i % 2 == 0 ? 1e16 + i : -1e16);
  const double whole = fanin::sum(x, {.method = fanin::exact}).value;

  fanin::incremental blocks(fanin::operation::sum, fanin::element_type::f64, {.method = fanin::exact});
  for (std::size_t i = 0; i < x.size(); i += 1000) blocks.push(std::span<const double>(x).subspan(i, 1000));
  const double streamed = fanin::get<double>(blocks.finish().value);

  // Two machines, each with half of the data: save() is a documented, endian-fixed byte layout.
  const std::span<const double> all(x);
  fanin::exact_accumulator<double> left, right;
  left.add(all.first(123'456));
  right.add(all.subspan(123'456));
  const auto bytes = right.save();
  left.merge(fanin::exact_accumulator<double>::load(bytes));

  std::printf("%.17g %.17g %.17g\n", whole, streamed, left.round<double>());
  return whole == streamed && whole == left.round<double>() ? 0 : 1;
}
