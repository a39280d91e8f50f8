// SPDX-License-Identifier: Apache-2.0
// Sums of columns as doubles, which are split into words once for all rows (exact_split.cpp). Several words have sums
// of their own: v is rounded to an integer without the processor's inexact flag, and the rest v - round(v) goes to
// the word below. If no other operation rounds, the flag is not set, and the sums are exact. So nothing is tested for
// each element. Highway includes this file once for each instruction set.
#if defined(FANIN_COLUMN_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_COLUMN_SUMS_INL_H_
#undef FANIN_COLUMN_SUMS_INL_H_
#else
#define FANIN_COLUMN_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/exception_flags.hpp"
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

/// How many sums of one column are formed as doubles: of word 0 and, for doubles, word 1 of its elements, then of
/// both words of their squares.
template <exact_terms Terms, class T>
constexpr std::size_t column_sums = column_words<T> + (Terms == exact_terms::moments ? 2 : 0);

template <exact_terms Terms, class T>
using sums_of_columns = double[column_sums<Terms, T>][columns_together];

/// Adds the rest v - round(v) to one sum, and round(v) to the next one.
HWY_INLINE void add_parts(hn::Vec<doubles> v, hn::Vec<doubles>* sum) {
  const auto upper = hn::Round(v);
  sum[0] = hn::Add(sum[0], hn::Sub(v, upper));
  sum[1] = hn::Add(sum[1], upper);
}

/// Adds rows_at_once rows to the sums of whole vectors of columns, and prefetches the next ones.
template <exact_terms Terms, class T>
HWY_INLINE void sum_rows(std::uint64_t ignored_bits, double scale, const T* x, std::ptrdiff_t along,
                         std::size_t columns, sums_of_columns<Terms, T>& sums) {
  constexpr std::size_t count = column_sums<Terms, T>, in_vector = hn::MaxLanes(doubles()), in_line = 64 / sizeof(T);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), ignored_bits));
  for (std::size_t line = 0; line < columns; line += in_line) {
    HWY_UNROLL(1)
    for (std::size_t r = rows_at_once; r < 2 * rows_at_once; ++r) {
      __builtin_prefetch(x + static_cast<std::ptrdiff_t>(r) * along + line);
    }
    for (std::size_t c = line; c < std::min(line + in_line, columns); c += in_vector) {
      hn::Vec<doubles> sum[count];
      for (std::size_t j = 0; j < count; ++j) sum[j] = hn::Load(doubles(), sums[j] + c);
      const T* row = x + c;
      for (std::size_t r = 0; r < rows_at_once; ++r, row += along) {
        auto v = hn::AndNot(ignored, load(doubles(), row));
        if constexpr (count > 1) v = hn::Mul(v, hn::Set(doubles(), scale));
        if constexpr (column_words<T> == 2) {
          add_parts(v, sum);
        } else {
          sum[0] = hn::Add(sum[0], v);
        }
        if constexpr (Terms == exact_terms::moments) add_parts(hn::Mul(v, v), sum + column_words<T>);
      }
      for (std::size_t j = 0; j < count; ++j) hn::Store(sum[j], doubles(), sums[j] + c);
    }
  }
}

