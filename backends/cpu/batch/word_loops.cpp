// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/batch/word_loops.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "backends/cpu/batch/word_loops.hpp"
#include "backends/cpu/batch/word_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class U>
using words_of = hn::ScalableTag<U>;
template <class U>
using vector_of = hn::Vec<words_of<U>>;
/// Sums of `U` have twice the bits, but at most 64.
template <class U>
using wider = std::conditional_t<sizeof(U) == 1, std::uint16_t,
                                 std::conditional_t<sizeof(U) == 2, std::uint32_t, std::uint64_t>>;
template <class U>
constexpr U lowest = static_cast<U>(U{1} << (8 * sizeof(U) - 1));

template <class U>
struct rule_vectors {
  vector_of<U> negated, flipped, magnitude, largest;
  HWY_INLINE explicit rule_vectors(const word_rule& rule)
      : negated(hn::Set(words_of<U>(), static_cast<U>(rule.negated))),
        flipped(hn::Set(words_of<U>(), static_cast<U>(rule.flipped))),
        magnitude(hn::Set(words_of<U>(), static_cast<U>(lowest<U> - 1))),
        largest(hn::Set(words_of<U>(), static_cast<U>(rule.largest_number))) {}
  HWY_INLINE vector_of<U> negated_in(vector_of<U> v) const {
    const hn::RebindToSigned<words_of<U>> s;
    return hn::And(hn::BitCast(words_of<U>(), hn::BroadcastSignBit(hn::BitCast(s, v))), negated);
  }
  HWY_INLINE vector_of<U> summand(vector_of<U> v) const {
    const auto n = negated_in(v);
    return hn::Xor(hn::Sub(hn::Xor(v, n), n), flipped);
  }
  HWY_INLINE vector_of<U> key(vector_of<U> v) const { return hn::Xor(hn::Xor(v, negated_in(v)), flipped); }
};

/// The low and the high halves of words. Those of words of up to 32 bits are the words with even and with odd places.
template <class U>
struct halves {
  using wide = wider<U>;
  static constexpr int bits = sizeof(U) == 8 ? 32 : 8 * sizeof(U);
  vector_of<wide> low, high;
  HWY_INLINE explicit halves(vector_of<U> words) {
    const words_of<wide> d;
    const auto v = hn::BitCast(d, words);
    low = hn::And(v, hn::Set(d, static_cast<wide>((wide{1} << bits) - 1)));
    high = hn::ShiftRight<bits>(v);
  }
};

/// The products of numbers of half as many bits.
template <class W>
HWY_INLINE vector_of<W> product(vector_of<W> a, vector_of<W> b) {
  if constexpr (sizeof(W) == 8) {
    const words_of<std::uint32_t> d;
    return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
  } else {
    return hn::Mul(a, b);
  }
}

/// The parts of kernels whose states are added. Lane l of plane p is added to the output `planes` * l + p.
struct additive {
  static HWY_NOINLINE void merge(std::uint64_t* into, const std::uint64_t* from, std::size_t numbers) {
    for (std::size_t i = 0; i < numbers; ++i) into[i] += from[i];
  }
  static constexpr std::uint64_t none(std::size_t) { return 0; }
  template <class Lane>
  static std::uint64_t output(Lane lane, std::size_t, std::uint64_t) {
    return lane;
  }
};

template <class U>
struct zero_counts : additive {
  using lane = U;
  static constexpr std::size_t planes = 1, outputs = 1;
  static constexpr std::uint64_t most_rows = std::numeric_limits<U>::max();
  template <class S>
  static HWY_INLINE void add(const rule_vectors<U>& rule, S& s, vector_of<U> v, vector_of<U>) {
    const words_of<U> d;
    const auto is_zero = hn::VecFromMask(d, hn::Eq(hn::AndNot(rule.negated, v), hn::Zero(d)));
    s[0] = hn::Sub(s[0], is_zero);
  }
};

