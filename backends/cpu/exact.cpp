// The exact sum by windows. A level has the constant M = 1.5 * 2^e. While |v| <= 2^(e-1), the sum t = M + v stays in
// M's binade, where one unit is 2^(e-52). So q = t - M is v rounded to a multiple of that unit, v - q is exact, and
// the bits of t, taken as an integer, are bits(M) + q / unit. Adding up those integers adds up q without error. What
// is left, v - q, goes to the next level, 51 binades below. A tile counts only if every t of its first level kept M's
// sign and exponent (infinities and NaN do not) and nothing was left by its last level; else it is done again after a
// closer look at it. Tiles that no window fits are summed per exponent. f32 has a shorter way for most data: where
// the exponents of a tile lie within some 20 binades, sums of its elements in double do not round.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/exact.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/cpu/exact.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using doubles = hn::ScalableTag<double>;
using words = hn::ScalableTag<std::uint64_t>;
using double_format = detail::float_format<double>;

// |q| / unit is at most 2^51, so that the sum over a tile fits an int64: 4032 * 2^51 < 2^63.
constexpr std::size_t tile = 4032;
constexpr std::size_t tiles_between_fits = 64;
constexpr std::size_t tiles_taken_as_wide = 8;  // after one that was
constexpr std::size_t shortest = 64;            // below it, plain additions are quicker
constexpr std::size_t shortest_wild = 8192;
constexpr std::size_t longest_wild = tile * tiles_between_fits;
/// With this much arithmetic for each line the processor's own loads come too late; see also lanes-inl.h.
constexpr std::size_t read_ahead = 1024;
constexpr int level_step = 51;
/// Six hold any f32.
template <class T>
constexpr int most_levels = sizeof(T) == 4 ? 6 : 4;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

HWY_INLINE int biased_exponent(std::uint64_t bits) { return static_cast<int>(bits >> (double_format::digits - 1)); }

/// Which windows to use. The first level has e = top; no unit is below the smallest subnormal of T. 0 levels: none.
template <class T>
struct plan {
  static constexpr int low = detail::float_format<T>::low;
  int top = 0;
  int levels = 0;
  int unit(int level) const { return std::max(top - level_step * level - 52, low); }
};

/// The fewest levels that hold x[0..count) without its last count % width elements. Room that is left over is shared
/// between larger and smaller elements to come.
template <class T>
HWY_INLINE plan<T> fit(const T* x, std::size_t count) {
  const doubles d;
  const words w;
  const std::size_t width = hn::Lanes(d);
  const auto fraction = hn::Set(w, double_format::implicit_one - 1);
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  auto largest = hn::Zero(w);
  auto last_bit = infinity;
  for (std::size_t i = 0; i + width <= count; i += width) {
    const auto v = hn::Abs(load(d, x + i));
    const auto bits = hn::BitCast(w, v);
    largest = hn::Max(largest, bits);
    const auto is_power = hn::Eq(hn::And(bits, fraction), hn::Zero(w));
    const auto rest = hn::IfThenZeroElse(is_power, hn::And(bits, hn::Sub(bits, hn::Set(w, 1))));
    const auto last = hn::Sub(v, hn::BitCast(d, rest));
    last_bit = hn::Min(last_bit, hn::IfThenElse(hn::Eq(v, hn::Zero(d)), infinity, last));
  }
  const int highest = biased_exponent(hn::GetLane(hn::MaxOfLanes(w, largest))) - 1023;
  const int lowest = biased_exponent(detail::to_bits(hn::GetLane(hn::MinOfLanes(d, last_bit)))) - 1023;
  const int bottom = lowest == -1023 ? double_format::low : lowest;

  const int tightest = highest + 3;  // |x| < 2^(e-2): even rounded up it leaves t in the binade
  if (tightest > 1023) return {};
  const int missing = tightest - 52 - bottom;
  const int levels = 1 + (missing > 0 ? (missing + level_step - 1) / level_step : 0);
  if (levels > most_levels<T>) return {};
  const int room = std::min((level_step * (levels - 1) - missing) / 2, 8);
  return {std::min(tightest + room, 1023), levels};
}

