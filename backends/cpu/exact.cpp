// SPDX-License-Identifier: Apache-2.0
// Exact sums of elements whose exponents lie in a window of binades: the elements are split without rounding error
// into integers, which vectors of 64-bit integers sum.
//
// A window has one or more levels. A level has an exponent e, the constant M = 1.5 * 2^e, and the unit 2^(e-52),
// which is the last binary digit of doubles in M's binade. While |v| <= 2^(e-1), the sum t = M + v stays in that
// binade. Then q = t - M is v rounded to a multiple of the unit, the remainder v - q is exact, and the bits of t,
// read as an integer, are bits(M) + q / unit. So a sum of these integers is a sum of the q without error, once
// bits(M) is subtracted for each element. The remainder v - q goes to the next level, whose e is 51 less.
//
// The elements are added in tiles. The sums of a tile are used only if every t of its first level has M's sign and
// exponent (the t of infinities and NaN do not) and every remainder of its last level is 0. Otherwise fit()
// chooses a window for this tile, which is added again. A tile that no window fits goes to add_by_digits(), which
// any elements suit. Sums in double are tried first: those of proven-inl.h with AVX-512, and those of unrounded-inl.h
// without it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/exact.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/cpu/digits-inl.h"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/proven-inl.h"
#include "backends/cpu/unrounded-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using doubles = hn::ScalableTag<double>;
using words = hn::ScalableTag<std::uint64_t>;
using double_format = detail::float_format<double>;

// |q| / unit is at most 2^51, so that the sum over a tile fits into an int64: 4032 * 2^51 < 2^63.
constexpr std::size_t tile = 4032;
/// After this number of tiles, a window of several levels is chosen anew, because fewer levels may be enough.
constexpr std::size_t tiles_between_fits = 64;
/// Fewer elements are added sooner one by one than through windows or by digits.
constexpr std::size_t shortest_windowed = has_proven_sums ? 24 : 64;
/// The most elements that are added by digits before a window is tried again.
constexpr std::size_t longest_by_digits = tile * tiles_between_fits;
constexpr int level_step = 51;
/// Six levels hold the whole exponent range of f32. Doubles have windows of as many levels.
constexpr int most_levels = 6;
/// A window for elements that the last window does not hold is chosen by so many elements of a tile. All elements are
/// read only if the new window does not hold them either.
constexpr std::size_t sample = 128;

HWY_INLINE int biased_exponent(std::uint64_t bits) { return static_cast<int>(bits >> (double_format::digits - 1)); }

/// A window: the first level has e = top, and no unit is below the smallest subnormal of T. Without levels no window
/// fits.
template <class T>
struct window_plan {
  static constexpr int low = detail::float_format<T>::low;
  int top = 0;
  int levels = 0;
  /// The exponent of the level's unit.
  int unit(int level) const { return std::max(top - level_step * level - 52, low); }
};

/// The window with the fewest levels that holds x[0..count) without its last count % width elements. Binades that
/// these levels have to spare are shared between larger and smaller elements of later tiles.
template <class T>
HWY_INLINE window_plan<T> fit(const T* x, std::size_t count) {
  const doubles d;
  const words w;
  const std::size_t width = hn::Lanes(d);
  const auto fraction = hn::Set(w, double_format::implicit_one - 1);
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  // Smaller numbers count as 2^smallest, so that no step computes a subnormal number, which would take long.
  constexpr int smallest = -969;
  const auto power_of_smallest = hn::Set(d, std::ldexp(1.0, smallest));
  auto largest = hn::Zero(w);
  auto least_bit = infinity;
  for (std::size_t i = 0; i + width <= count; i += width) {
    const auto magnitude = hn::Abs(load(d, x + i));
    largest = hn::Max(largest, hn::BitCast(w, magnitude));
    const auto v = hn::Max(magnitude, power_of_smallest);
    const auto bits = hn::BitCast(w, v);
    // The last set bit of v is v less v without that bit. A power of two has no other bit.
    const auto is_power = hn::Eq(hn::And(bits, fraction), hn::Zero(w));
    const auto without_last_bit = hn::IfThenZeroElse(is_power, hn::And(bits, hn::Sub(bits, hn::Set(w, 1))));
    const auto last = hn::Sub(v, hn::BitCast(d, without_last_bit));
    least_bit = hn::Min(least_bit, hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), infinity, last));
  }
  const int highest = biased_exponent(hn::GetLane(hn::MaxOfLanes(w, largest))) - 1023;
  const int lowest = biased_exponent(detail::to_bits(hn::GetLane(hn::MinOfLanes(d, least_bit)))) - 1023;
  const int lowest_bit = lowest <= smallest ? double_format::low : lowest;

  const int tightest = highest + 3;  // |x| < 2^(e-2), so that t stays in M's binade
  if (tightest > 1023) return {};
  const int binades_below = tightest - 52 - lowest_bit;
  const int levels = 1 + (binades_below > 0 ? (binades_below + level_step - 1) / level_step : 0);
  if (levels > most_levels) return {};
  const int headroom = std::min((level_step * (levels - 1) - binades_below) / 2, 8);
  return {std::min(tightest + headroom, 1023), levels};
}

