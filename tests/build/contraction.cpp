// SPDX-License-Identifier: Apache-2.0
// The public arithmetic rounds every product, also where the caller's flags let products become part of fused
// multiply-adds: this file is compiled with such flags.
#include <cmath>
#include <cstdio>

#include <fanin/recipe.hpp>

namespace {

/// How many of many sums of three squares have other bits in A than separate roundings give. `Sum` adds rounded
/// terms.
template <class A, class Sum>
int differences() {
  using T = typename A::element;
  int count = 0;
  for (int i = 1; i <= 1000; ++i) {
    auto got = A::identity(), wanted = A::identity();
    for (const T v : {T{1} / static_cast<T>(i), T{1} / static_cast<T>(i + 1), T{1} / static_cast<T>(i + 2)}) {
      A::add(got, v);
      const volatile T factor = v, square = factor * factor;  // rounded when it is stored
      Sum::add(wanted, square);
      if constexpr (sizeof got != sizeof(T)) {
        const T rounded = square;
        wanted.error += std::fma(v, v, -rounded);
      }
    }
    count += A::template finish<T>(got, 3) == A::template finish<T>(wanted, 3) ? 0 : 1;
  }
  return count;
}

template <class T>
int all_differences() {
  using namespace fanin::accumulator;
  return differences<plain_square_sum<T>, plain_sum<T>>() +
         differences<compensated_square_sum<T>, compensated_sum<T>>();
}

}  // namespace

int main() {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) {
    std::puts("fanin: skipped: this processor has no fused multiply-add");
    return 0;
  }
#endif
  const int count = all_differences<float>() + all_differences<double>();
  std::printf("%d sums of squares have other bits\n", count);
  return count == 0 ? 0 : 1;
}