/// Adds x[0..count) if the windows hold it; otherwise does nothing and returns false.
template <int Levels, class T>
HWY_INLINE bool add_windowed(const T* x, std::size_t count, const plan<T>& windows, exact_accumulator<T>& into) {
  const doubles d;
  const words w;
  const std::size_t width = hn::Lanes(d);
  std::uint64_t magic_bits[Levels];
  hn::Vec<doubles> magic[Levels];
  hn::Vec<words> sum[Levels];
  for (int level = 0; level < Levels; ++level) {
    const int e = windows.unit(level) + 52;
    magic_bits[level] = (static_cast<std::uint64_t>(e + 1023) << 52) | (std::uint64_t{1} << 51);
    magic[level] = hn::BitCast(d, hn::Set(w, magic_bits[level]));
    sum[level] = hn::Zero(w);
  }
  auto moved = hn::Zero(w);
  auto left = hn::Zero(w);
  std::size_t i = 0;
  HWY_UNROLL(4)
  for (; i + width <= count; i += width) {
    hwy::Prefetch(x + i + read_ahead / sizeof(T));
    auto v = load(d, x + i);
    for (int level = 0; level < Levels; ++level) {
      const auto t = hn::Add(magic[level], v);
      const auto bits = hn::BitCast(w, t);
      sum[level] = hn::Add(sum[level], bits);
      if (level == 0) moved = hn::Or(moved, hn::Xor(bits, hn::BitCast(w, magic[0])));
      const auto q = hn::Sub(t, magic[level]);
      if (level == Levels - 1) {
        left = hn::Or(left, hn::Xor(hn::BitCast(w, q), hn::BitCast(w, v)));
      } else {
        v = hn::Sub(v, q);
      }
    }
  }
  // A zero keeps its sign and q does not: that is no loss.
  const auto wrong = hn::Or(hn::And(moved, hn::Set(w, double_format::sign | double_format::infinity)),
                            hn::And(left, hn::Set(w, double_format::sign - 1)));
  if (!hn::AllTrue(w, hn::Eq(wrong, hn::Zero(w)))) return false;
  HWY_ALIGN std::uint64_t lanes[hn::MaxLanes(words())];
  for (int level = 0; level < Levels; ++level) {
    std::uint64_t total = 0 - i * magic_bits[level];
    hn::Store(sum[level], w, lanes);
    for (std::size_t lane = 0; lane < width; ++lane) total += lanes[lane];
    into.add_scaled(static_cast<std::int64_t>(total), windows.unit(level));
  }
  for (; i < count; ++i) into.add(x[i]);
  return true;
}

/// Adds x[0..count) if their exponents are so close that sums in double do not round; otherwise does nothing and
/// returns false.
HWY_INLINE bool add_narrow(const float* x, std::size_t count, exact_accumulator<float>& into) {
  const hn::ScalableTag<float> f;
  const hn::RebindToUnsigned<decltype(f)> u;
  const hn::RebindToSigned<doubles> integers;
  const doubles d;
  using format = detail::float_format<float>;
  const std::size_t width = hn::Lanes(d);
  const std::size_t step = 4 * width;
  const auto one = hn::Set(u, 1);
  auto largest = hn::Zero(u);
  auto least = hn::Set(u, std::numeric_limits<std::uint32_t>::max());
  auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    for (std::size_t k = 0; k < step; k += hn::Lanes(f)) {
      hwy::Prefetch(x + i + k + read_ahead / sizeof(float));
      const auto bits = hn::BitCast(u, hn::LoadU(f, x + i + k));
      const auto magnitude = hn::Add(bits, bits);
      largest = hn::Max(largest, magnitude);
      least = hn::Min(least, hn::Sub(magnitude, one));  // 0 counts as large
    }
    sum0 = hn::Add(sum0, load(d, x + i));
    sum1 = hn::Add(sum1, load(d, x + i + width));
    sum2 = hn::Add(sum2, load(d, x + i + 2 * width));
    sum3 = hn::Add(sum3, load(d, x + i + 3 * width));
  }
  constexpr int infinite = 2 * format::high - 1;
  const auto biased = [](std::uint32_t magnitude) {
    return std::max(static_cast<int>(magnitude >> format::digits), 1);
  };
  const int highest = biased(hn::GetLane(hn::MaxOfLanes(u, largest)));
  const int lowest = biased(hn::GetLane(hn::MinOfLanes(u, least)));
  // Each lane holds a multiple of `unit`, a sum of fewer than 2^additions elements.
  const int additions = static_cast<int>(std::bit_width(i / step));
  const int unit = lowest - 1 + format::low;
  if (highest == infinite || highest - lowest + format::digits + additions > double_format::digits) return false;
  const auto to_units = hn::Set(d, std::ldexp(1.0, -unit));
  auto total = hn::Zero(integers);
  for (const auto& sum : {&sum0, &sum1, &sum2, &sum3}) {
    total = hn::Add(total, hn::ConvertTo(integers, hn::Mul(*sum, to_units)));
  }
  into.add_scaled(hn::GetLane(hn::SumOfLanes(integers, total)), unit);
  for (; i < count; ++i) into.add(x[i]);
  return true;
}

template <class T>
HWY_INLINE bool add_windowed(const T* x, std::size_t count, const plan<T>& windows, exact_accumulator<T>& into) {
  switch (windows.levels) {
    case 1:
      return add_windowed<1>(x, count, windows, into);
    case 2:
      return add_windowed<2>(x, count, windows, into);
    case 3:
      return add_windowed<3>(x, count, windows, into);
    case 4:
      return add_windowed<4>(x, count, windows, into);
    case 5:
      return add_windowed<5>(x, count, windows, into);
    case 6:
      return add_windowed<6>(x, count, windows, into);
    default:
      return false;
  }
}