/// Adds x[0..count) if the window holds it; otherwise does nothing and returns false.
template <int Levels, class T>
HWY_NOINLINE bool add_windowed(const T* x, std::size_t count, const window_plan<T>& window,
                               exact_accumulator<T>& into) {
  const doubles d;
  const words w;
  const std::size_t width = hn::Lanes(d);
  std::uint64_t magic_bits[Levels];
  hn::Vec<doubles> magic[Levels];
  hn::Vec<words> sum[Levels];
  for (int level = 0; level < Levels; ++level) {
    const int e = window.unit(level) + 52;
    magic_bits[level] = (static_cast<std::uint64_t>(e + 1023) << 52) | (std::uint64_t{1} << 51);
    magic[level] = hn::BitCast(d, hn::Set(w, magic_bits[level]));
    sum[level] = hn::Zero(w);
  }
  auto changed_bits = hn::Zero(w);
  auto remainder_bits = hn::Zero(w);
  std::size_t i = 0;
  HWY_UNROLL(4)
  for (; i + width <= count; i += width) {
    prefetch_line(x + i);
    auto v = load(d, x + i);
    for (int level = 0; level < Levels; ++level) {
      const auto t = hn::Add(magic[level], v);
      const auto bits = hn::BitCast(w, t);
      sum[level] = hn::Add(sum[level], bits);
      if (level == 0) changed_bits = hn::Or(changed_bits, hn::Xor(bits, hn::BitCast(w, magic[0])));
      const auto q = hn::Sub(t, magic[level]);
      if (level == Levels - 1) {
        remainder_bits = hn::Or(remainder_bits, hn::Xor(hn::BitCast(w, q), hn::BitCast(w, v)));
      } else {
        v = hn::Sub(v, q);
      }
    }
  }
  // For v = -0 the last q is +0. If only the signs of zeros differ, nothing is lost.
  const auto wrong = hn::Or(hn::And(changed_bits, hn::Set(w, double_format::sign | double_format::infinity)),
                            hn::And(remainder_bits, hn::Set(w, double_format::sign - 1)));
  if (!hn::AllTrue(w, hn::Eq(wrong, hn::Zero(w)))) return false;
  HWY_ALIGN std::uint64_t sums[hn::MaxLanes(words())];
  for (int level = 0; level < Levels; ++level) {
    std::uint64_t total = 0 - i * magic_bits[level];  // bits(M) of i elements
    hn::Store(sum[level], w, sums);
    for (std::size_t j = 0; j < width; ++j) total += sums[j];
    into.add_scaled(static_cast<std::int64_t>(total), window.unit(level));
  }
  for (; i < count; ++i) into.add(x[i]);
  return true;
}

#if HWY_TARGET <= HWY_AVX3

/// Adds a tile of x[0..count) by Depth sums in double that round, and one that does not.
template <class T, int Depth>
HWY_INLINE bool add_proven(const T* x, std::size_t count, exception_flags& flags, exact_accumulator<T>& into) {
  double total[Depth + 1];
  if (!fold_proven<element_fold<T, Depth>>(x, x, count, flags, total)) return false;
  for (const double t : total) add_double(t, into);
  return true;
}

/// Adds elements by sums in double.
template <class T>
class double_sums {
 public:
  /// Adds the first elements of x[0..count) and returns their number, or 0 if such sums would round.
  HWY_INLINE std::size_t add(const T* x, std::size_t count, exact_accumulator<T>& into) {
    const std::size_t length = std::min(count, proven_tile<T>);
    constexpr int least = depth_of_elements<T>(1);
    const int first = length >= shortest_shallow ? 0 : 1;
    const auto attempt = [&](int i) HWY_ATTR {
      switch (first + i) {
        case 0:
          return add_proven<T, least>(x, length, flags_, into);
        case 1:
          return add_proven<T, least + 1>(x, length, flags_, into);
        default:
          return add_proven<T, least + 2>(x, length, flags_, into);
      }
    };
    return attempts_.add(3 - first, attempt) ? length : 0;
  }

