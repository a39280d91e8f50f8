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
// in the same way, and e, which is less than 2^-52 of the largest p, into the three lower ones. Short sums have one
// word for x and two for its square.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/exact_split.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <iterator>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/batch/column_sums-inl.h"
#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/loads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

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

/// Adds two or four words.
template <std::size_t Count>
HWY_INLINE void add_words(std::uint64_t* into, const std::uint64_t* from) {
  const hn::CappedTag<std::uint64_t, Count> d;
  for (std::size_t j = 0; j < Count; j += hn::Lanes(d)) {
    hn::Store(hn::Add(hn::Load(d, into + j), hn::Load(d, from + j)), d, into + j);
  }
}

template <exact_terms Terms, class T>
std::size_t add_block(const exact_window& window, const T* x, std::size_t count, const std::uint32_t* group,
                      unsigned copies, bool prefetches, std::uint64_t* states, std::uint8_t* misfits) {
  constexpr std::size_t in_part = std::min<std::size_t>(4, state_words(Terms)), parts = state_words(Terms) / in_part;
  constexpr bool is_short = are_short(Terms), has_squares = have_squares(Terms);
  HWY_ALIGN std::uint64_t word[parts][in_part * split_block];
  const auto limit = hn::Set(doubles(), window.limit), minus_zero = hn::Set(doubles(), -0.0);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), window.ignored));
  prefetches = prefetches && Terms == exact_terms::moments;
  std::size_t found = 0;
  const auto split_vector = [&](std::size_t i, auto loaded) HWY_ATTR {
    const auto v = hn::AndNot(ignored, loaded);
    hn::Vec<words> of_sum[3];
    [[maybe_unused]] hn::Vec<words> of_squares[4];
    auto rest = v;
    const auto held = split < is_short ? 1 : 3 > (rest, window.constant, of_sum);
    const auto is_multiple = hn::Eq(held, rest);
    auto fits = hn::RebindMask(words(), hn::And(is_multiple, hn::Lt(hn::Abs(v), limit)));
    if constexpr (has_squares) {
      split_squares<T, is_short ? 2 : 4>(v, window.square_constant, of_squares);
    } else {
      fits = hn::And(fits, hn::Ne(hn::BitCast(words(), v), hn::BitCast(words(), minus_zero)));
    }
    const auto put = [&](auto kept) HWY_ATTR {
      const auto one = kept(hn::Set(words(), 1));
      if constexpr (in_part == 2) {
        return hn::StoreInterleaved2(kept(of_sum[0]), one, words(), word[0] + 2 * i);
      }
      const auto& second = is_short ? of_squares[0] : of_sum[1];
      const auto& third = is_short ? of_squares[1] : of_sum[2];
      hn::StoreInterleaved4(kept(of_sum[0]), kept(second), kept(third), one, words(), word[0] + in_part * i);
      if constexpr (parts > 1) {
        hn::StoreInterleaved4(kept(of_squares[0]), kept(of_squares[1]), kept(of_squares[2]), kept(of_squares[3]),
                              words(), word[1] + 4 * i);
      }
    };
    if (hn::AllTrue(words(), fits)) [[likely]] {
      return put([](auto bits) HWY_ATTR { return bits; });
    }
    put([&](auto bits) HWY_ATTR { return hn::IfThenElseZero(fits, bits); });
    for (std::size_t k = i; k < std::min(count, i + hn::Lanes(doubles())); ++k) {
      if (word[0][in_part * k + count_word(Terms)] == 0) misfits[found++] = static_cast<std::uint8_t>(k);
    }
  };
  T whole[split_block];
  if (count % hn::Lanes(doubles()) != 0) {
    std::fill(std::copy(x, x + count, whole), std::end(whole), T{0});
    x = whole;
  }
  const std::size_t in_turn = (std::size_t{1} << copies) - 1;
  const auto state_of = [&](std::size_t k) {
    return states + ((std::size_t{group[k]} << copies) + (k & in_turn)) * state_words(Terms);
  };
  for (std::size_t i = 0; i < count; i += hn::Lanes(doubles())) {
    for (std::size_t k = i; prefetches && k < std::min(count, i + hn::Lanes(doubles())); ++k) {
      __builtin_prefetch(state_of(k), 1);
    }
    split_vector(i, load(doubles(), x + i));
  }

  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t* const into = state_of(k);
    for (std::size_t part = 0; part < parts; ++part) {
      add_words<in_part>(into + in_part * part, word[part] + in_part * k);
    }
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

/// Null if Highway has no instruction for Round().
template <exact_terms Terms, class T>
constexpr auto find_add_sums() -> decltype(split_loops<T>::add_sums) {
  constexpr bool has_round = HWY_ARCH_X86 ? HWY_TARGET <= HWY_SSE4 : HWY_ARCH_ARM_A64 && HWY_TARGET < HWY_EMU128;
  if constexpr (has_round && (Terms == exact_terms::elements || sizeof(T) == 4)) {
    return add_sums<Terms, T>;
  } else if constexpr (has_round && converts<f16>) {
    return add_square_sums<T>;
  } else {
    return nullptr;
  }
}
template <exact_terms Terms, class T>
constexpr split_loops<T> split_loops_of{add_block<Terms, T>, add_column_block<Terms, T>, find_add_sums<Terms, T>(),
                                        sizeof(T) == 4 && converts<f16>};

/// The loops for short sums, which no columns have.
template <exact_terms Terms>
constexpr split_loops<float> short_split_loops{add_block<Terms, float>, nullptr, nullptr, false};

const split_loops<float>* loops_of_floats(exact_terms terms) {
  if (terms == exact_terms::short_elements) return &short_split_loops<exact_terms::short_elements>;
  if (terms == exact_terms::short_moments) return &short_split_loops<exact_terms::short_moments>;
  return terms == exact_terms::moments ? &split_loops_of<exact_terms::moments, float>
                                       : &split_loops_of<exact_terms::elements, float>;
}
const split_loops<double>* loops_of_doubles(exact_terms terms) {
  return terms == exact_terms::moments ? &split_loops_of<exact_terms::moments, double>
                                       : &split_loops_of<exact_terms::elements, double>;
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
