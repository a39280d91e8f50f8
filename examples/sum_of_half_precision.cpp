// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits, as neural networks store them: sums, means and norms in float, or correctly rounded.
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  std::vector<fanin::bf16> gradient(1'000'000, fanin::bf16(0.01f));  // as bf16, 0.01 is 0.010009765625
  gradient[7] = fanin::bf16(-4.0f);

  fanin::bf16 in_bf16(0.0f);
  for (const float g : gradient) in_bf16 = fanin::bf16(in_bf16 + g);       // stays at 4: 4 + 0.01 is 4 in bf16
  const float fast = fanin::sum(gradient, {.method = fanin::fast}).value;  // added as floats
  const float exact = fanin::sum(gradient).value;
  std::printf("sum in bf16 %g, fast %.9g, exact %.9g, norm %.9g\n", static_cast<float>(in_bf16), fast, exact,
              fanin::norm2(gradient).value);

  const auto [value, index] = fanin::argmin(gradient).value;  // an element: a bf16
  std::printf("the smallest is element %llu, %g\n", static_cast<unsigned long long>(index),
              static_cast<float>(value));
  return exact == 10005.7556f && index == 7 ? 0 : 1;
}
