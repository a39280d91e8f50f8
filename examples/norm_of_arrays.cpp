// SPDX-License-Identifier: Apache-2.0
// One norm of a list of arrays, as of the gradients of a model: rounded once, with the same bits for any split.
// fanin::accumulate() takes arrays in the memory of a GPU too, and waits for each. fanin::enqueue_lanes() takes a
// list of arrays there, and does not wait.
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

float norm_of(const std::vector<std::span<const float>>& arrays) {
  fanin::exact_square_accumulator<float> squares;
  for (const auto array : arrays) fanin::accumulate(squares, array);
  return squares.root();
}

int main() {
  std::vector<float> x(100'000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0f / static_cast<float>(i + 1), static_cast<int>(i % 60));
  const std::span<const float> all(x);
  const float whole = fanin::norm2(x).value, of_one = norm_of({all});
  const float of_three = norm_of({all.subspan(70'000), all.first(13), all.subspan(13, 70'000 - 13)});
  std::printf("%.9g %.9g %.9g\n", whole, of_one, of_three);
  return whole == of_one && whole == of_three ? 0 : 1;
}
