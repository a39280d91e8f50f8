// SPDX-License-Identifier: Apache-2.0
// An element x is split into the words of a sum by additions of the constants c[j] = 1.5 * 2^(u + 40 j + 52), whose
// last bits are units of word j:
//
//   t = x + c[2]   and the rest   r = x - (t - c[2])       t holds the nearest multiple of 2^(u + 80)
//   s = r + c[1]   and the rest   q = r - (s - c[1])       |r| <= 2^(u + 79), and the subtractions do not round
//   w = q + c[0]                                           w holds q, if x is a multiple of 2^u
//
// The bits of t, s and w as integers are then those of the constants plus the words of x. They are added as they are,
// without carries, and the constants are subtracted at the end, since the number of elements is known.
//
// The square of a float is a double. The square of a double is a product p = fl(x^2) and its rounding error e. If x
// is a multiple of 2^u, p and e are multiples of 2^(2u), so that only x has to be checked. p is split into four words
// in the same way, and e, which is less than 2^-52 of the largest p, into the three lower ones.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/exact_split.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/loads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

using doubles = hn::ScalableTag<double>;
using words = hn::ScalableTag<std::uint64_t>;

/// Splits v into the words of `Count` constants, and leaves the part of v for word 0 in v. Returns what word 0 holds,
/// which is v if that is a multiple of the word's unit.
template <int Count>
HWY_INLINE hn::Vec<doubles> split(hn::Vec<doubles>& v, const double* constant, hn::Vec<words>* word) {
  for (int j = Count - 1; j > 0; --j) {
    const auto c = hn::Set(doubles(), constant[j]), t = hn::Add(v, c);
    word[j] = hn::BitCast(words(), t);
    v = hn::Sub(v, hn::Sub(t, c));
  }
  const auto c = hn::Set(doubles(), constant[0]), t = hn::Add(v, c);
  word[0] = hn::BitCast(words(), t);
  return hn::Sub(t, c);
}

/// The words of the squares of v.
template <class T, int Count>
HWY_INLINE void split_squares(hn::Vec<doubles> v, const double* constant, hn::Vec<words>* word) {
  auto p = hn::Mul(v, v);
  [[maybe_unused]] auto e = sizeof(T) == 8 ? error_of_product(doubles(), v, v, p) : p;
  split<Count>(p, constant, word);
  if constexpr (sizeof(T) == 8) {
    hn::Vec<words> of_error[3];
    split<3>(e, constant, of_error);
    for (int j = 0; j < 3; ++j) word[j] = hn::Add(word[j], of_error[j]);
  }
}

/// Adds four words.
HWY_INLINE void add_words(std::uint64_t* into, const std::uint64_t* from) {
  const hn::CappedTag<std::uint64_t, 4> d;
  for (std::size_t j = 0; j < 4; j += hn::Lanes(d)) {
    hn::Store(hn::Add(hn::Load(d, into + j), hn::Load(d, from + j)), d, into + j);
  }
}

template <exact_terms Terms, class T>
std::size_t add_block(const exact_window& window, const T* x, std::size_t count, const std::uint32_t* group,
                      unsigned copies, std::uint64_t* states, std::uint8_t* misfits) {
  constexpr std::size_t parts = state_words(Terms) / 4;
  HWY_ALIGN std::uint64_t word[parts][4 * split_block];
  const auto limit = hn::Set(doubles(), window.limit), minus_zero = hn::Set(doubles(), -0.0);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), window.ignored));
  std::size_t found = 0;
  const auto split_vector = [&](std::size_t i, auto loaded) HWY_ATTR {
    const auto v = hn::AndNot(ignored, loaded);
    hn::Vec<words> of_sum[3];
    [[maybe_unused]] hn::Vec<words> of_squares[4];
    auto rest = v;
    const auto held = split<3>(rest, window.constant, of_sum);
    const auto is_multiple = hn::Eq(held, rest);
    auto fits = hn::RebindMask(words(), hn::And(is_multiple, hn::Lt(hn::Abs(v), limit)));
    if constexpr (Terms == exact_terms::moments) {
      split_squares<T, 4>(v, window.square_constant, of_squares);
    } else {
      fits = hn::And(fits, hn::Ne(hn::BitCast(words(), v), hn::BitCast(words(), minus_zero)));
    }
    const auto put = [&](auto kept) HWY_ATTR {
      hn::StoreInterleaved4(kept(of_sum[0]), kept(of_sum[1]), kept(of_sum[2]), kept(hn::Set(words(), 1)), words(),
                            word[0] + 4 * i);
      if constexpr (Terms == exact_terms::moments) {
        hn::StoreInterleaved4(kept(of_squares[0]), kept(of_squares[1]), kept(of_squares[2]), kept(of_squares[3]),
                              words(), word[1] + 4 * i);
      }
    };
    if (hn::AllTrue(words(), fits)) [[likely]] {
      return put([](auto bits) HWY_ATTR { return bits; });
    }
    put([&](auto bits) HWY_ATTR { return hn::IfThenElseZero(fits, bits); });
    for (std::size_t k = i; k < std::min(count, i + hn::Lanes(doubles())); ++k) {
      if (word[0][4 * k + count_word] == 0) misfits[found++] = static_cast<std::uint8_t>(k);
    }
  };
  T whole[split_block];
  if (count % hn::Lanes(doubles()) != 0) {
    std::fill(std::copy(x, x + count, whole), std::end(whole), T{0});
    x = whole;
  }
  for (std::size_t i = 0; i < count; i += hn::Lanes(doubles())) split_vector(i, load(doubles(), x + i));

  const std::size_t in_turn = (std::size_t{1} << copies) - 1;
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t* const into = states + ((std::size_t{group[k]} << copies) + (k & in_turn)) * state_words(Terms);
    for (std::size_t part = 0; part < parts; ++part) add_words(into + 4 * part, word[part] + 4 * k);
  }
  return found;
}

