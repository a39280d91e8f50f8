// SPDX-License-Identifier: Apache-2.0
#include "oracle/families.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <fanin/accumulator/exact.hpp>
#include <fanin/error.hpp>
#include <fanin/request.hpp>

#include "base/words.hpp"
#include "oracle/wide_numbers.hpp"

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
  /// A number uniform in [0, 1), with that many random bits.
  double unit(int digits) { return std::ldexp(static_cast<double>(next() >> (64 - digits)), -digits); }
  double signed_unit(int digits) {
    const double magnitude = unit(digits);
    return (next() & 1) != 0 ? -magnitude : magnitude;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

// The elements that a family writes. A family computes floats as doubles. A quotient or a difference of two floats
// that is rounded to double and then to float has the bits of the one that is rounded to float, because a double has
// more than twice the digits of a float (Figueroa 1995).
class family_output {
 public:
  family_output(element_type of, void* x, std::size_t elements)
      : type(of), count(elements), element_bytes(byte_size(of)), x_(x) {
    with_element(of, [this]<class T>() {
      if constexpr (!complex_number<T>) {
        using limits = std::numeric_limits<T>;
        digits = limits::digits;
        is_signed = limits::is_signed;
        min_exponent = limits::min_exponent;
        max_exponent = limits::max_exponent;
        largest = static_cast<double>(limits::max());
        highest_exponent = std::min(std::numeric_limits<computed_as<T>>::max_exponent - 40, max_exponent - 1);
      }
    });
  }

  /// Sets element i to number(i), for i from 0 on. Number is a double, or an integer of 64 bits whose low bits count.
  template <class Number>
  void set_all(Number number) {
    using W = decltype(number(std::size_t{}));
    std::array<W, piece_size> piece;
    for (std::size_t begin = 0; begin < count; begin += piece_size) {
      const std::span<W> part(piece.data(), std::min(piece_size, count - begin));
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = number(begin + i);
      write(std::span<const W>(part), type, x_, begin);
    }
  }
  /// Sets element i to the nearest float, and returns that float.
  double set(std::size_t i, double number) {
    write({&number, 1}, type, x_, i);
    read({x_, count, type}, i, {&number, 1});
    return number;
  }
  void swap(std::size_t i, std::size_t j) {
    std::byte* const all = static_cast<std::byte*>(x_);
    std::swap_ranges(all + i * element_bytes, all + (i + 1) * element_bytes, all + j * element_bytes);
  }
  /// The nearest number of the type in which machines compute with the elements.
  double computed(double number) const { return type == element_type::f64 ? number : static_cast<float>(number); }

  element_type type;
  std::size_t count, element_bytes;
  int digits = 0, min_exponent = 0, max_exponent = 0;
  /// The largest binary exponent for which 2^40 elements that are smaller have a finite sum, in the type in which
  /// they are added, and are finite themselves.
  int highest_exponent = 0;
  bool is_signed = true;
  double largest = 0;

 private:
  void* x_;
};

namespace {

void constant(family_output& x, random_bits&, double parameter) {
  x.set_all([&](std::size_t) { return parameter; });
}

void constant_integer(family_output& x, random_bits&, double parameter) {
  const double beyond = std::ldexp(1.0, x.digits), least = x.is_signed ? -beyond : 0;
  if (parameter != std::trunc(parameter) || parameter < least || parameter >= beyond) {
    throw invalid_argument(fmt::format("{} is not a number of type {}", parameter, to_string(x.type)));
  }
  const auto integer = parameter < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(parameter))
                                     : static_cast<std::uint64_t>(parameter);
  x.set_all([&](std::size_t) { return integer; });
}

void uniform(family_output& x, random_bits& random, double) {
  x.set_all([&](std::size_t) { return random.unit(x.digits); });
}

void uniform_integers(family_output& x, random_bits& random, double) {
  x.set_all([&](std::size_t) { return random.next() >> (64 - 8 * x.element_bytes); });
}

// The sum of twelve uniform numbers approximates the normal distribution with variance 1. A transformation with log()
// would give other bits on other machines.
double near_normal(random_bits& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit(std::numeric_limits<double>::digits);
  return sum;
}

void normal(family_output& x, random_bits& random, double) {
  x.set_all([&](std::size_t) { return near_normal(random); });
}

void telescoping(family_output& x, random_bits&, double) {
  x.set_all([&](std::size_t i) {
    const double term = 1 / x.computed(static_cast<double>((i + 1) / 2 + 1));
    return i % 2 == 0 ? term : -term;
  });
}

// Algorithm 6.1 of Ogita, Rump and Oishi, "Accurate sum and dot product" (2005), applied to sums. The elements of
// the first half have random exponents up to the exponent of the condition number. Each element of the second half
// replaces the exact sum so far by a smaller number; the last element replaces it by sum |x| / condition number.
// The elements are shuffled at the end. Each element of the second half takes at most the digits of T off the sum.
void ill_conditioned(family_output& x, random_bits& random, double parameter) {
  const int top = std::ilogb(parameter);
  if (top >= x.max_exponent) {
    throw invalid_argument(fmt::format("the condition number {:g} takes elements beyond the largest {}, {:g}",
                                       parameter, to_string(x.type), x.largest));
  }
  const std::size_t least = 2 * (static_cast<std::size_t>(top / x.digits) + 2);
  if (x.count < least) {
    throw invalid_argument(fmt::format("the condition number {:g} takes at least {} elements of {}, not {}",
                                       parameter, least, to_string(x.type), x.count));
  }
  const std::size_t half = x.count / 2;
  exact_accumulator<double> sum;
  double magnitudes = 0;
  const auto put = [&](std::size_t i, double number) {
    const double element = x.set(i, number);
    sum.add(element);
    magnitudes += std::fabs(element);
  };
  for (std::size_t i = 0; i < half; ++i) {
    const int exponent = static_cast<int>(random.below(static_cast<std::size_t>(top) + 1));
    put(i, std::ldexp(random.signed_unit(x.digits), exponent));
  }
  const int range = std::max(top - std::ilogb(std::max(2 * magnitudes / parameter, 1e-30)), 0);
  for (std::size_t i = half; i < x.count; ++i) {
    const std::size_t left = x.count - 1 - i;
    const double share = static_cast<double>(left) / static_cast<double>(x.count - half);
    const int exponent = top - range + static_cast<int>(share * range);
    const double target =
        x.computed(left == 0 ? magnitudes / parameter : std::ldexp(random.signed_unit(x.digits), exponent));
    put(i, target - (x.type == element_type::f64 ? sum.round<double>() : sum.round<float>()));
  }
  for (std::size_t i = x.count; i > 1; --i) x.swap(i - 1, random.below(i));
}

void big_eats_small(family_output& x, random_bits&, double) {
  x.set_all([&](std::size_t i) { return i == 0 ? std::ldexp(1.0, x.digits) : 1; });
}

void alternating(family_output& x, random_bits&, double) {
  x.set_all([&](std::size_t i) { return (i % 2 == 0 ? 1 : -1) / x.computed(static_cast<double>(i + 1)); });
}

void wide(family_output& x, random_bits& random, double) {
  const auto exponents = static_cast<std::size_t>(x.highest_exponent - x.min_exponent + 1);
  x.set_all([&](std::size_t) {
    const int exponent = x.min_exponent + static_cast<int>(random.below(exponents));
    return std::ldexp(random.signed_unit(x.digits), exponent);
  });
}

void wide_integers(family_output& x, random_bits& random, double) {
  x.set_all([&](std::size_t) {
    const std::uint64_t size = random.next() >> (63 - random.below(static_cast<std::size_t>(x.digits)));
    const bool minus = x.is_signed && (random.next() & 1) != 0;
    return minus ? 0 - size : size;
  });
}

// The binary exponents are normally distributed. `parameter` is six standard deviations of the exponent. Exponents
// are clamped so that every element is a normal number and 2^40 elements have a finite sum.
void lognormal(family_output& x, random_bits& random, double parameter) {
  x.set_all([&](std::size_t) {
    const auto exponent = static_cast<int>(std::lround(near_normal(random) * parameter / 6));
    const int in_range = std::clamp(exponent, x.min_exponent, x.highest_exponent - 2);
    return std::ldexp(1 + random.unit(x.digits), in_range);
  });
}

constexpr family all_families[] = {
    {"constant", "every element is the same number, also for integers", "the number, -1e30 to 1e30 (default: 1.23)",
     1.23, -1e30, 1e30, constant, constant_integer},
    {"uniform", "random, uniform in [0, 1); for integers every value is equally likely", "", 0, 0, 0, uniform,
     uniform_integers},
    {"normal", "random, mean 0 and variance 1 (a sum of twelve uniforms)", "", 0, 0, 0, normal},
    {"lognormal", "random and positive; the exponents are normally distributed",
     "the number of powers of 2 that nearly all elements span, 1 to 1000 (default: 10)", 10, 1, 1000, lognormal},
    {"telescoping", "1, -1/2, 1/2, -1/3, 1/3, ...: all but the two ends cancel", "", 0, 0, 0, telescoping},
    {"condition", "ill-conditioned sums after Ogita, Rump and Oishi",
     "the condition number, 1 to 1e30 (default: 1e10)", 1e10, 1, 1e30, ill_conditioned},
    {"big-eats-small", "2^24 (f32), 2^53 (f64) or 2^digits, then ones: adding a single one does not change the sum",
     "", 0, 0, 0, big_eats_small},
    {"alternating", "1, -1/2, 1/3, -1/4, ...", "", 0, 0, 0, alternating},
    {"wide", "random signs, and exponents over the whole range of the type; integers of any number of bits", "", 0, 0,
     0, wide, wide_integers},
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

bool all_finite(const array_view& x) {
  std::array<double, piece_size> piece;
  for (std::size_t begin = 0; begin < x.count; begin += piece_size) {
    const std::span<double> part(piece.data(), std::min(piece_size, x.count - begin));
    read(x, begin, part);
    if (!std::ranges::all_of(part, [](double v) { return std::isfinite(v); })) return false;
  }
  return true;
}

}  // namespace

std::span<const family> families() { return all_families; }

std::span<const std::string_view> accuracy_specs() { return all_accuracy_specs; }

void fill(std::string_view spec, std::uint64_t seed, element_type type, void* x, std::size_t count) {
  if (is_complex(type)) return fill(spec, seed, part_type(type), x, 2 * count);
  const family& known = find_family(spec.substr(0, spec.find(':')));
  const double parameter = find_parameter(known, spec);
  const auto write_elements = is_floating(type) ? known.write_floats : known.write_integers;
  if (write_elements == nullptr) {
    throw invalid_argument(fmt::format("'{}' has no elements of {}", known.name, to_string(type)));
  }
  random_bits random(seed);
  family_output output(type, x, count);
  write_elements(output, random, parameter);
  if (is_floating(type) && !all_finite({x, count, type})) {
    throw invalid_argument(fmt::format("'{}': an element would be beyond the largest {}, {:g}", printable(spec),
                                       to_string(type), output.largest));
  }
}

}  // namespace fanin::oracle
