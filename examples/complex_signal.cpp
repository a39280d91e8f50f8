// SPDX-License-Identifier: Apache-2.0
// Complex samples of a signal: its energy, and how far it turned against another one.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
  const double turn = 0.25;
  std::vector<std::complex<float>> sent, received;
  for (int i = 0; i < 1000; ++i) {
    sent.push_back(std::polar(1.0f, 0.01f * static_cast<float>(i * i)));
    received.push_back(0.5f * sent.back() * std::polar(1.0f, static_cast<float>(turn)));
  }
  const float energy = fanin::norm2(received).value;
  const auto overlap = fanin::vdot<std::complex<double>>(sent, received, {.method = fanin::method::exact});
  std::printf("norm %.4f, turned by %.6f\n", energy, std::arg(overlap.value));
  return std::abs(std::arg(overlap.value) - turn) < 1e-7 ? 0 : 1;
}
