// SPDX-License-Identifier: Apache-2.0
// Exact sums of products, and of numbers beside their squares, by additions of doubles that do not round.
//
// A product of floats is a double. A product of doubles is a double and its rounding error. Additions of 1.5 * 2^k
// cut the doubles into parts. The lower bits of such a sum are an integer in units of 2^(k - 52), and subtracting
// the part is exact. The units are chosen for the largest factors, so that each product is below 2^153 units of
// the last part.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cuda/batch/scaled_integer.cuh"
#include "backends/cuda/numbers.hpp"

namespace fanin::cuda {

/// Sums of products. The least place has the lowest bit of the last part where the largest product is 2^-922.
using product_sum = scaled_integer<7, -1074>;
/// Sums of numbers whose squares are summed. The square of a unit of a number is a unit of the squares.
using number_sum = scaled_integer<5, -537>;

/// The constant for units of 2^(exponent - 1075).
FANIN_HOST_DEVICE inline double cutting_constant(int exponent) {
  return detail::from_bits<double>(std::uint64_t{static_cast<unsigned>(exponent)} << 52 | std::uint64_t{1} << 51);
}

/// The integer of the words, in two's complement and least significant first, in units of 2^(unit + Low).
template <class State, int N>
FANIN_HOST_DEVICE State scaled_state(const std::uint64_t (&word)[N], int unit, std::uint32_t flags) {
  constexpr int words = std::extent_v<decltype(State::word)>;
  static_assert(words > 2 * N);
  std::uint32_t in[words + 1] = {};  // below the integer there are zeros
  for (int i = 0; i < N; ++i) {
    in[1 + 2 * i] = static_cast<std::uint32_t>(word[i]);
    in[2 + 2 * i] = static_cast<std::uint32_t>(word[i] >> 32);
  }
  for (int i = 2 * N + 1; i <= words; ++i) in[i] = static_cast<std::int64_t>(word[N - 1]) < 0 ? ~0u : 0;
  const unsigned shift = static_cast<unsigned>(unit) % 32;
  State s;
  for (int i = 0; i < words; ++i) {
    s.word[i] = static_cast<std::uint32_t>((std::uint64_t{in[i + 1]} << 32 | in[i]) << shift >> 32);
  }
  s.tag = static_cast<std::uint32_t>(unit) / 32 | flags;
  return s;
}

/// The upper half of a number's bits.
FANIN_HOST_DEVICE inline std::uint32_t upper_half(float x) { return detail::to_bits(x); }
FANIN_HOST_DEVICE inline std::uint32_t upper_half(double x) {
  return static_cast<std::uint32_t>(detail::to_bits(x) >> 32);
}
/// A pair of numbers.
template <class T>
class pair_of_numbers {
 public:
  using number = T;
  static constexpr int count = 1;
  FANIN_HOST_DEVICE pair_of_numbers(T x, T y) : x_(x), y_(y) {}
  FANIN_HOST_DEVICE T most_of_x() const { return std::abs(x_); }
  FANIN_HOST_DEVICE T most_of_y() const { return std::abs(y_); }
  FANIN_HOST_DEVICE void get(T (&x)[1], T (&y)[1], bool) const { x[0] = x_, y[0] = y_; }

 private:
  T x_, y_;
};

/// The registers of N words.
template <class Word, int N>
using registers_of_words = std::uint32_t[N * sizeof(Word) / sizeof(std::uint32_t)];

/// Word i of the words in registers.
template <class Word, int Registers>
FANIN_HOST_DEVICE Word word_in(const std::uint32_t (&x)[Registers], int i) {
  if constexpr (sizeof(Word) == 8) {
    return std::uint64_t{x[2 * i + 1]} << 32 | x[2 * i];
  } else {
    constexpr int per_register = 4 / sizeof(Word);
    return static_cast<Word>(x[i / per_register] >> 8 * sizeof(Word) * (i % per_register));
  }
}

/// N pairs of words, which Words reads as numbers; with Squares, of a word and itself.
template <class Word, int N, bool Squares, class Words = word_numbers<Word>>
class pairs_of_words {
  using words = Words;
  using registers = registers_of_words<Word, N>;

