// SPDX-License-Identifier: Apache-2.0
// Exact results of short arrays from sums that round. The sums come with a bound of their error. A result is used if
// every number within this bound rounds to the same result. Floats are added in double, and doubles in pairs of
// doubles. docs/numerics.md derives the bounds.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rounded_runs.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fanin/accumulator/compensated.hpp>

#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/estimates.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/integers.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
#if HWY_NATIVE_FMA

constexpr double u = 0x1p-53;
constexpr std::size_t longest = 4096;

/// The sums of numbers x: of x, and of |x| or of x^2. For elements of type double, a sum has a second plane, with the
/// errors of the first. The sum of magnitudes has none.
template <class T, bool Squares>
struct run_sums {
  static constexpr bool compensates = std::is_same_v<T, double>;
  static constexpr int second = compensates ? 2 : 1, planes = second + (compensates && Squares ? 2 : 1);
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    for (auto& plane : s.plane) plane = hn::Set(d, -0.0);
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    add_to<0>(s, x);
    if constexpr (!Squares) {
      s.plane[second] = hn::Add(s.plane[second], hn::Abs(x));
    } else if constexpr (!compensates) {
      s.plane[second] = hn::MulAdd(x, x, s.plane[second]);
    } else {
      const V square = hn::Mul(x, x);
      s.plane[second + 1] = hn::Add(s.plane[second + 1], error_of_product(d, x, x, square));
      add_to<second>(s, square);
    }
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    add_to<0>(s, other.plane[0]);
    if constexpr (compensates) s.plane[1] = hn::Add(s.plane[1], other.plane[1]);
    if constexpr (Squares) {
      add_to<second>(s, other.plane[second]);
      if constexpr (compensates) s.plane[second + 1] = hn::Add(s.plane[second + 1], other.plane[second + 1]);
    } else {
      s.plane[second] = hn::Add(s.plane[second], other.plane[second]);
    }
  }

 private:
  template <int Plane, class S, class V>
  static HWY_INLINE void add_to(S& s, V x) {
    if constexpr (compensates) {
      const V e = two_sum(s.plane[Plane], x);
      s.plane[Plane + 1] = hn::Add(s.plane[Plane + 1], e);
    } else {
      s.plane[Plane] = hn::Add(s.plane[Plane], x);
    }
  }
};

/// The first vector of x[0..count), with `fill` for the elements beyond it.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, std::size_t count, T fill) {
  if constexpr (std::is_same_v<T, double>) {
    return load_part(d, x, 0, count, fill);
  } else {
    return hn::PromoteTo(d, load_part(hn::Rebind<T, D>(), x, 0, count, fill));
  }
}

/// The two sums over a run, each with its low part.
struct two_sums {
  estimate first, second;
};

/// The sums of x - origin for the elements x, or of |x - origin|.
template <bool Squares, class T>
HWY_INLINE two_sums sums_of(const T* x, std::size_t count, bool magnitudes, T origin) {
  using kernel = run_sums<T, Squares>;
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  constexpr std::size_t width = hn::MaxLanes(d);
  const auto from = hn::Set(d, origin);
  const auto kept = hn::BitCast(d, hn::Set(bits, ~std::uint64_t{0} >> (magnitudes ? 1 : 0)));
  vector_states<hn::ScalableTag<double>, kernel::planes> all, other;
  kernel::reset(d, all);
  kernel::reset(d, other);
  const auto add = [&](auto& to, auto v) HWY_ATTR { kernel::add(d, to, hn::And(hn::Sub(v, from), kept)); };
  std::size_t i = 0;
  for (; i + 2 * width <= count; i += 2 * width) {
    add(all, load(d, x + i));
    add(other, load(d, x + i + width));
  }
  if (i + width <= count) {
    add(all, load(d, x + i));
    i += width;
  }
  if (i < count) add(other, load_first(d, x + i, count - i, Squares ? origin : -T{0}));
  kernel::merge(d, all, other);
  double total[kernel::planes];
  collapse<kernel>(d, all, total);
  two_sums sums{{total[0], 0, 0}, {total[kernel::second], 0, 0}};
  if constexpr (kernel::compensates) sums.first.low = total[1];
  if constexpr (kernel::compensates && Squares) sums.second.low = total[kernel::second + 1];
  return sums;
}