 private:
  exception_flags flags_;
  attempt_order attempts_;
};

#else

/// Adds elements by sums in double.
template <class T>
class double_sums {
 public:
  /// Adds the first elements of x[0..count) and returns their number, or 0 if such sums would round.
  HWY_INLINE std::size_t add(const T* x, std::size_t count, exact_accumulator<T>& into) {
    const std::size_t length = std::min(count, proven_tile<T>);
    double total[unrounded_parts<T>];
    const auto attempt = [&](int) HWY_ATTR { return sum_unrounded<false>(x, length, length < count, flags_, total); };
    if (!attempts_.add(1, attempt)) return 0;
    for (const double t : total) add_double(t, into);
    return length;
  }

 private:
  exception_flags flags_;
  attempt_order attempts_;
};

#endif

template <class T>
HWY_INLINE bool add_windowed(const T* x, std::size_t count, const window_plan<T>& window,
                             exact_accumulator<T>& into) {
  switch (window.levels) {
    case 1:
      return add_windowed<1>(x, count, window, into);
    case 2:
      return add_windowed<2>(x, count, window, into);
    case 3:
      return add_windowed<3>(x, count, window, into);
    case 4:
      return add_windowed<4>(x, count, window, into);
    case 5:
      return add_windowed<5>(x, count, window, into);
    case 6:
      return add_windowed<6>(x, count, window, into);
    default:
      return false;
  }
}

template <class T>
HWY_NOINLINE HWY_FLATTEN void add_one_by_one(const T* x, std::size_t count, exact_accumulator<T>& into) {
  for (std::size_t i = 0; i < count; ++i) into.add(x[i]);
}

/// Adds x[0..count), with sums in double or without.
template <class T>
void add_any(bool in_double, const T* x, std::size_t count, exact_accumulator<T>& into) {
  if (count < shortest_windowed) {
    add_one_by_one(x, count, into);
    return;
  }
  // A sum of -0 alone is -0. As soon as one element is not -0, zeros of either sign change nothing, and integer sums
  // can replace the elements.
  if (std::all_of(x, x + count, [](T v) HWY_ATTR { return detail::to_bits(v) == detail::float_format<T>::sign; })) {
    into.add(*x);
    return;
  }
  into.add_scaled(0, 0);  // notes that not all are -0
  window_plan<T> window;
  if (!in_double) window = fit(x, shortest_windowed);
  double_sums<T> sums;
  for (std::size_t tiles = 1; count > 0; ++tiles) {
    std::size_t length = in_double ? sums.add(x, count, into) : 0;
    if (length > 0) {
      x += length;
      count -= length;
      continue;
    }
    length = std::min(count, tile);
    if (tiles % tiles_between_fits == 0 && window.levels > 1) window = fit(x, length);
    const auto add_by_new_window = [&](std::size_t chosen_by) HWY_ATTR {
      window = fit(x, chosen_by);
      return add_windowed(x, length, window, into);
    };
    const std::size_t first = std::min(length, sample);
    if (!add_windowed(x, length, window, into) && !add_by_new_window(first) &&
        (window.levels == 0 || first == length || !add_by_new_window(length))) {
      length = std::min(count, longest_by_digits);
      add_by_digits(x, length, into);
    }
    x += length;
    count -= length;
  }
}

void add_exact_f32(const float* x, std::size_t count, exact_accumulator<float>& into) {
  add_any(true, x, count, into);
}
void add_exact_f64(const double* x, std::size_t count, exact_accumulator<double>& into) {
  add_any(true, x, count, into);
}
void add_wide(const double* x, std::size_t count, exact_accumulator<double>& into) { add_any(false, x, count, into); }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(add_exact_f32);
HWY_EXPORT(add_exact_f64);
HWY_EXPORT(add_wide);

void add_exact(const float* x, std::size_t count, exact_accumulator<float>& into) {
  into.add_elements(count, [&](auto& sum) { HWY_DYNAMIC_DISPATCH(add_exact_f32)(x, count, sum); });
}
void add_exact(const double* x, std::size_t count, exact_accumulator<double>& into) {
  into.add_elements(count, [&](auto& sum) { HWY_DYNAMIC_DISPATCH(add_exact_f64)(x, count, sum); });
}
void add_wide(const double* x, std::size_t count, exact_accumulator<double>& into) {
  into.add_elements(count, [&](auto& sum) { HWY_DYNAMIC_DISPATCH(add_wide)(x, count, sum); });
}

}  // namespace fanin::cpu
#endif