 public:
  using number = typename words::number;
  static constexpr int count = N;
  FANIN_HOST_DEVICE pairs_of_words(const registers& x, const registers& y, const element_rule& rule)
      : x_(x), y_(y), rule_(rule) {}
  FANIN_HOST_DEVICE number most_of_x() const { return most_of(x_); }
  FANIN_HOST_DEVICE number most_of_y() const { return most_of(y_); }
  /// Numbers that are read `again` take no registers until then.
  FANIN_HOST_DEVICE void get(number (&x)[N], number (&y)[N], bool again) const {
    get(x_, x, again);
    if (Squares) {
      for (int i = 0; i < N; ++i) y[i] = x[i];
    } else {
      get(y_, y, again);
    }
  }

 private:
  FANIN_HOST_DEVICE number most_of(const registers& x) const {
    using packed = packed_words<Word>;
    packed size[N * sizeof(Word) / sizeof(packed)];
    std::memcpy(size, x, sizeof x);
    for (packed& one : size) one &= ~upper_bits<Word>;
    Word sizes[N];
    std::memcpy(sizes, size, sizeof sizes);
    return words::read(extreme_word<true>(sizes), rule_);
  }
  FANIN_HOST_DEVICE void get(const registers& from, number (&to)[N], bool again) const {
    registers x;
    std::memcpy(x, from, sizeof x);
    if (again) {
      // The compiler does not know that these are the same words, and so keeps no numbers of theirs.
      NV_IF_TARGET(NV_IS_DEVICE, (for (std::uint32_t& one : x) asm volatile("" : "+r"(one));))
    }
    Word words_of_x[N];
    for (int i = 0; i < N; ++i) words_of_x[i] = word_in<Word>(x, i);
    words::read_all(words_of_x, to, rule_);
  }

  const registers& x_;
  const registers& y_;
  const element_rule& rule_;
};

/// The units of sums of products, which follow from the largest factors.
template <class T>
struct product_bound {
  static constexpr bool rounds = std::is_same_v<T, double>;
  static constexpr int least = 101, most = 2044;  ///< limits of the biased exponent of all products' bound
  static constexpr int most_unit = most - least;
  int unit;          ///< the last part has units of 2^(unit - 1074)
  bool is_in_range;  ///< all factors are finite, and so are the constants
  template <class Pairs>
  FANIN_HOST_DEVICE explicit product_bound(const Pairs& pairs) {
    constexpr int shift = rounds ? 20 : 23, none = rounds ? 0x7ff : 0xff;  // the exponent of infinities and NaN
    const auto of_x = static_cast<int>(upper_half(pairs.most_of_x()) >> shift);
    const auto of_y = static_cast<int>(upper_half(pairs.most_of_y()) >> shift);
    const int exponent = of_x + of_y + (rounds ? -1022 : 770);
    unit = exponent > least ? exponent - least : 0;
    is_in_range = of_x < none && of_y < none && exponent <= most;
  }
};

/// The sums of the parts of products of numbers T. With Roots the products are squares of numbers, and there are
/// also the sums of the parts of these numbers.
template <class T, bool Roots>
struct term_sums {
  using bound = product_bound<T>;
  static constexpr bool of_products = true, adds_numbers = Roots, rounds = bound::rounds;
  /// The parts that the terms of a window have at most.
  static constexpr int window_parts = rounds ? 3 : 2, window_roots = !Roots ? 0 : rounds ? 2 : 1;
  /// The most terms whose sums these integers hold.
  static constexpr unsigned most_terms = 1u << 11;
  /// The most terms whose sums they hold if a term is below 2^51 units.
  static constexpr unsigned most_of_group = 1u << 12;
  std::uint64_t product[3] = {}, root[2] = {};  ///< in two's complement
  /// The upper bit is 1 if all products have the sign bit; with Roots, if all numbers have it.
  std::uint32_t signs = ~0u;