template <class U>
struct word_sums : additive {
  using lane = wider<U>;
  static constexpr std::size_t planes = 2, outputs = sizeof(U) == 8 ? 2 : 1;
  static constexpr std::uint64_t most_rows = std::uint64_t{1} << halves<U>::bits;
  template <class S>
  static HWY_INLINE void add(const rule_vectors<U>& rule, S& s, vector_of<U> v, vector_of<U>) {
    const halves<U> of(rule.summand(v));
    s[0] = hn::Add(s[0], of.low);
    s[1] = hn::Add(s[1], of.high);
  }
};

template <class U>
struct word_squares : additive {
  using half = wider<U>;
  using lane = wider<half>;
  static constexpr std::size_t planes = sizeof(U) == 8 ? 6 : 4;
  static constexpr std::size_t outputs = sizeof(U) == 8 ? 6 : sizeof(U) == 4 ? 2 : 1;
  static constexpr std::uint64_t most_rows = std::uint64_t{1} << halves<half>::bits;
  template <class S>
  static HWY_INLINE void add_halves(S& s, std::size_t low, std::size_t high, vector_of<half> v) {
    const halves<half> of(v);
    s[low] = hn::Add(s[low], of.low);
    s[high] = hn::Add(s[high], of.high);
  }
  template <class S>
  static HWY_INLINE void add(const rule_vectors<U>& rule, S& s, vector_of<U> v, vector_of<U>) {
    const halves<U> of(rule.summand(v));
    const auto of_low = product<half>(of.low, of.low), of_high = product<half>(of.high, of.high);
    if constexpr (sizeof(U) == 8) {
      add_halves(s, 0, 1, of_low);
      add_halves(s, 2, 3, product<half>(of.low, of.high));
      add_halves(s, 4, 5, of_high);
    } else if constexpr (sizeof(U) == 4) {
      add_halves(s, 0, 1, of_low);
      add_halves(s, 2, 3, of_high);
    } else {  // The halves of the squares are those of places two apart.
      add_halves(s, 0, 2, of_low);
      add_halves(s, 1, 3, of_high);
    }
  }
};

/// The parts of kernels that keep the largest numbers of each plane.
struct greatest {
  static HWY_NOINLINE void merge(std::uint64_t* into, const std::uint64_t* from, std::size_t numbers) {
    for (std::size_t i = 0; i < numbers; ++i) {
      into[i] = static_cast<std::int64_t>(into[i]) < static_cast<std::int64_t>(from[i]) ? from[i] : into[i];
    }
  }
  static constexpr std::uint64_t none(std::size_t) { return lowest<std::uint64_t>; }
  template <class Lane>
  static std::uint64_t output(Lane key, std::size_t, std::uint64_t) {
    return static_cast<std::uint64_t>(std::int64_t{key});
  }
};

/// The parts of kernels that keep a largest number, and the first row that has it.
struct first_greatest {
  static HWY_NOINLINE void merge(std::uint64_t* into, const std::uint64_t* from, std::size_t numbers) {
    for (std::size_t i = 0; i < numbers; i += 2) {
      const auto a = static_cast<std::int64_t>(into[i]), b = static_cast<std::int64_t>(from[i]);
      const bool wins = a < b || (a == b && from[i + 1] < into[i + 1]);
      into[i] = wins ? from[i] : into[i];
      into[i + 1] = wins ? from[i + 1] : into[i + 1];
    }
  }
  /// Small states have the last row that they hold as the place of no row.
  static constexpr std::uint64_t none(std::size_t plane) {
    return plane == 0 ? lowest<std::uint64_t> : std::numeric_limits<std::int64_t>::max();
  }
  template <class Lane>
  static std::uint64_t output(Lane key_or_row, std::size_t plane, std::uint64_t base) {
    return static_cast<std::uint64_t>(std::int64_t{key_or_row}) + (plane == 1 ? base : 0);
  }
};