/// Adds rows_at_once rows of floats of 16 bits to `sum`, and their squares to `squares`. A double holds the sum of
/// rows_at_once squares. A row is read by whole cache lines: if rows are a power of two apart, few lines of one
/// column are in a cache together.
template <exact_terms Terms, class E>
HWY_INLINE void sum_rows_of_halves(std::uint64_t ignored_bits, const E* x, std::ptrdiff_t along, std::size_t columns,
                                   double* sum, [[maybe_unused]] double* squares) {
  constexpr bool has_squares = Terms == exact_terms::moments;
  constexpr std::size_t in_vector = hn::MaxLanes(doubles()),
                        vectors = halves_in_line / in_vector / (has_squares ? 2 : 1);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), ignored_bits));
  HWY_UNROLL(1)
  for (std::size_t c = 0; c < columns; c += vectors * in_vector) {
    hn::Vec<doubles> of_elements[vectors], of_squares[vectors];
    for (std::size_t k = 0; k < vectors; ++k) {
      of_elements[k] = hn::Load(doubles(), sum + c + k * in_vector);
      of_squares[k] = hn::Zero(doubles());
    }
    const E* row = x + c;
    HWY_UNROLL(1)
    for (std::size_t r = 0; r < rows_at_once; ++r, row += along) {
      __builtin_prefetch(row + static_cast<std::ptrdiff_t>(rows_at_once) * along);
      for (std::size_t k = 0; k < vectors; ++k) {
        const auto loaded = load(doubles(), row + k * in_vector);
        const auto v = has_squares ? loaded : hn::AndNot(ignored, loaded);
        of_elements[k] = hn::Add(of_elements[k], v);
        if constexpr (has_squares) of_squares[k] = hn::MulAdd(v, v, of_squares[k]);
      }
    }
    for (std::size_t k = 0; k < vectors; ++k) {
      hn::Store(of_elements[k], doubles(), sum + c + k * in_vector);
      if constexpr (has_squares) hn::Store(of_squares[k], doubles(), squares + c + k * in_vector);
    }
  }
}
template <exact_terms Terms>
HWY_INLINE void sum_halves(std::uint64_t ignored_bits, double scale, const void* x, element_type type,
                           std::ptrdiff_t along, std::size_t columns, sums_of_columns<Terms, float>& sums) {
  HWY_ALIGN double squares[Terms == exact_terms::moments ? columns_together : 1];
  if (type == element_type::f16) {
    sum_rows_of_halves<Terms>(ignored_bits, static_cast<const f16*>(x), along, columns, sums[0], squares);
  } else {
    sum_rows_of_halves<Terms>(ignored_bits, static_cast<const bf16*>(x), along, columns, sums[0], squares);
  }
  if constexpr (Terms == exact_terms::moments) {
    constexpr std::size_t in_vector = hn::MaxLanes(doubles());
    HWY_UNROLL(1)
    for (std::size_t c = 0; c < columns; c += in_vector) {
      hn::Vec<doubles> parts[2] = {hn::Load(doubles(), sums[1] + c), hn::Load(doubles(), sums[2] + c)};
      add_parts(hn::Mul(hn::Load(doubles(), squares + c), hn::Set(doubles(), scale * scale)), parts);
      hn::Store(parts[0], doubles(), sums[1] + c);
      hn::Store(parts[1], doubles(), sums[2] + c);
    }
  }
}