  /// Calls f(word) for all sums that a window may have.
  template <class F>
  FANIN_HOST_DEVICE void change_each(const F& f) {
    for (int k = 0; k < window_parts; ++k) f(product[k]);
    for (int k = 0; k < window_roots; ++k) f(root[k]);
  }

  /// Adds the terms of pairs. The terms of pair i go to sums i % Sums. Parts is the number of parts of a product,
  /// and if products round, one more part is for their rounding errors. RootParts is the number of parts of a
  /// number. Returns false if a term is too large or leaves a rest. With Undo the same terms are taken back.
  /// `again` says that another call was made for these pairs.
  template <int Parts, int RootParts, bool Undo = false, int Sums, class Pairs>
  FANIN_HOST_DEVICE static bool add(term_sums (&to)[Sums], const Pairs& pairs, int unit, bool again) {
    constexpr int N = Pairs::count, all_parts = rounds ? 3 : Parts, of_sum = N / Sums;
    static_assert(N % Sums == 0);
    T x[N], y[N];
    pairs.get(x, y, again);
    double constant[3], of_root[2];
    for (int k = 0; k < 3; ++k) constant[k] = part_constant(unit, k);
    for (int k = 0; k < 2; ++k) of_root[k] = cutting_constant(unit / 2 + 564 - 26 * k);
    const auto note = [](std::uint64_t& sum, std::uint64_t more) { Undo ? sum -= more : sum += more; };
    for (term_sums& one : to) {
      for (int k = 0; k < all_parts; ++k) note(one.product[k], 0 - of_sum * detail::to_bits(constant[k]));
      for (int k = 0; Roots && k < RootParts; ++k) note(one.root[k], 0 - of_sum * detail::to_bits(of_root[k]));
    }
    std::uint32_t signs[Sums];
    for (std::uint32_t& one : signs) one = ~0u;
    std::uint32_t outside = 0, smallest = ~0u, rests = 0;
    bool has_rest = false;
    for (int i = 0; i < N; ++i) {
      const double a = x[i], b = y[i];
      const double term = rounds ? a * b : 0;
      double shifted[3], rest;
      if constexpr (rounds) {
        smallest = std::min(smallest, upper_half(term) & ~(1u << 31));
        shifted[0] = term + constant[0];
        rest = term - (shifted[0] - constant[0]);
      } else {
        shifted[0] = std::fma(a, b, constant[0]);
        rest = std::fma(a, b, constant[0] - shifted[0]);
      }
      outside |= upper_half(shifted[0]) ^ upper_half(constant[0]);
      // Cuts the rest from part `begin` on, in which before[begin], ... were added to the constants.
      const auto cut = [&](int begin, int end, const double(&before)[3]) {
        for (int k = begin; k < end; ++k) {
          shifted[k] = before[k] + rest;
          const double part = shifted[k] - before[k];
          if (k + 1 < end) {
            rest -= part;
          } else {
            has_rest |= part != rest;
          }
        }
      };
      cut(1, Parts, constant);
      if (Parts == 1) rests |= upper_half(rest);
      if constexpr (rounds) {
        // An error is below a quarter of the first part's unit.
        rest = std::fma(a, b, -term);
        for (int k = Parts; k < 3; ++k) shifted[k] = constant[k];
        const double before[] = {0, shifted[1], shifted[2]};
        cut(1, 3, before);
      }
      term_sums& sums = to[i % Sums];
      for (int k = 0; k < all_parts; ++k) note(sums.product[k], detail::to_bits(shifted[k]));
      signs[i % Sums] &= Roots ? upper_half(x[i]) : upper_half(x[i]) ^ upper_half(y[i]);
      if constexpr (Roots) {
        // A square is below 2^(unit - 921), and its root below 2^51 units of the first part. The last part has no
        // rest if the squares have none.
        double number = a;
        for (int k = 0; k < RootParts; ++k) {
          const double of_number = number + of_root[k];
          number -= of_number - of_root[k];
          note(sums.root[k], detail::to_bits(of_number));
        }
      }
    }
    // Three parts have units for these pairs, so that no term is too large, though one may be rounded to 2^51 units.
    if ((Parts < 3 && outside >> 20 != 0) || rests != 0 || has_rest) return false;
    if constexpr (rounds) {
      if (smallest >> 20 < product_bound<T>::least && has_rounded_errors(pairs)) return false;
    }
    for (int k = 0; k < Sums; ++k) to[k].signs &= signs[k];
    return true;
  }