template <class U>
struct word_extrema : greatest {
  using lane = std::make_signed_t<U>;
  static constexpr std::size_t planes = 2, outputs = 2;
  static constexpr std::uint64_t most_rows = std::numeric_limits<std::uint32_t>::max();
  template <class S>
  static HWY_INLINE void add(const rule_vectors<U>& rule, S& s, vector_of<U> v, vector_of<U>) {
    const words_of<lane> d;
    const auto key = hn::BitCast(d, rule.key(v));
    s[0] = hn::Max(s[0], key);
    s[1] = hn::Max(s[1], hn::Not(key));
  }
};

/// A later row with the same key may come first, since rows that are apart are read side by side.
template <class U>
struct first_places : first_greatest {
  using lane = std::make_signed_t<U>;
  static constexpr std::size_t planes = 2, outputs = 2;
  static constexpr std::uint64_t most_rows = sizeof(U) < 4 ? lowest<U> : lowest<std::uint32_t>;
  template <class S>
  static HWY_INLINE void add(const rule_vectors<U>& rule, S& s, vector_of<U> v, vector_of<U> row) {
    const words_of<lane> d;
    const auto at = hn::BitCast(d, row);
    const auto is_nan = hn::Gt(hn::BitCast(d, hn::And(v, rule.magnitude)), hn::BitCast(d, rule.largest));
    const auto key =
        hn::IfThenElse(is_nan, hn::Set(d, std::numeric_limits<lane>::max()), hn::BitCast(d, rule.key(v)));
    const auto is_before = hn::And(hn::Eq(key, s[0]), hn::Lt(at, s[1]));
    const auto wins = hn::Or(hn::Gt(key, s[0]), is_before);
    s[0] = hn::Max(s[0], key);
    s[1] = hn::IfThenElse(wins, at, s[1]);
  }
};

/// So many rows are read side by side: processors read several places of memory faster than one.
constexpr std::size_t rows_at_once = 8;

template <template <class> class Kernel, class U>
struct loops_over {
  using K = Kernel<U>;
  using lane = typename K::lane;
  using DL = words_of<lane>;
  static constexpr std::size_t width = hn::MaxLanes(words_of<U>()), lanes = hn::MaxLanes(DL());
  static constexpr std::size_t state_lanes = K::planes * lanes;

  /// The columns of vector i begin here. The last vector has columns of the vector before it too, or columns that
  /// are before the first one.
  static std::ptrdiff_t begin_of(std::size_t i, std::size_t columns) {
    return static_cast<std::ptrdiff_t>(std::min((i + 1) * width, columns)) - static_cast<std::ptrdiff_t>(width);
  }

  /// `together` rows, which are `distance` rows apart, and so on `times` times, `step` rows after each other.
  struct row_order {
    std::size_t times, step, together, distance;
  };
  static HWY_NOINLINE void add_rows(const rule_vectors<U>& rule, const U* x, std::ptrdiff_t along,
                                    const row_order& order, std::size_t columns, std::size_t first, lane* states) {
    const words_of<U> d;
    const std::ptrdiff_t apart = static_cast<std::ptrdiff_t>(order.distance) * along;
    const auto places_apart = hn::Set(d, static_cast<U>(order.distance));
    for (std::size_t t = 0; t < order.times; ++t, x += static_cast<std::ptrdiff_t>(order.step) * along) {
      const auto place = hn::Set(d, static_cast<U>(first + t * order.step));
      lane* state = states;
      for (std::size_t i = 0; i * width < columns; ++i, state += state_lanes) {
        hn::Vec<DL> s[K::planes];
        HWY_UNROLL(6)
        for (std::size_t p = 0; p < K::planes; ++p) s[p] = hn::LoadU(DL(), state + p * lanes);
        const U* from = x + begin_of(i, columns);
        auto at = place;
        for (std::size_t k = 0; k < order.together; ++k, from += apart) {
          K::add(rule, s, hn::LoadU(d, from), at);
          at = hn::Add(at, places_apart);
        }
        HWY_UNROLL(6)
        for (std::size_t p = 0; p < K::planes; ++p) hn::StoreU(s[p], DL(), state + p * lanes);
      }
    }
  }
  static void fold(const word_rule& words, const void* data, std::ptrdiff_t along, std::size_t rows,
                   std::size_t columns, std::size_t first, void* states) {
    const rule_vectors<U> rule(words);
    const auto* const x = static_cast<const U*>(data);
    auto* const small = static_cast<lane*>(states);
    const std::size_t times = rows / rows_at_once, whole = times * rows_at_once;
    const bool are_far = static_cast<std::size_t>(std::abs(along)) >= far_bytes / sizeof(U);
    add_rows(rule, x, along, {times, are_far ? rows_at_once : 1, rows_at_once, are_far ? 1 : times}, columns, first,
             small);
    if (whole == rows) return;
    add_rows(rule, x + static_cast<std::ptrdiff_t>(whole) * along, along, {1, 0, rows - whole, 1}, columns,
             first + whole, small);
  }

