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

#include "base/words.hpp"

namespace fanin::oracle {

using detail::printable;

// SplitMix64 (Steele, Lea, Flood 2014), with distributions of its own, because distributions of the standard
// library differ between implementations.
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
  template <floating T>
  computed_as<T> unit() {
    constexpr int digits = std::numeric_limits<T>::digits;
    return std::ldexp(static_cast<computed_as<T>>(next() >> (64 - digits)), -digits);
  }
  template <floating T>
  computed_as<T> signed_unit() {
    const auto magnitude = unit<T>();
    return (next() & 1) != 0 ? -magnitude : magnitude;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

namespace {

/// The nearest element.
template <floating T>
T rounded(computed_as<T> x) {
  return static_cast<T>(x);
}

/// The largest binary exponent for which 2^40 elements that are smaller have a finite sum, in the type in which
/// they are added, and are finite themselves.
template <floating T>
constexpr int highest_exponent = std::min(std::numeric_limits<computed_as<T>>::max_exponent - 40,
                                          std::numeric_limits<T>::max_exponent - 1);

struct constant {
  template <floating T>
  static void fill(std::span<T> x, random_bits&, double parameter) {
    std::ranges::fill(x, rounded<T>(static_cast<computed_as<T>>(parameter)));
  }
  template <std::integral T>
  static void fill(std::span<T> x, random_bits&, double parameter) {
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double least = std::numeric_limits<T>::is_signed ? -beyond : 0;
    if (parameter != std::trunc(parameter) || parameter < least || parameter >= beyond) {
      throw invalid_argument(fmt::format("{} is not a number of type {}", parameter, to_string(type_of<T>)));
    }
    std::ranges::fill(x, static_cast<T>(parameter));
  }
};

struct uniform {
  template <floating T>
  static void fill(std::span<T> x, random_bits& random, double) {
    for (T& element : x) element = rounded<T>(random.unit<T>());
  }
  template <std::integral T>
  static void fill(std::span<T> x, random_bits& random, double) {
    for (T& element : x) element = static_cast<T>(random.next() >> (64 - 8 * sizeof(T)));
  }
};

// The sum of twelve uniform numbers approximates the normal distribution with variance 1. A transformation with log()
// would give other bits on other machines.
double near_normal(random_bits& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit<double>();
  return sum;
}

struct normal {
  template <floating T>
  static void fill(std::span<T> x, random_bits& random, double) {
    for (T& element : x) element = rounded<T>(static_cast<computed_as<T>>(near_normal(random)));
  }
};

struct telescoping {
  template <floating T>
  static void fill(std::span<T> x, random_bits&, double) {
    using C = computed_as<T>;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const C term = C(1) / static_cast<C>((i + 1) / 2 + 1);
      x[i] = rounded<T>(i % 2 == 0 ? term : -term);
    }
  }
};

// Algorithm 6.1 of Ogita, Rump and Oishi, "Accurate sum and dot product" (2005), applied to sums. The elements of
// the first half have random exponents up to the exponent of the condition number. Each element of the second half
// replaces the exact sum so far by a smaller number; the last element replaces it by sum |x| / condition number.
// The elements are shuffled at the end. Each element of the second half takes at most the digits of T off the sum.
struct ill_conditioned {
  template <floating T>
  static void fill(std::span<T> x, random_bits& random, double parameter) {
    using C = computed_as<T>;
    using limits = std::numeric_limits<T>;
    const int top = std::ilogb(parameter);
    if (top >= limits::max_exponent) {
      throw invalid_argument(fmt::format("the condition number {:g} takes elements beyond the largest {}, {:g}",
                                         parameter, to_string(type_of<T>), static_cast<double>(limits::max())));
    }
    const std::size_t least = 2 * (static_cast<std::size_t>(top / limits::digits) + 2);
    if (x.size() < least) {
      throw invalid_argument(fmt::format("the condition number {:g} takes at least {} elements of {}, not {}",
                                         parameter, least, to_string(type_of<T>), x.size()));
    }
    const std::size_t half = x.size() / 2;
    exact_accumulator<C> sum;
    double magnitudes = 0;
    const auto put = [&](std::size_t i, C number) {
      x[i] = rounded<T>(number);
      sum.add(x[i]);
      magnitudes += std::fabs(static_cast<double>(x[i]));
    };
    for (std::size_t i = 0; i < half; ++i) {
      const int exponent = static_cast<int>(random.below(static_cast<std::size_t>(top) + 1));
      put(i, std::ldexp(random.signed_unit<T>(), exponent));
    }
    const int range = std::max(top - std::ilogb(std::max(2 * magnitudes / parameter, 1e-30)), 0);
    for (std::size_t i = half; i < x.size(); ++i) {
      const std::size_t left = x.size() - 1 - i;
      const double share = static_cast<double>(left) / static_cast<double>(x.size() - half);
      const int exponent = top - range + static_cast<int>(share * range);
      const C target =
          left == 0 ? static_cast<C>(magnitudes / parameter) : std::ldexp(random.signed_unit<T>(), exponent);
      put(i, target - sum.template round<C>());
    }
    for (std::size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[random.below(i)]);
  }
};

struct big_eats_small {
  template <floating T>
  static void fill(std::span<T> x, random_bits&, double) {
    std::ranges::fill(x, rounded<T>(1));
    if (!x.empty()) x[0] = rounded<T>(std::ldexp(computed_as<T>(1), std::numeric_limits<T>::digits));
  }
};

struct alternating {
  template <floating T>
  static void fill(std::span<T> x, random_bits&, double) {
    using C = computed_as<T>;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = rounded<T>((i % 2 == 0 ? C(1) : C(-1)) / static_cast<C>(i + 1));
    }
  }
};

struct wide {
  template <floating T>
  static void fill(std::span<T> x, random_bits& random, double) {
    constexpr int lowest = std::numeric_limits<T>::min_exponent;
    for (T& element : x) {
      const int exponent = lowest + static_cast<int>(random.below(highest_exponent<T> - lowest + 1));
      element = rounded<T>(std::ldexp(random.signed_unit<T>(), exponent));
    }
  }
  template <std::integral T>
  static void fill(std::span<T> x, random_bits& random, double) {
    constexpr int digits = std::numeric_limits<T>::digits;
    for (T& element : x) {
      const std::uint64_t size = random.next() >> (63 - random.below(digits));
      const bool minus = std::numeric_limits<T>::is_signed && (random.next() & 1) != 0;
      element = static_cast<T>(minus ? 0 - size : size);
    }
  }
};

// The binary exponents are normally distributed. `parameter` is six standard deviations of the exponent. Exponents
// are clamped so that every element is a normal number and 2^40 elements have a finite sum.
struct lognormal {
  template <floating T>
  static void fill(std::span<T> x, random_bits& random, double parameter) {
    for (T& element : x) {
      const auto exponent = static_cast<int>(std::lround(near_normal(random) * parameter / 6));
      const int in_range = std::clamp(exponent, std::numeric_limits<T>::min_exponent, highest_exponent<T> - 2);
      element = rounded<T>(std::ldexp(1 + random.unit<T>(), in_range));
    }
  }
};

template <class Family, class T>
concept has_elements = requires(std::span<T> x, random_bits& random) {
  Family::fill(x, random, 0.0);
};

template <class Family>
constexpr family row(std::string_view name, std::string_view story, std::string_view parameter = "",
                     double standard = 0, double least = 0, double most = 0) {
  constexpr auto fill = [](element_type type, void* x, std::size_t count, random_bits& random, double number) {
    return with_element(type, [&]<class T>() {
      if constexpr (has_elements<Family, T>) Family::fill(std::span(static_cast<T*>(x), count), random, number);
      return has_elements<Family, T>;
    });
  };
  return {name, story, parameter, standard, least, most, fill};
}

constexpr family all_families[] = {
    row<constant>("constant", "every element is the same number, also for integers",
                  "the number, -1e30 to 1e30 (default: 1.23)", 1.23, -1e30, 1e30),
    row<uniform>("uniform", "random, uniform in [0, 1); for integers every value is equally likely"),
    row<normal>("normal", "random, mean 0 and variance 1 (a sum of twelve uniforms)"),
    row<lognormal>("lognormal", "random and positive; the exponents are normally distributed",
                   "the number of powers of 2 that nearly all elements span, 1 to 1000 (default: 10)", 10, 1, 1000),
    row<telescoping>("telescoping", "1, -1/2, 1/2, -1/3, 1/3, ...: all but the two ends cancel"),
    row<ill_conditioned>("condition", "ill-conditioned sums after Ogita, Rump and Oishi",
                         "the condition number, 1 to 1e30 (default: 1e10)", 1e10, 1, 1e30),
    row<big_eats_small>("big-eats-small",
                        "2^24 (f32), 2^53 (f64) or 2^digits, then ones: adding a single one does not change the sum"),
    row<alternating>("alternating", "1, -1/2, 1/3, -1/4, ..."),
    row<wide>("wide", "random signs, and exponents over the whole range of the type; integers of any number of bits"),
};

constexpr std::string_view all_accuracy_specs[] = {
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

std::span<const std::string_view> accuracy_specs() { return all_accuracy_specs; }

void fill(std::string_view spec, std::uint64_t seed, element_type type, void* x, std::size_t count) {
  if (is_complex(type)) return fill(spec, seed, part_type(type), x, 2 * count);
  const family& known = find_family(spec.substr(0, spec.find(':')));
  const double parameter = find_parameter(known, spec);
  random_bits random(seed);
  if (!known.fill(type, x, count, random, parameter)) {
    throw invalid_argument(fmt::format("'{}' has no elements of {}", known.name, to_string(type)));
  }
  with_element(type, [&]<class T>() {
    if constexpr (floating<T>) {
      if (std::ranges::all_of(std::span(static_cast<const T*>(x), count), [](T v) { return std::isfinite(v); }))
        return;
      throw invalid_argument(fmt::format("'{}': an element would be beyond the largest {}, {:g}", printable(spec),
                                         to_string(type), static_cast<double>(std::numeric_limits<T>::max())));
    }
  });
}

}  // namespace fanin::oracle