  /// The state of A, whose sums these are, of pairs whose terms have units of their own.
  template <class A, class Pairs>
  FANIN_HOST_DEVICE static typename A::state state_of(const Pairs& pairs) {
    const bound found(pairs);
    term_sums all[1];
    const bool fits = found.is_in_range && add<3, 2>(all, pairs, found.unit, true);
    return A::state_of(all[0], found.unit, fits);
  }

  /// The sum of the products.
  FANIN_HOST_DEVICE product_sum products(int unit, bool fits) const {
    // product[0] * 2^102 + product[1] * 2^51 + product[2]
    const auto part = [&](int k) { return static_cast<std::int64_t>(product[k]); };
    const std::uint64_t low = (product[1] << 51) + product[2];
    const std::int64_t middle = (part(1) >> 13) + (part(2) >> 63) + (low < product[2] ? 1 : 0);
    const std::uint64_t upper = product[0] << 38, next = static_cast<std::uint64_t>(middle) + upper;
    const std::int64_t high = (part(0) >> 26) + (middle >> 63) + (next < upper ? 1 : 0);
    const std::uint64_t words[] = {low, next, static_cast<std::uint64_t>(high)};
    const std::uint32_t positive = Roots ? product_sum::has_positive : ~signs & product_sum::has_positive;
    return scaled_state<product_sum>(words, unit, positive | (fits ? 0 : product_sum::unfit));
  }
  /// The sum of the numbers. Its second part has units of 2^(unit / 2 - 537).
  FANIN_HOST_DEVICE number_sum numbers(int unit) const {
    const std::uint64_t upper = root[0] << 26, low = upper + root[1];
    const std::int64_t high = (static_cast<std::int64_t>(root[0]) >> 38) +
                              (static_cast<std::int64_t>(root[1]) >> 63) + (low < upper ? 1 : 0);
    const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
    return scaled_state<number_sum>(words, unit / 2, ~signs & number_sum::has_positive);
  }

 private:
  FANIN_HOST_DEVICE static double part_constant(int unit, int part) {
    return cutting_constant(unit + product_bound<T>::least + 2 - 51 * part);
  }
  /// Whether a product is so small that its error may itself be rounded.
  template <class Pairs>
  FANIN_HOST_DEVICE static bool has_rounded_errors(const Pairs& pairs) {
    constexpr int N = Pairs::count;
    T x[N], y[N];
    pairs.get(x, y, true);
    bool found = false;
    for (int i = 0; i < N; ++i) {
      const std::uint32_t size = upper_half(static_cast<double>(x[i]) * static_cast<double>(y[i])) & ~(1u << 31);
      found |= size >> 20 < product_bound<T>::least && x[i] != 0 && y[i] != 0;
    }
    return found;
  }
};

/// Adds terms in the same units as long as these fit, and gives states of A where they do not. Pair i goes to sum
/// i % Sums.
template <class A, int Sums = 1>
class term_window {
  using T = typename A::number;
  using sums = typename A::sums;
  using bound = typename sums::bound;
  /// The numbers of parts of a product and of a number.
  static constexpr int parts = A::digits <= 12 ? 1 : 2, root_parts = std::is_same_v<T, double> ? 2 : 1;
  static constexpr int headroom = 4;  ///< binades by which products may become larger