/// The words are summed as doubles. They are exact if no operation has set the inexact flag, and if the sums fit in
/// words. Round() does not set the flag. A sum is -0 if all elements are, and a sum of squares has no sign.
template <exact_terms Terms, class T>
HWY_NOINLINE bool add_sums(const exact_window& window, const void* data, element_type type, std::ptrdiff_t along,
                           std::size_t rows, std::size_t columns, std::uint64_t* planes, std::size_t distance) {
  constexpr std::size_t of_element = column_words<T>, count = column_sums<Terms, T>;
  constexpr std::size_t in_vector = hn::MaxLanes(doubles());
  // Elements are scaled so that the last word, of elements of T or of squares, is in units of 1.
  const int exponent = window.unit + (Terms == exact_terms::moments ? word_bits / 2 : word_bits);
  const double scale = std::ldexp(1, -exponent);
  HWY_ALIGN sums_of_columns<Terms, T> sums;
  for (auto& of_word : sums) {
    for (std::size_t c = 0; c < columns; c += in_vector) hn::Store(hn::Set(doubles(), -0.0), doubles(), of_word + c);
  }
  exception_flags flags;
  flags.clear_inexact();
  const bool of_halves = sizeof(T) == 4 && type != type_of<T>;
  const auto* rows_at = static_cast<const std::byte*>(data);
  for (std::size_t r = 0; r < rows; r += rows_at_once) {
    if constexpr (sizeof(T) == 4 && converts<f16>) {
      if (of_halves) sum_halves<Terms>(window.ignored, scale, rows_at, type, along, columns, sums);
    }
    if (!of_halves) sum_rows<Terms>(window.ignored, scale, reinterpret_cast<const T*>(rows_at), along, columns, sums);
    rows_at += static_cast<std::ptrdiff_t>(rows_at_once * (of_halves ? 2 : sizeof(T))) * along;
  }

  auto misfits = hn::Zero(words());
  const auto minus_zero = hn::Set(words(), detail::to_bits(-0.0));
  const auto constant_of = [&](std::size_t j) {
    return j < of_element ? window.constant[j] : window.square_constant[j - of_element];
  };
  HWY_UNROLL(1)
  for (std::size_t j = 0; j < count; ++j) {
    const auto constant = hn::Set(doubles(), constant_of(j));
    const bool is_scaled = count > 1 && (j >= of_element || !of_halves);
    const auto unit = hn::Set(doubles(), is_scaled ? std::ldexp(1, j < of_element ? exponent : 2 * exponent) : 1);
    for (std::size_t c = 0; c < columns; c += in_vector) {
      const auto sum = hn::Load(doubles(), sums[j] + c), t = hn::Add(hn::Mul(sum, unit), constant);
      // A sum that fits leaves the exponent of the constant as it is.
      misfits = hn::Or(misfits, hn::ShiftRight<52>(hn::BitCast(words(), hn::Xor(t, constant))));
      if (Terms == exact_terms::elements && j == of_element - 1) {
        misfits = hn::Or(misfits, hn::VecFromMask(words(), hn::Eq(hn::BitCast(words(), sum), minus_zero)));
      }
      hn::Store(t, doubles(), sums[j] + c);
    }
  }
  asm volatile("" : : "r"(&sums[0][0]) : "memory");  // the flag is read after the last addition
  if (flags.has_inexact() || !hn::AllTrue(words(), hn::Eq(misfits, hn::Zero(words())))) return false;
  const auto add_to_plane = [&](std::size_t j, std::size_t c, hn::Vec<words> added) HWY_ATTR {
    std::uint64_t* const plane = planes + j * distance + c;
    hn::StoreU(hn::Add(hn::LoadU(words(), plane), added), words(), plane);
  };
  HWY_UNROLL(1)
  for (std::size_t j = 0; j < count; ++j) {
    const auto others = hn::Set(words(), (rows - 1) * detail::to_bits(constant_of(j)));
    for (std::size_t c = 0; c < columns; c += in_vector) {
      const auto word = hn::BitCast(words(), hn::Load(doubles(), sums[j] + c));
      add_to_plane(j < of_element ? j : j + 1, c, hn::Add(word, others));
    }
  }
  for (std::size_t c = 0; c < columns; c += in_vector) add_to_plane(of_element, c, hn::Set(words(), rows));
  return true;
}

