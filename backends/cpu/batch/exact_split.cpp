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
#include <iterator>

#include "backends/cpu/batch/exact_split.hpp"
#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/loads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

using doubles = hn::ScalableTag<double>;
using words = hn::ScalableTag<std::uint64_t>;

/// Splits v into the words of `Count` constants. Returns whether each v is a multiple of word 0's unit.
template <int Count>
HWY_INLINE auto split(hn::Vec<doubles> v, const double* constant, hn::Vec<words>* word) {
  for (int j = Count - 1; j > 0; --j) {
    const auto c = hn::Set(doubles(), constant[j]), t = hn::Add(v, c);
    word[j] = hn::BitCast(words(), t);
    v = hn::Sub(v, hn::Sub(t, c));
  }
  const auto c = hn::Set(doubles(), constant[0]), t = hn::Add(v, c);
  word[0] = hn::BitCast(words(), t);
  return hn::Eq(hn::Sub(t, c), v);
}

/// The words of the squares of v.
template <class T>
HWY_INLINE void split_squares(hn::Vec<doubles> v, const double* constant, hn::Vec<words>* word) {
  const auto p = hn::Mul(v, v);
  split<4>(p, constant, word);
  if constexpr (sizeof(T) == 8) {
    hn::Vec<words> of_error[3];
    split<3>(error_of_product(doubles(), v, v, p), constant, of_error);
    for (int j = 0; j < 3; ++j) word[j] = hn::Add(word[j], of_error[j]);
  }
}

template <exact_terms Terms, class T>
HWY_INLINE std::size_t add_block(const exact_window& window, const T* x, std::size_t count,
                                 const std::uint32_t* group, unsigned copies, std::uint64_t* states,
                                 std::uint8_t* misfits) {
  constexpr std::size_t parts = state_words(Terms) / 4;
  HWY_ALIGN std::uint64_t word[parts][4 * split_block];
  const auto limit = hn::Set(doubles(), window.limit), minus_zero = hn::Set(doubles(), -0.0);
  const auto ignored = hn::BitCast(doubles(), hn::Set(words(), window.ignored));
  std::size_t found = 0;
  const auto split_vector = [&](std::size_t i, auto loaded) HWY_ATTR {
    const auto v = hn::AndNot(ignored, loaded);
    hn::Vec<words> of_sum[3];
    [[maybe_unused]] hn::Vec<words> of_squares[4];
    const auto is_multiple = split<3>(v, window.constant, of_sum);
    auto fits = hn::RebindMask(words(), hn::And(is_multiple, hn::Lt(hn::Abs(v), limit)));
    if constexpr (Terms == exact_terms::moments) {
      split_squares<T>(v, window.square_constant, of_squares);
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

  const hn::CappedTag<std::uint64_t, 4> d;
  const std::size_t in_turn = (std::size_t{1} << copies) - 1;
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t* const into = states + ((std::size_t{group[k]} << copies) + (k & in_turn)) * state_words(Terms);
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t j = 0; j < 4; j += hn::Lanes(d)) {
        std::uint64_t* const at = into + 4 * part + j;
        hn::Store(hn::Add(hn::Load(d, at), hn::Load(d, word[part] + 4 * k + j)), d, at);
      }
    }
  }
  return found;
}

#define FANIN_DEFINE(NAME, TERMS, T)                                                                      \
  std::size_t NAME(const exact_window& window, const T* x, std::size_t count, const std::uint32_t* group, \
                   unsigned copies, std::uint64_t* states, std::uint8_t* misfits) {                       \
    return add_block<exact_terms::TERMS>(window, x, count, group, copies, states, misfits);               \
  }
FANIN_DEFINE(add_floats, elements, float)
FANIN_DEFINE(add_doubles, elements, double)
FANIN_DEFINE(add_float_moments, moments, float)
FANIN_DEFINE(add_double_moments, moments, double)
#undef FANIN_DEFINE

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH(NAME, TERMS, T)                                                                             \
  HWY_EXPORT(NAME);                                                                                                \
  template <>                                                                                                      \
  std::size_t add_split<exact_terms::TERMS, T>(const exact_window& window, const T* x, std::size_t count,          \
                                               const std::uint32_t* group, unsigned copies, std::uint64_t* states, \
                                               std::uint8_t* misfits) {                                            \
    return HWY_DYNAMIC_DISPATCH(NAME)(window, x, count, group, copies, states, misfits);                           \
  }
FANIN_DISPATCH(add_floats, elements, float)
FANIN_DISPATCH(add_doubles, elements, double)
FANIN_DISPATCH(add_float_moments, moments, float)
FANIN_DISPATCH(add_double_moments, moments, double)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
