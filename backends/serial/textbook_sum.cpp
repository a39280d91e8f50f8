// SPDX-License-Identifier: Apache-2.0
#include "backends/serial/textbook_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fanin/accumulator/accumulator.hpp>

namespace fanin::serial {
namespace {

using accumulator::growth;
using accumulator::round_up;
using accumulator::unit_roundoff;

/// One running sum, from the first element to the last.
template <class T>
T naive(const T* x, std::size_t count) {
  T sum = accumulator::additive_identity<T>();
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

/// (n - 1) u sum|x|, for any n and any order. [Jeannerod and Rump 2013, Improved error bounds for inner products]
template <class T>
error_bound naive_bound(std::uint64_t count) {
  return {0, count > 1 ? static_cast<double>(count - 1) * unit_roundoff<T> * round_up : 0, 0};
}

/// Adds the upper half onto the lower half until one element is left. The sums are in a scratch copy of half the
/// input, since the input is const.
template <class T>
T recursive(const T* x, std::size_t count) {
  if (count == 0) return 0;
  std::size_t half = (count + 1) / 2;
  std::vector<T> scratch(x, x + half);
  for (std::size_t i = 0; i < count - half; ++i) scratch[i] += x[half + i];
  for (std::size_t n = half; n > 1; n = half) {
    half = (n + 1) / 2;
    for (std::size_t i = 0; i < n - half; ++i) scratch[i] += scratch[half + i];
  }
  return scratch[0];
}

template <class T>
error_bound recursive_bound(std::uint64_t count) {
  return {0, growth<T>(static_cast<double>(count > 1 ? std::bit_width(count - 1) : 0)), 0};
}

constexpr std::size_t pairwise_base = 32;

/// Splits in the middle down to short runs, which are added naively.
template <class T>
T pairwise(const T* x, std::size_t count) {
  if (count <= pairwise_base) return naive(x, count);
  const std::size_t half = count / 2;
  return pairwise(x, half) + pairwise(x + half, count - half);
}

/// The longest chain has 31 additions of a run, and one for each halving. [Higham 2002, 4.2]
template <class T>
error_bound pairwise_bound(std::uint64_t count) {
  double chain = static_cast<double>(pairwise_base - 1);
  for (std::uint64_t n = count; n > pairwise_base; n -= n / 2) ++chain;
  return {0, growth<T>(chain), 0};
}

/// Kahan: the rounding error of each addition is subtracted from the next element.
template <class T>
T kahan(const T* x, std::size_t count) {
  T sum = accumulator::additive_identity<T>();
  T lost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T y = x[i] - lost;
    const T next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  // After an infinity, `lost` and all later sums are NaN; the plain loop gives the value of IEEE arithmetic.
  return std::isfinite(sum) ? sum : naive(x, count);
}

/// (4 u + 5 n u^2) sum|x| while n u^2 <= 1/64, proved in docs/numerics.md without assuming that the sum outgrows the
/// elements; to first order it is 2 u. [Higham 2002, 4.3]
template <class T>
error_bound kahan_bound(std::uint64_t count) {
  constexpr double u = unit_roundoff<T>;
  const double n = static_cast<double>(count);
  if (n * u * u > 1.0 / 64) return {0, std::numeric_limits<double>::infinity(), 0};
  return {0, count > 1 ? (4 * u + 5 * n * u * u) * round_up : 0, 0};
}

/// Neumaier: the rounding error of each addition goes to a second sum, whichever of its operands was the larger.
template <class T>
T neumaier(const T* x, std::size_t count) {
  T sum = accumulator::additive_identity<T>();
  T lost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T next = sum + x[i];
    lost += std::abs(sum) >= std::abs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
    sum = next;
  }
  if (!std::isfinite(sum) || !std::isfinite(lost) || lost == 0) return sum;
  return sum + lost;
}

/// u |S| + (1 + u) (n - 1) u min(g(n - 1), 1) sum|x|: each addition loses no more than its smaller operand, and the
/// losses are added naively. [Neumaier 1974; Ogita, Rump, Oishi 2005, 4.2]
template <class T>
error_bound neumaier_bound(std::uint64_t count) {
  if (count <= 1) return {};
  const double additions = static_cast<double>(count - 1);
  const double losses = std::min(growth<T>(additions), 1.0);
  return {unit_roundoff<T>, (1 + unit_roundoff<T>)*additions * unit_roundoff<T> * losses * round_up, 0};
}

/// Sums a whole array by Sum.
template <class T, T (*Sum)(const T*, std::size_t), error_bound (*Bound)(std::uint64_t)>
constexpr detail::arithmetic arithmetic_by() {
  detail::arithmetic f{};
  f.reproducibility = reproducibility::fixed_order;
  f.inputs = 1;
  f.element_bytes = sizeof(T);
  f.leaf_elements = static_cast<std::size_t>(-1);  // One leaf has any array.
  f.reduce = [](const detail::operands& data, std::size_t count, element_type, void* out) {
    *static_cast<T*>(out) = count == 0 ? T{0} : accumulator::canonical(Sum(static_cast<const T*>(data.x), count));
  };
  f.bound = [](const rounding_chain&, std::uint64_t count, element_type) { return Bound(count); };
  f.one_by_one = true;
  return f;
}

#define FANIN_STUDY(NAME, METHOD, STORY)                                           \
  {                                                                                \
    {#NAME, METHOD, STORY, ""}, arithmetic_by<float, NAME, NAME##_bound<float>>(), \
        arithmetic_by<double, NAME, NAME##_bound<double>>()                        \
  }
constexpr textbook_sum all[] = {
    FANIN_STUDY(naive, method::fast, "one plain loop, one accumulator"),
    FANIN_STUDY(recursive, method::fast, "adds the upper half of the array to the lower half, again and again"),
    FANIN_STUDY(pairwise, method::fast, "splits the array in the middle, again and again; adds pieces of 32 plainly"),
    FANIN_STUDY(kahan, method::compensated, "subtracts the last rounding error from the next element"),
    FANIN_STUDY(neumaier, method::compensated, "adds every rounding error to a second sum"),
};
#undef FANIN_STUDY

}  // namespace

std::span<const textbook_sum> textbook_sums() noexcept { return all; }

}  // namespace fanin::serial