  static void clear(lane* states, std::size_t columns) {
    constexpr int rest = 64 - 8 * sizeof(lane);  // The lowest and the largest number of lanes are in the upper bits.
    for (std::size_t i = 0; i * width < columns; ++i) {
      for (std::size_t p = 0; p < K::planes; ++p, states += lanes) {
        hn::StoreU(hn::Set(DL(), static_cast<lane>(static_cast<std::int64_t>(K::none(p)) >> rest)), DL(), states);
      }
    }
  }
  static void reset(void* states, std::size_t columns, std::uint64_t* wide) {
    clear(static_cast<lane*>(states), columns);
    for (std::size_t j = 0; j < columns * K::outputs; ++j) wide[j] = K::none(j % K::outputs);
  }
  static void flush(void* states, std::size_t columns, std::uint64_t base, std::uint64_t* wide) {
    const auto* state = static_cast<const lane*>(states);
    std::uint64_t outputs[state_lanes];
    static_assert(state_lanes == width * K::outputs);
    for (std::size_t i = 0; i * width < columns; ++i, state += state_lanes) {
      for (std::size_t p = 0; p < K::planes; ++p) {
        for (std::size_t l = 0; l < lanes; ++l) {
          outputs[K::planes * l + p] = K::output(state[p * lanes + l], p, base);
        }
      }
      const std::size_t columns_here = std::min(width, columns - i * width);
      K::merge(wide + i * width * K::outputs, outputs + (width - columns_here) * K::outputs,
               columns_here * K::outputs);
    }
    clear(static_cast<lane*>(states), columns);
  }
  static void merge(std::uint64_t* into, const std::uint64_t* from, std::size_t columns) {
    K::merge(into, from, columns * K::outputs);
  }

  static constexpr word_loops functions{K::outputs, width, K::planes, lanes * sizeof(lane), K::most_rows, reset,
                                        fold,       flush, merge};
};

template <template <class> class Zeros, class U>
using loops_over_products = product_loops<loops_over<Zeros, U>, U>;

template <template <class> class Kernel, template <template <class> class, class> class Loops = loops_over>
const word_loops* of_width(std::size_t word_bytes) {
  return word_bytes == 1   ? &Loops<Kernel, std::uint8_t>::functions
         : word_bytes == 2 ? &Loops<Kernel, std::uint16_t>::functions
         : word_bytes == 4 ? &Loops<Kernel, std::uint32_t>::functions
                           : &Loops<Kernel, std::uint64_t>::functions;
}

const word_loops* find_loops_of_words(word_kernel kernel, std::size_t word_bytes) {
  switch (kernel) {
    case word_kernel::zeros:
      return of_width<zero_counts>(word_bytes);
    case word_kernel::sum:
      return of_width<word_sums>(word_bytes);
    case word_kernel::squares:
      return of_width<word_squares>(word_bytes);
    case word_kernel::extrema:
      return of_width<word_extrema>(word_bytes);
    case word_kernel::product:
      return of_width<zero_counts, loops_over_products>(word_bytes);
    default:
      return of_width<first_places>(word_bytes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(find_loops_of_words);
const word_loops& find_word_loops(word_kernel kernel, std::size_t word_bytes) {
  return *HWY_DYNAMIC_DISPATCH(find_loops_of_words)(kernel, word_bytes);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
