// SPDX-License-Identifier: Apache-2.0
// A small user of the library, who links sums of four element types.
#include <cstdint>
#include <vector>

#include <fanin/fanin.hpp>

template <class T>
bool sums_right() {
  return fanin::sum(std::vector<T>(1000, T{2})).value == 2000;
}

int main() {
  const bool right = sums_right<float>() && sums_right<double>() && sums_right<int>() && sums_right<std::int64_t>();
  return right ? 0 : 1;
}
