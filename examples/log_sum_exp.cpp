// SPDX-License-Identifier: Apache-2.0
// An accumulator of your own: log(sum of exp(x)), which does not overflow where exp(x) does.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <fanin/fold.hpp>

struct log_sum_exp {
  struct scaled_sum {
    double largest;  // of the elements so far
    double sum;      // of exp(x - largest)
  };
  using element = double;
  using state = scaled_sum;
  static constexpr bool order_free = false;  // sums round, so the order matters: every backend uses the same
  static state identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static void add(state& s, element x) { merge(s, {x, 1}); }
  static void merge(state& s, const state& other) {
    if (other.sum == 0) return;
    const double largest = std::max(s.largest, other.largest);
    s.sum = s.sum * std::exp(s.largest - largest) + other.sum * std::exp(other.largest - largest);
    s.largest = largest;
  }
  template <class R>
  static R finish(const state& s, std::uint64_t) {
    return s.largest + std::log(s.sum);
  }
};

int main() {
  std::vector<double> x(1 << 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1000 + static_cast<double>(i % 7);

  const auto one = fanin::fold<log_sum_exp>(x, {.backend = "serial"});
  const auto many = fanin::fold<log_sum_exp>(x);  // the same bits, on every core
  std::printf("%.17g by %s, %.17g by %s\n", one.value, std::string(one.report.backend).c_str(), many.value,
              std::string(many.report.backend).c_str());

  fanin::incremental_fold<log_sum_exp> blocks;
  for (std::size_t i = 0; i < x.size(); i += 1000) {
    blocks.push(std::span<const double>(x).subspan(i, std::min<std::size_t>(1000, x.size() - i)));
  }
  double expected = 0;
  for (const double v : x) expected += std::exp(v - 1006);
  const bool near = std::fabs(one.value - (1006 + std::log(expected))) < 1e-9;
  return near && many.value == one.value && blocks.finish().value == one.value ? 0 : 1;
}