 public:
  /// Adds the terms of pairs, for which there is room. Returns false if they do not fit. take_back() then has to be
  /// called for these pairs, or for all parts of them.
  template <class Pairs>
  FANIN_HOST_DEVICE bool add(const Pairs& pairs) {
    left_ -= Pairs::count / Sums;
    return sums::template add<parts, root_parts>(sums_, pairs, unit_, false);
  }
  template <class Pairs>
  FANIN_HOST_DEVICE void take_back(const Pairs& pairs) {
    left_ += Pairs::count / Sums;
    sums::template add<parts, root_parts, true>(sums_, pairs, unit_, true);
  }
  FANIN_HOST_DEVICE bool has_room(int terms) const { return left_ >= static_cast<unsigned>(terms); }
  /// Adds the terms of a few pairs, for which add() has returned false, by other means. If they still do not fit,
  /// returns false and leaves them to the caller. Calls flush() as close() does.
  template <class Pairs, class F>
  FANIN_HOST_DEVICE bool add_again(const Pairs& pairs, const F& flush) {
    if (bound(pairs).unit > unit_ || !has_room(Pairs::count / Sums)) change_unit(unit_for(pairs), flush);
    left_ -= Pairs::count / Sums;
    if (sums::template add<2, root_parts>(sums_, pairs, unit_, true)) return true;
    left_ += Pairs::count / Sums;
    sums::template add<2, root_parts, true>(sums_, pairs, unit_, true);
    return false;
  }
  /// Adds the terms of pairs. each(f) calls f(few) for parts of the pairs, so that rare code is short.
  template <class Pairs, class F, class Each>
  FANIN_HOST_DEVICE void add(const Pairs& pairs, const F& flush, const Each& each) {
    if (!has_room(Pairs::count)) change_unit(unit_for(pairs), flush);
    if (add(pairs)) return;
    take_back(pairs);
    if (is_empty()) restart(unit_for(pairs));
    each([&](const auto& few) {
      if (!add_again(few, flush)) flush(state_of(few));
    });
  }
  /// Calls flush(state) with the state of the terms that are here, if there are any; flush(state, i) for each of
  /// several sums.
  template <class F>
  FANIN_HOST_DEVICE void close(const F& flush) {
    if (!is_empty()) {
      if constexpr (Sums == 1) {
        flush(A::state_of(sums_[0], unit_, true));
      } else {
        FANIN_ROLLED for (int i = 0; i < Sums; ++i) {
          flush(A::state_of(sums_[0], unit_, true), i);
          for (int k = 0; k + 1 < Sums; ++k) sums_[k] = sums_[k + 1];
        }
      }
    }
    restart(unit_);
  }
  /// The unit with which more than these pairs fit.
  template <class Pairs>
  FANIN_HOST_DEVICE static int unit_for(const Pairs& pairs) {
    return std::min(bound(pairs).unit + headroom, int{bound::most_unit});
  }
  template <class F>
  FANIN_HOST_DEVICE void change_unit(int unit, const F& flush) {
    close(flush);
    restart(unit);
  }
  FANIN_HOST_DEVICE void restart(int unit) {
    for (sums& one : sums_) one = {};
    unit_ = unit;
    left_ = unit < 0 ? 0 : sums::most_terms;
  }
  FANIN_HOST_DEVICE bool is_empty() const { return unit_ < 0 || left_ == sums::most_terms; }
  FANIN_HOST_DEVICE int unit() const { return unit_; }
  FANIN_HOST_DEVICE const sums& of_terms() const { return sums_[0]; }
  /// The state of pairs whose terms have units of their own.
  template <class Pairs>
  FANIN_HOST_DEVICE static typename A::state state_of(const Pairs& pairs) {
    return sums::template state_of<A>(pairs);
  }

 private:
  sums sums_[Sums];
  int unit_ = -1;      ///< the unit of sums_, or below 0 if there is none
  unsigned left_ = 0;  ///< terms that still fit in each
};

}  // namespace fanin::cuda