HWY_INLINE estimate quotient(const estimate& a, double by) {
  const double value = a.value / by, rest = std::fma(-value, by, a.value) + a.low;
  return {value, rest / by, a.error / by + 8 * u * u * std::fabs(value)};
}
HWY_INLINE estimate root(const estimate& a) {
  if (a.value == 0) return a;
  const double value = std::sqrt(a.value), rest = std::fma(-value, value, a.value) + a.low;
  return {value, rest / (2 * value), a.error / value + 8 * u * u * value};
}
/// The number with the nearest double as its value. It has at most 2^62 in magnitude, or 120 bits.
template <class Integer>
HWY_INLINE estimate estimate_of(Integer x) {
  const auto value = static_cast<double>(x), low = static_cast<double>(x - static_cast<Integer>(value));
  return {value, low, 4 * u * u * std::fabs(value)};
}
/// The sum of the squares of the distances from the mean.
HWY_INLINE estimate dispersion(const two_sums& s, double count) {
  const double mean = s.first.value / count;
  const double mean_low = (std::fma(-mean, count, s.first.value) + s.first.low) / count;
  const double term = s.first.value * mean;
  const double term_low = std::fma(s.first.value, mean, -term) + (s.first.value * mean_low + s.first.low * mean);
  estimate result{0, 0, 4 * s.second.error};
  double rest;
  const double difference = accumulator::two_sum(s.second.value, -term, rest);
  result.value = accumulator::two_sum(difference, rest + (s.second.low - term_low), result.low);
  return result;
}

/// Doubles whose sums are beyond these bounds may lose more than the bound of their errors.
constexpr double least_size = 0x1p-900, largest_size = 0x1p1000;

/// The errors of sums in double, and of sums in two doubles, as a part of the sum of magnitudes.
HWY_INLINE double error_of_double(double count) { return 2 * (count + 8) * u; }
HWY_INLINE double error_of_two(double count) { return 4 * (count + 8) * u * (count + 8) * u; }

/// Writes the result of each run of up to `longest` elements from its sum, which is sum_of(i, count).
template <class F>
HWY_INLINE void estimate_each(const operation_row& row, const std::size_t* counts, std::size_t number, estimate* out,
                              const F& sum_of) {
  const bool has_root = is_root(row.value), divides = is_quotient(row.value);
  const double absent = row.empty == empty_value::none_of_one ? 1 : 0;
  for (std::size_t i = 0; i < number; ++i) {
    out[i] = unknown;
    if (counts[i] == 0 || counts[i] > longest) continue;
    const auto count = static_cast<double>(counts[i]);
    estimate found = sum_of(i, count);
    if (divides) found = quotient(found, count - absent);
    out[i] = has_root ? root(found) : found;
  }
}

template <class T>
void estimate_runs(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                   estimate* out) {
  constexpr bool in_two = sizeof(T) == 8;
  const operation_row& row = row_of(what);
  const auto fits = [](double size) { return !in_two || (size >= least_size && size <= largest_size); };
  const auto error_of = [](double count, double size)
                            HWY_ATTR { return (in_two ? error_of_two(count) : error_of_double(count)) * size; };
  if (row.adds == summand::squares || row.adds == summand::deviations) {
    const bool deviates = row.adds == summand::deviations;
    return estimate_each(
        row, counts, number, out, [&](std::size_t i, double count) HWY_ATTR __attribute__((always_inline)) {
          const auto* const x = static_cast<const T*>(runs[i].x);
          const two_sums sums = sums_of<true>(x, counts[i], false, !in_two && deviates ? *x : T{0});
          const auto [size, low, none] = sums.second;
          if (!fits(size)) return unknown;  // The squares may have been too small for doubles, too.
          const estimate squares{size, low, error_of(count, size)};
          return deviates ? dispersion({sums.first, squares}, count) : estimate{squares};
        });
  }
  estimate_each(
      row, counts, number, out, [&](std::size_t i, double count) HWY_ATTR __attribute__((always_inline)) {
        const auto* const x = static_cast<const T*>(runs[i].x);
        const two_sums sums = sums_of<false>(x, counts[i], row.adds == summand::magnitudes, T{0});
        const double size = sums.second.value;
        if (size != 0 && !fits(size)) return unknown;
        return estimate{sums.first.value, sums.first.low, error_of(count, size)};
      });
}

void estimate_fractions(bool roots, const fraction* fractions, std::size_t number, estimate* out) {
  for (std::size_t i = 0; i < number; ++i) {
    const accumulator::int128 x = fractions[i].numerator;
    const auto word = static_cast<std::int64_t>(x);
    const bool is_short = x == word && word >> 62 == word >> 63;
    const estimate found = quotient(is_short ? estimate_of(word) : estimate_of(x), fractions[i].denominator);
    out[i] = roots ? root(found) : found;
  }
}