/// An element that does not fit leaves a bit in `lost`, or is too large: the difference of -0 and +0 is -0, and the
/// difference of NaN is NaN.
template <exact_terms Terms, class T>
HWY_NOINLINE std::size_t add_column_block(const exact_window& window, const T* x, std::ptrdiff_t along,
                                          std::size_t rows, std::size_t columns, std::uint64_t* planes,
                                          std::size_t distance, std::uint32_t* misfits) {
  constexpr bool has_squares = Terms == exact_terms::moments;
  constexpr std::size_t in_vector = hn::MaxLanes(doubles()), of_element = column_words<T>;
  constexpr std::size_t of_square = has_squares ? 2 * of_element : 0, all = of_element + 1 + of_square;
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), window.ignored));
  const auto none = hn::Zero(words());
  std::size_t found = 0;
  for (std::size_t c = 0; c < columns; c += in_vector) {
    const std::size_t here = std::min(in_vector, columns - c);
    const T* row = x + c;
    std::ptrdiff_t step = along;
    T last[rows_together * in_vector];
    if (here < in_vector) {
      std::fill_n(last, rows * in_vector, T{0});
      for (std::size_t r = 0; r < rows; ++r, row += along) std::copy_n(row, here, last + r * in_vector);
      row = last;
      step = in_vector;
    }
    auto largest = hn::Zero(doubles());
    auto lost = none;
    hn::Vec<words> sum[all];
    for (auto& of_word : sum) of_word = none;
    sum[of_element] = hn::Set(words(), rows);
    for (std::size_t r = 0; r < rows; ++r, row += step) {
      __builtin_prefetch(row + rows_together * step);  // the next block of these columns
      const auto v = hn::AndNot(ignored, load(doubles(), row));
      hn::Vec<words> word[4];
      auto rest = v;
      const auto held = split<of_element>(rest, window.constant, word);
      for (std::size_t j = 0; j < of_element; ++j) sum[j] = hn::Add(sum[j], word[j]);
      lost = hn::Or(lost, hn::BitCast(words(), hn::Sub(rest, held)));
      largest = hn::Max(largest, hn::Abs(v));
      if constexpr (has_squares) {
        split_squares<T, of_square>(v, window.square_constant, word);
        for (std::size_t j = 0; j < of_square; ++j)
          sum[of_element + 1 + j] = hn::Add(sum[of_element + 1 + j], word[j]);
      }
    }
    if (has_squares) lost = hn::Add(lost, lost);  // a square of 0 has no sign
    const auto fits =
        hn::And(hn::Eq(lost, none), hn::RebindMask(words(), hn::Lt(largest, hn::Set(doubles(), window.limit))));
    for (std::size_t j = 0; j < all; ++j) {
      std::uint64_t* const plane = planes + j * distance + c;
      hn::StoreU(hn::Add(hn::LoadU(words(), plane), hn::IfThenElseZero(fits, sum[j])), words(), plane);
    }
    if (hn::AllTrue(words(), fits)) [[likely]]
      continue;
    HWY_ALIGN std::uint64_t is_kept[in_vector];
    hn::Store(hn::VecFromMask(words(), fits), words(), is_kept);
    for (std::size_t k = 0; k < here; ++k) {
      if (is_kept[k] == 0) misfits[found++] = static_cast<std::uint32_t>(c + k);
    }
  }
  return found;
}

/// The bits of 2^exponent as a number of T, or of 0 or infinity if there is no such number.
template <class T>
constexpr int bits_of_power(int exponent) {
  using format = detail::float_format<T>;
  const int biased = exponent - (format::low + format::digits - 2);
  if (exponent < format::low) return 0;
  if (biased < 1) return 1 << (exponent - format::low);
  return std::min<int>(format::infinity, std::min(biased, 2 * format::high - 1) << (format::digits - 1));
}
static_assert(bits_of_power<float>(129) == detail::float_format<float>::infinity);

