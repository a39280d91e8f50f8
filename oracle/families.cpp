// SPDX-License-Identifier: Apache-2.0
#include "oracle/families.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <fanin/accumulator/exact.hpp>
#include <fanin/error.hpp>
#include <fanin/request.hpp>

#include "backends/words.hpp"

namespace fanin::oracle {

using detail::printable;

// SplitMix64 (Steele, Lea, Flood 2014), with distributions of its own: those of the standard library differ between
// implementations.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number uniform in [0, 1), with as many random bits as T has digits.
  template <class T>
  T unit() {
    constexpr int digits = std::numeric_limits<T>::digits;
    return std::ldexp(static_cast<T>(next() >> (64 - digits)), -digits);
  }
  template <class T>
  T signed_unit() {
    const T magnitude = unit<T>();
    return (next() & 1) != 0 ? -magnitude : magnitude;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

namespace {

template <class T>
void constant(std::span<T> x, random_bits&, double parameter) {
  std::ranges::fill(x, static_cast<T>(parameter));
}

template <class T>
void uniform(std::span<T> x, random_bits& random, double) {
  for (T& element : x) element = random.unit<T>();
}

// The sum of twelve uniform numbers approximates the normal distribution with variance 1. A transformation with log()
// would give other bits on other machines.
template <class T>
void normal(std::span<T> x, random_bits& random, double) {
  for (T& element : x) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.unit<double>();
    element = static_cast<T>(sum);
  }
}

template <class T>
void telescoping(std::span<T> x, random_bits&, double) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T term = T(1) / static_cast<T>((i + 1) / 2 + 1);
    x[i] = i % 2 == 0 ? term : -term;
  }
}

// Algorithm 6.1 of Ogita, Rump and Oishi, "Accurate sum and dot product" (2005), applied to sums. The elements of the
// first half have random exponents up to that of the condition number. Each element of the second half replaces the
// exact sum so far by a smaller number; the last element replaces it by sum |x| / condition number. The elements are
// shuffled at the end. Each element of the second half takes at most the digits of T off the sum.
template <class T>
void ill_conditioned(std::span<T> x, random_bits& random, double parameter) {
  const int top = std::ilogb(parameter);
  const std::size_t least = 2 * (static_cast<std::size_t>(top / std::numeric_limits<T>::digits) + 2);
  if (x.size() < least) {
    throw invalid_argument(fmt::format("the condition number {:g} takes at least {} elements of {}, not {}",
                                       parameter, least, to_string(type_of<T>), x.size()));
  }
  const std::size_t half = x.size() / 2;
  exact_accumulator<T> sum;
  double magnitudes = 0;
  for (std::size_t i = 0; i < half; ++i) {
    const int exponent = static_cast<int>(random.below(static_cast<std::size_t>(top) + 1));
    x[i] = std::ldexp(random.signed_unit<T>(), exponent);
    sum.add(x[i]);
    magnitudes += std::fabs(static_cast<double>(x[i]));
  }
  const int range = std::max(top - std::ilogb(std::max(2 * magnitudes / parameter, 1e-30)), 0);
  for (std::size_t i = half; i < x.size(); ++i) {
    const std::size_t left = x.size() - 1 - i;
    const double share = static_cast<double>(left) / static_cast<double>(x.size() - half);
    const int exponent = top - range + static_cast<int>(share * range);
    const T target =
        left == 0 ? static_cast<T>(magnitudes / parameter) : std::ldexp(random.signed_unit<T>(), exponent);
    x[i] = target - sum.template round<T>();
    sum.add(x[i]);
    magnitudes += std::fabs(static_cast<double>(x[i]));
  }
  for (std::size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[random.below(i)]);
}

template <class T>
void big_eats_small(std::span<T> x, random_bits&, double) {
  std::ranges::fill(x, T(1));
  if (!x.empty()) x[0] = std::ldexp(T(1), std::numeric_limits<T>::digits);
}

template <class T>
void alternating(std::span<T> x, random_bits&, double) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 == 0 ? T(1) : T(-1)) / static_cast<T>(i + 1);
}

// Elements are below the overflow threshold by a factor of 2^40, so that 2^40 elements have a finite sum.
template <class T>
void wide(std::span<T> x, random_bits& random, double) {
  using limits = std::numeric_limits<T>;
  constexpr int lowest = limits::min_exponent, highest = limits::max_exponent - 40;
  for (T& element : x) {
    const int exponent = lowest + static_cast<int>(random.below(highest - lowest + 1));
    element = std::ldexp(random.signed_unit<T>(), exponent);
  }
}