#else

template <class T>
void estimate_runs(operation, const operands*, const std::size_t*, std::size_t number, estimate* out) {
  std::fill_n(out, number, unknown);
}
void estimate_fractions(bool, const fraction*, std::size_t number, estimate* out) {
  std::fill_n(out, number, unknown);
}

#endif

#if HWY_NATIVE_FMA
void estimate_narrow(operation what, element_type type, const operands* runs, const std::size_t* counts,
                     std::size_t number, estimate* out) {
  const operation_row& row = row_of(what);
  double sums[detail::arithmetic::most_runs], squares[detail::arithmetic::most_runs];
  const bool proven = sum_narrow_runs(row.adds, type, runs, counts, number, sums, squares);
  if (row.adds == summand::squares) {
    return estimate_each(row, counts, number, out, [&](std::size_t i, double count) HWY_ATTR {
      if (!std::isfinite(squares[i])) return unknown;
      return estimate{squares[i], 0, proven ? 0 : error_of_double(count) * squares[i]};
    });
  }
  if (row.adds == summand::deviations) {
    return estimate_each(row, counts, number, out, [&](std::size_t i, double count) HWY_ATTR {
      if (!std::isfinite(squares[i])) return unknown;
      const double error = proven ? error_of_two(count) : error_of_double(count);  // dispersion() rounds too
      return dispersion({{sums[i], 0, 0}, {squares[i], 0, error * squares[i]}}, count);
    });
  }
  estimate_each(row, counts, number, out, [&](std::size_t i, double) HWY_ATTR {
    return proven && std::isfinite(sums[i]) ? estimate{sums[i], 0, 0} : unknown;
  });
}
#else
void estimate_narrow(operation, element_type, const operands*, const std::size_t*, std::size_t number,
                     estimate* out) {
  std::fill_n(out, number, unknown);
}
#endif

void estimate_f32(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                  estimate* out) {
  estimate_runs<float>(what, runs, counts, number, out);
}
void estimate_f64(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                  estimate* out) {
  estimate_runs<double>(what, runs, counts, number, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(estimate_f32);
HWY_EXPORT(estimate_f64);
HWY_EXPORT(estimate_narrow);
HWY_EXPORT(estimate_fractions);

}  // namespace

std::uint64_t round_fractions(bool roots, const fraction* fractions, std::size_t number, double* out) {
  estimate found[detail::arithmetic::most_runs];
  HWY_DYNAMIC_DISPATCH(estimate_fractions)(roots, fractions, number, found);
  return round_estimates(found, number, element_type::f64, out);
}

std::uint64_t round_each_narrow(operation what, element_type type, const operands* runs, const std::size_t* counts,
                                std::size_t number, element_type result, void* out) {
  estimate found[detail::arithmetic::most_runs];
  HWY_DYNAMIC_DISPATCH(estimate_narrow)(what, type, runs, counts, number, found);
  return round_estimates(found, number, result, out);
}

template <class T>
std::uint64_t round_each(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                         element_type result, void* out) {
  std::uint64_t left = ~std::uint64_t{0} >> (64 - number);
  if (sizeof(T) == 4 && what == operation::sum && result == element_type::f64) {
    auto* const totals = static_cast<double*>(out);
    sum_short_exactly<T>(runs, counts, number, totals);
    for (std::size_t i = 0; i < number; ++i) {
      if (totals[i] == totals[i]) left &= ~(std::uint64_t{1} << i);
    }
  } else if (sizeof(T) == 8 || result != element_type::f64) {
    estimate found[detail::arithmetic::most_runs];
    if constexpr (sizeof(T) == 4) {
      HWY_DYNAMIC_DISPATCH(estimate_f32)(what, runs, counts, number, found);
    } else {
      HWY_DYNAMIC_DISPATCH(estimate_f64)(what, runs, counts, number, found);
    }
    left = round_estimates(found, number, result, out);
  }
  return left;
}
template std::uint64_t round_each<float>(operation, const operands*, const std::size_t*, std::size_t, element_type,
                                         void*);
template std::uint64_t round_each<double>(operation, const operands*, const std::size_t*, std::size_t, element_type,
                                          void*);

}  // namespace fanin::cpu
#endif  // HWY_ONCE