/// Adds x[0..count), any values, count <= longest_wild. There is a bin for each sign and exponent: one word sums the
/// lower 32 bits of the fractions; the other sums the upper 20 bits and, from bit 40 on, counts the elements.
/// Neighbours go to different tables, so that equal exponents in a row wait less for each other.
template <class T>
HWY_NOINLINE void add_binned(const T* x, std::size_t count, exact_accumulator<T>& into) {
  constexpr std::size_t exponents = 2048;
  constexpr int count_shift = 40;
  alignas(16) std::uint64_t bins[2][2 * exponents][2] = {};
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<double, 2> d;
  const hn::FixedTag<std::uint64_t, 2> w;
  const auto add_to = [w](std::uint64_t* bin, hn::Vec<decltype(w)> v)
                          HWY_ATTR { hn::Store(hn::Add(hn::Load(w, bin), v), w, bin); };
  const auto low_mask = hn::Set(w, 0xffffffffu);
  const auto high_mask = hn::Set(w, 0xfffffu);
  const auto one = hn::Set(w, std::uint64_t{1} << count_shift);
  for (; i + 2 <= count; i += 2) {
    const auto bits = hn::BitCast(w, load(d, x + i));
    const auto low = hn::And(bits, low_mask);
    const auto high = hn::Or(hn::And(hn::ShiftRight<32>(bits), high_mask), one);
    add_to(bins[0][detail::to_bits(double{x[i]}) >> 52], hn::InterleaveLower(w, low, high));
    add_to(bins[1][detail::to_bits(double{x[i + 1]}) >> 52], hn::InterleaveUpper(w, low, high));
  }
#endif
  for (; i < count; ++i) {
    const std::uint64_t bits = detail::to_bits(double{x[i]});
    std::uint64_t* bin = bins[i % 2][bits >> 52];
    bin[0] += bits & 0xffffffffu;
    bin[1] += (bits >> 32 & 0xfffffu) + (std::uint64_t{1} << count_shift);
  }

  const auto value = [](const std::uint64_t* bin, bool normal) {
    constexpr std::uint64_t high_bits = (std::uint64_t{1} << count_shift) - 1;
    const auto fractions = (static_cast<detail::int128>(bin[1] & high_bits) << 32) + bin[0];
    return normal ? fractions + (static_cast<detail::int128>(bin[1] >> count_shift) << 52) : fractions;
  };
  for (std::size_t exponent = 0; exponent < exponents - 1; ++exponent) {
    detail::int128 total = 0;
    for (const auto& table : bins) {
      total += value(table[exponent], exponent != 0) - value(table[exponents + exponent], exponent != 0);
    }
    if (total != 0) into.add_scaled(total, std::max(static_cast<int>(exponent), 1) - 1075);
  }
  bool special = false;
  for (const auto& table : bins) special |= (table[exponents - 1][1] | table[2 * exponents - 1][1]) != 0;
  if (!special) return;
  for (std::size_t j = 0; j < count; ++j) {
    constexpr auto infinity = detail::float_format<T>::infinity;
    if ((detail::to_bits(x[j]) & infinity) == infinity) into.add(x[j]);
  }
}

template <class T>
void add_any(const T* x, std::size_t count, exact_accumulator<T>& into) {
  if (count < shortest) {
    for (std::size_t i = 0; i < count; ++i) into.add(x[i]);
    return;
  }
  // As soon as one element is not -0, the signs of zeros do not matter and sums may stand for their elements.
  if (std::all_of(x, x + count, [](T v) { return detail::to_bits(v) == detail::float_format<T>::sign; })) {
    into.add(*x);
    return;
  }
  into.add_scaled(0, 0);
  plan<T> windows;
  if constexpr (sizeof(T) == 8) windows = fit(x, shortest);
  std::size_t tiles = 0, wide_until = 0;
  while (count > 0) {
    ++tiles;
    if constexpr (sizeof(T) == 4) {
      if (tiles > wide_until) {
        const std::size_t length = count < 2 * tile ? count : tile;
        if (add_narrow(x, length, into)) {
          x += length;
          count -= length;
          continue;
        }
        wide_until = tiles + tiles_taken_as_wide;
      }
    }
    std::size_t length = std::min(count, tile);
    if (tiles % tiles_between_fits == 0 && windows.levels > 1) windows = fit(x, length);
    if (!add_windowed(x, length, windows, into)) {
      windows = fit(x, length);
      if (!add_windowed(x, length, windows, into)) {
        length = std::min(count, longest_wild);
        if (length >= shortest_wild) {
          add_binned(x, length, into);
        } else {
          for (std::size_t i = 0; i < length; ++i) into.add(x[i]);
        }
      }
    }
    x += length;
    count -= length;
  }
}

void add_exact_f32(const float* x, std::size_t count, exact_accumulator<float>& into) { add_any(x, count, into); }
void add_exact_f64(const double* x, std::size_t count, exact_accumulator<double>& into) { add_any(x, count, into); }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(add_exact_f32);
HWY_EXPORT(add_exact_f64);

void add_exact(const float* x, std::size_t count, exact_accumulator<float>& into) {
  HWY_DYNAMIC_DISPATCH(add_exact_f32)(x, count, into);
}
void add_exact(const double* x, std::size_t count, exact_accumulator<double>& into) {
  HWY_DYNAMIC_DISPATCH(add_exact_f64)(x, count, into);
}

}  // namespace fanin::cpu
#endif