/// Adds sums of columns of doubles and of their squares to planes. In units of 2^(window.unit + 26), an element is a
/// + b + c: a multiple of 2^24, an integer of 24 bits, and a multiple of 2^-26 of at most 1/2. If no operation has
/// set the flag, the sums of a^2, ab, b^2 + 2ac, 2bc, c^2, a + b and c are exact. To the sum of c a number is added
/// whose last bit is 2^-26.
template <class T>
HWY_NOINLINE bool add_square_sums(const exact_window& window, const void* data, element_type /*type*/,
                                  std::ptrdiff_t along, std::size_t rows, std::size_t columns, std::uint64_t* planes,
                                  std::size_t distance) {
  constexpr std::size_t in_vector = hn::MaxLanes(doubles()), of_element = column_words<double>, of_square = 4;
  constexpr std::size_t squares = 5, count = squares + 2, all = of_element + 1 + of_square;
  const int exponent = window.unit + 26;
  const auto scale = hn::Set(doubles(), std::ldexp(1, -exponent));
  const auto unit = hn::Set(doubles(), std::ldexp(1, exponent)), square_unit = hn::Mul(unit, unit);
  const auto limit = hn::Set(doubles(), window.limit * window.limit);
  const auto a_unit = hn::Set(doubles(), 0x1p24), inverse = hn::Set(doubles(), 0x1p-24);
  const auto with_last_bit = hn::Set(doubles(), 0x1.8p26);
  HWY_ALIGN double sums[count][copied_columns<double>];
  exception_flags flags;
  flags.clear_inexact();
  auto fits = hn::Lt(hn::Zero(doubles()), limit);
  for (std::size_t c = 0; c < columns; c += in_vector) {
    hn::Vec<doubles> sum[count];
    for (auto& of_term : sum) of_term = hn::Zero(doubles());
    sum[6] = with_last_bit;
    const T* row = static_cast<const T*>(data) + c;
    HWY_UNROLL(1)
    for (std::size_t r = 0; r < rows; ++r, row += along) {
      const auto v = hn::Mul(hn::LoadU(doubles(), row), scale);
      const auto upper = hn::Round(v), rest = hn::Sub(v, upper), twice = hn::Add(rest, rest);
      const auto a = hn::Mul(hn::Round(hn::Mul(upper, inverse)), a_unit), b = hn::Sub(upper, a);
      sum[0] = hn::MulAdd(a, a, sum[0]);
      sum[1] = hn::MulAdd(a, b, sum[1]);
      sum[2] = hn::Add(sum[2], hn::MulAdd(a, twice, hn::Mul(b, b)));
      sum[3] = hn::MulAdd(b, twice, sum[3]);
      sum[4] = hn::MulAdd(rest, rest, sum[4]);
      sum[5] = hn::Add(sum[5], upper);
      sum[6] = hn::Add(sum[6], rest);
    }
    sum[1] = hn::Add(sum[1], sum[1]);
    sum[6] = hn::Sub(sum[6], with_last_bit);
    for (std::size_t j = 0; j < count; ++j) {
      sum[j] = hn::Mul(sum[j], j < squares ? square_unit : unit);
      hn::Store(sum[j], doubles(), sums[j] + c);
    }
    fits = hn::And(fits, hn::Lt(sum[0], limit));
  }
  asm volatile("" : : "r"(&sums[0][0]) : "memory");
  if (flags.has_inexact() || !hn::AllTrue(doubles(), fits)) return false;

  // add_column_block() adds the constants of words for each element, and those of squares mostly twice.
  std::uint64_t others[all];
  for (std::size_t j = 0; j < of_element; ++j) others[j] = (rows - 2) * detail::to_bits(window.constant[j]);
  others[of_element] = rows;
  for (std::size_t j = 0; j < of_square; ++j) {
    const std::uint64_t times = rows * (j + 1 < of_square ? 2 : 1) - squares;
    others[of_element + 1 + j] = times * detail::to_bits(window.square_constant[j]);
  }
  HWY_UNROLL(1)
  for (std::size_t c = 0; c < columns; c += in_vector) {
    hn::Vec<words> word[all];
    for (std::size_t j = 0; j < all; ++j) word[j] = hn::Set(words(), others[j]);
    const auto add = [&]<std::size_t Count>(std::size_t first, std::size_t end, const double* constant, auto* to,
                                            std::integral_constant<std::size_t, Count>) HWY_ATTR {
      HWY_UNROLL(1)
      for (std::size_t j = first; j < end; ++j) {
        hn::Vec<words> of_sum[Count];
        auto rest = hn::Load(doubles(), sums[j] + c);
        split<Count>(rest, constant, of_sum);
        for (std::size_t i = 0; i < Count; ++i) to[i] = hn::Add(to[i], of_sum[i]);
      }
    };
    add(0, squares, window.square_constant, word + of_element + 1, std::integral_constant<std::size_t, of_square>());
    add(squares, count, window.constant, word, std::integral_constant<std::size_t, of_element>());
    for (std::size_t j = 0; j < all; ++j) {
      std::uint64_t* const plane = planes + j * distance + c;
      hn::StoreU(hn::Add(hn::LoadU(words(), plane), word[j]), words(), plane);
    }
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