/// Does what add_column_block() does for elements of up to 32 bits that have one word. A number below the limit fits
/// if its exponent alone says so: |x| >= 2^(u + digits - 1), or the smallest number of T is a multiple of 2^u. The
/// bits of magnitudes ascend as the magnitudes do, so that their least and largest, taken as integers, are compared.
/// The bits minus 1 of a zero are the largest integer without a sign, and the smallest with a sign. Columns of
/// vectors with a number that may not fit, or with a column of zeros, which may be -0, are left to
/// add_column_block().
template <class T>
std::size_t add_narrow_columns(const exact_window& window, const T* x, std::ptrdiff_t along, std::size_t rows,
                               std::size_t columns, std::uint64_t* planes, std::size_t distance,
                               std::uint32_t* misfits) {
  using format = detail::float_format<T>;
  const hn::ScalableTag<typename format::bits> of_bits;
  const hn::RebindToSigned<decltype(of_bits)> of_integers;
  using integer = hn::TFromD<decltype(of_integers)>;
  constexpr std::size_t width = hn::MaxLanes(of_bits), in_vector = hn::MaxLanes(doubles()), parts = width / in_vector;
  const int smallest = window.unit <= format::low ? 1 : bits_of_power<T>(window.unit + format::digits - 1);
  const auto lower = hn::Set(of_integers, static_cast<integer>(smallest - 2));
  const auto upper = hn::Set(of_integers, static_cast<integer>(bits_of_power<T>(std::ilogb(window.limit)) - 1));
  const auto size_bits = hn::Set(of_bits, static_cast<typename format::bits>(~format::sign));
  const auto one = hn::Set(of_bits, 1), all_bits = hn::Not(hn::Zero(of_bits));
  const auto constant = hn::Set(doubles(), window.constant[0]);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), window.ignored));
  std::size_t found = 0;
  for (std::size_t c = 0; c < columns; c += width) {
    const std::size_t here = std::min(width, columns - c);
    bool fits = here == width;
    if (fits) [[likely]] {
      const T* row = x + c;
      auto least = all_bits, largest = all_bits;
      hn::Vec<words> sum[parts];
      for (auto& of_part : sum) of_part = hn::Zero(words());
      for (std::size_t r = 0; r < rows; ++r, row += along) {
        __builtin_prefetch(row + rows_together * along);
        const auto bits = hn::LoadU(of_bits, reinterpret_cast<const typename format::bits*>(row));
        const auto size = hn::Sub(hn::And(bits, size_bits), one);
        least = hn::Min(least, size);
        largest = hn::BitCast(of_bits, hn::Max(hn::BitCast(of_integers, largest), hn::BitCast(of_integers, size)));
        for (std::size_t p = 0; p < parts; ++p) {
          const auto v = hn::AndNot(ignored, load(doubles(), row + p * in_vector));
          sum[p] = hn::Add(sum[p], hn::BitCast(words(), hn::Add(v, constant)));
        }
      }
      fits = hn::AllTrue(of_integers, hn::And(hn::Gt(hn::BitCast(of_integers, least), lower),
                                              hn::Lt(hn::BitCast(of_integers, largest), upper)));
      for (std::size_t p = 0; p < parts && fits; ++p) {
        std::uint64_t* const plane = planes + c + p * in_vector;
        hn::StoreU(hn::Add(hn::LoadU(words(), plane), sum[p]), words(), plane);
        hn::StoreU(hn::Add(hn::LoadU(words(), plane + distance), hn::Set(words(), rows)), words(), plane + distance);
      }
    }
    if (fits) [[likely]]
      continue;
    const std::size_t more = add_column_block<exact_terms::elements, T>(window, x + c, along, rows, here, planes + c,
                                                                        distance, misfits + found);
    for (std::size_t k = 0; k < more; ++k) misfits[found++] += static_cast<std::uint32_t>(c);
  }
  return found;
}

template <exact_terms Terms, class T>
constexpr split_loops<T> loops_of{add_block<Terms, T>, add_column_block<Terms, T>};
template <>
constexpr split_loops<float> loops_of<exact_terms::elements, float>{add_block<exact_terms::elements, float>,
                                                                    add_narrow_columns<float>};

const split_loops<float>* loops_of_floats(exact_terms terms) {
  return terms == exact_terms::moments ? &loops_of<exact_terms::moments, float>
                                       : &loops_of<exact_terms::elements, float>;
}
const split_loops<double>* loops_of_doubles(exact_terms terms) {
  return terms == exact_terms::moments ? &loops_of<exact_terms::moments, double>
                                       : &loops_of<exact_terms::elements, double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(loops_of_floats);
template <>
const split_loops<float>& find_split_loops(exact_terms terms) {
  return *HWY_DYNAMIC_DISPATCH(loops_of_floats)(terms);
}
HWY_EXPORT(loops_of_doubles);
template <>
const split_loops<double>& find_split_loops(exact_terms terms) {
  return *HWY_DYNAMIC_DISPATCH(loops_of_doubles)(terms);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
