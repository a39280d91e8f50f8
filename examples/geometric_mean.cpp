// SPDX-License-Identifier: Apache-2.0
// An accumulator of your own: the geometric mean, whose product does not overflow, as its exponent is kept apart.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <fanin/fold.hpp>

struct geometric_mean {
  struct scaled_product {
    double mantissa;
    std::int64_t exponent;
  };
  using element = double;
  using state = scaled_product;
  static constexpr bool order_free = false;  // products round, so the order matters: every backend uses the same
  static state identity() { return {1, 0}; }
  static state normalized(double x, std::int64_t exponent) {
    int shift = 0;
    const double mantissa = std::frexp(x, &shift);
    return {mantissa, exponent + shift};
  }
  static void add(state& s, element x) { merge(s, normalized(x, 0)); }
  static void merge(state& s, const state& other) {
    s = normalized(s.mantissa * other.mantissa, s.exponent + other.exponent);
  }
  template <class R>
  static R finish(const state& s, std::uint64_t count) {
    return std::exp2((std::log2(s.mantissa) + static_cast<double>(s.exponent)) / static_cast<double>(count));
  }
};

int main() {
  std::vector<double> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1e300 * (1 + static_cast<double>(i % 7)) : 1e-290;

  const auto one = fanin::fold<geometric_mean>(x, {.backend = "serial"});
  const auto many = fanin::fold<geometric_mean>(x);  // the same bits, on every core
  std::printf("%.17g by %s, %.17g by %s\n", one.value, std::string(one.report.backend).c_str(), many.value,
              std::string(many.report.backend).c_str());

  fanin::incremental_fold<geometric_mean> blocks;
  for (std::size_t i = 0; i < x.size(); i += 1000) {
    blocks.push(std::span<const double>(x).subspan(i, std::min<std::size_t>(1000, x.size() - i)));
  }
  double logarithms = 0;
  for (const double v : x) logarithms += std::log(v);
  const double expected = std::exp(logarithms / static_cast<double>(x.size()));
  const bool near = std::fabs(one.value / expected - 1) < 1e-9;
  return near && many.value == one.value && blocks.finish().value == one.value ? 0 : 1;
}
