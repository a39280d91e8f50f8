// SPDX-License-Identifier: Apache-2.0
// Exact results of short arrays from sums that round. The sums come with a bound of their error. A result is used if
// every number within this bound rounds to the same result. Floats are added in double, and doubles in pairs of
// doubles. docs/numerics.md derives the bounds.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rounded_runs.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <cmath>
#include <type_traits>

#include <fanin/accumulator/compensated.hpp>

#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/integers.hpp"
#include "backends/cpu/lanes-inl.h"
#include "backends/cpu/loads-inl.h"

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

/// The first vector of x[0..count), with `fill` in the lanes beyond it.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, std::size_t count, T fill) {
  if constexpr (std::is_same_v<T, double>) {
    return load_part(d, x, 0, count, fill);
  } else {
    return hn::PromoteTo(d, load_part(hn::Rebind<T, D>(), x, 0, count, fill));
  }
}

/// A number between value + low - error and value + low + error. |low| is much less than |value|, unless that is 0.
struct estimate {
  double value, low, error;
};

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
  lanes<hn::ScalableTag<double>, kernel::planes> all, other;
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

/// Sets `result` if all numbers of the estimate round to the same result, with the same sign if it is 0. Without an
/// error the estimate is a zero.
template <class T>
HWY_INLINE bool settle(const estimate& found, T& result) {
  const auto low = static_cast<T>(found.value + (found.low - found.error));
  const auto high = static_cast<T>(found.value + (found.low + found.error));
  result = static_cast<T>(found.error == 0 ? found.value : high);
  return found.error == 0 || (low == high && std::signbit(low) == std::signbit(high));
}

/// Doubles whose sums are beyond these bounds may lose more than the bound of their errors.
constexpr double least_size = 0x1p-900, largest_size = 0x1p1000;

template <class T>
HWY_INLINE bool round_run(const operation_row& row, const T* x, std::size_t elements, T& result) {
  const bool of_squares = row.adds == summand::squares || row.adds == summand::deviations;
  const bool shifts = sizeof(T) == 4 && row.adds == summand::deviations;
  const auto count = static_cast<double>(elements);
  two_sums sums = of_squares ? sums_of<true>(x, elements, false, shifts ? *x : T{0})
                             : sums_of<false>(x, elements, row.adds == summand::magnitudes, T{0});
  const double size = sums.second.value;
  if (sizeof(T) == 8 && size != 0 && !(size >= least_size && size <= largest_size)) return false;
  if (sizeof(T) == 8 && size == 0 && of_squares) return false;  // The squares may have been too small for doubles.
  const double chain = (count + 8) * u;
  sums.first.error = sums.second.error = (sizeof(T) == 4 ? 2 * chain : 4 * chain * chain) * size;
  estimate found = row.adds == summand::deviations ? dispersion(sums, count) : of_squares ? sums.second : sums.first;
  if (row.value == sum_value::mean || (row.value == sum_value::root && row.adds == summand::deviations)) {
    found = quotient(found, row.empty == empty_value::none_of_one ? count - 1 : count);
  }
  return settle(row.value == sum_value::root ? root(found) : found, result);
}

template <class T>
std::uint64_t round_runs(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                         T* out) {
  const operation_row& row = row_of(what);
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < number; ++i) {
    const bool found =
        counts[i] > 0 && counts[i] <= longest && round_run(row, static_cast<const T*>(runs[i].x), counts[i], out[i]);
    left |= std::uint64_t{!found} << i;
  }
  return left;
}

std::uint64_t round_all(bool roots, const fraction* fractions, std::size_t number, double* out) {
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < number; ++i) {
    const accumulator::int128 x = fractions[i].numerator;
    const auto word = static_cast<std::int64_t>(x);
    const bool is_short = x == word && word >> 62 == word >> 63;
    const estimate found = quotient(is_short ? estimate_of(word) : estimate_of(x), fractions[i].denominator);
    left |= std::uint64_t{!settle(roots ? root(found) : found, out[i])} << i;
  }
  return left;
}

#else

template <class T>
std::uint64_t round_runs(operation, const operands*, const std::size_t*, std::size_t, T*) {
  return ~std::uint64_t{0};
}
std::uint64_t round_all(bool, const fraction*, std::size_t, double*) { return ~std::uint64_t{0}; }

#endif

std::uint64_t round_f32(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                        float* out) {
  return round_runs(what, runs, counts, number, out);
}
std::uint64_t round_f64(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                        double* out) {
  return round_runs(what, runs, counts, number, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(round_f32);
HWY_EXPORT(round_f64);
HWY_EXPORT(round_all);

}  // namespace

std::uint64_t round_fractions(bool roots, const fraction* fractions, std::size_t number, double* out) {
  return HWY_DYNAMIC_DISPATCH(round_all)(roots, fractions, number, out);
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
  } else if (result == type_of<T>) {
    if constexpr (sizeof(T) == 4) {
      left &= HWY_DYNAMIC_DISPATCH(round_f32)(what, runs, counts, number, static_cast<float*>(out));
    } else {
      left &= HWY_DYNAMIC_DISPATCH(round_f64)(what, runs, counts, number, static_cast<double*>(out));
    }
  }
  return left;
}
template std::uint64_t round_each<float>(operation, const operands*, const std::size_t*, std::size_t, element_type,
                                         void*);
template std::uint64_t round_each<double>(operation, const operands*, const std::size_t*, std::size_t, element_type,
                                          void*);

}  // namespace fanin::cpu
#endif  // HWY_ONCE