// The binary exponents are normally distributed. `parameter` is six standard deviations of the exponent. Exponents
// are clamped so that every element is a normal number and 2^40 elements have a finite sum.
template <class T>
void lognormal(std::span<T> x, random_bits& random, double parameter) {
  using limits = std::numeric_limits<T>;
  for (T& element : x) {
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += random.unit<double>();
    const auto exponent = static_cast<int>(std::lround(normal * parameter / 6));
    element = std::ldexp(1 + random.unit<T>(), std::clamp(exponent, limits::min_exponent, limits::max_exponent - 42));
  }
}

constexpr family all_families[] = {
    {"constant", "every element is the same number", "the number, -1e30 to 1e30, 1.23 if not given", 1.23, -1e30,
     1e30, constant, constant},
    {"uniform", "random, uniform in [0, 1)", "", 0, 0, 0, uniform, uniform},
    {"normal", "random, mean 0 and variance 1 (a sum of twelve uniforms)", "", 0, 0, 0, normal, normal},
    {"lognormal", "random, positive, the exponents normally distributed",
     "the binades that nearly all lie in, 1 to 1000, 10 if not given", 10, 1, 1000, lognormal, lognormal},
    {"telescoping", "1, -1/2, 1/2, -1/3, 1/3, ...: everything but the ends cancels", "", 0, 0, 0, telescoping,
     telescoping},
    {"condition", "ill-conditioned sums after Ogita, Rump and Oishi",
     "the condition number, 1 to 1e30, 1e10 if not given", 1e10, 1, 1e30, ill_conditioned, ill_conditioned},
    {"big-eats-small", "2^24 (f32) or 2^53 (f64), then ones that are lost one by one", "", 0, 0, 0, big_eats_small,
     big_eats_small},
    {"alternating", "1, -1/2, 1/3, -1/4, ...", "", 0, 0, 0, alternating, alternating},
    {"wide", "random signs and exponents over the whole range of the type", "", 0, 0, 0, wide, wide},
};

constexpr std::string_view all_study_specs[] = {
    "constant",       "uniform",        "normal",         "telescoping",    "condition:1e2",
    "condition:1e6",  "condition:1e10", "condition:1e14", "condition:1e18", "condition:1e22",
    "condition:1e26", "condition:1e30", "big-eats-small", "alternating",    "wide"};

const family& find_family(std::string_view name) {
  const auto* known = std::ranges::find(all_families, name, &family::name);
  if (known != std::end(all_families)) return *known;
  std::vector<std::string_view> names;
  for (const family& one : all_families) names.push_back(one.name);
  throw invalid_argument(fmt::format("unknown input '{}'{}", printable(name), detail::suggestion(name, names)));
}

double find_parameter(const family& known, std::string_view spec) {
  if (spec == known.name) return known.standard;
  if (known.parameter.empty()) throw invalid_argument(fmt::format("'{}' takes no number", known.name));
  const std::string_view number = spec.substr(known.name.size() + 1);
  const char* const number_end = number.data() + number.size();
  double value = 0;
  const auto [end, code] = std::from_chars(number.data(), number_end, value);
  if (code == std::errc::invalid_argument || end != number_end) {
    throw invalid_argument(fmt::format("'{}': '{}' is not a number", printable(spec), printable(number)));
  }
  if (code != std::errc() || !(value >= known.least && value <= known.most)) {
    throw invalid_argument(
        fmt::format("'{}': the number has to lie between {} and {}", printable(spec), known.least, known.most));
  }
  return value;
}

}  // namespace

std::span<const family> families() { return all_families; }

std::span<const std::string_view> study_specs() { return all_study_specs; }

template <std::floating_point T>
std::vector<T> generate(std::string_view spec, std::size_t count, std::uint64_t seed) {
  const family& known = find_family(spec.substr(0, spec.find(':')));
  const double parameter = find_parameter(known, spec);
  std::vector<T> x(count);
  random_bits random(seed);
  if constexpr (std::same_as<T, float>) {
    known.fill_f32(x, random, parameter);
  } else {
    known.fill_f64(x, random, parameter);
  }
  return x;
}

template std::vector<float> generate(std::string_view, std::size_t, std::uint64_t);
template std::vector<double> generate(std::string_view, std::size_t, std::uint64_t);

}  // namespace fanin::oracle
