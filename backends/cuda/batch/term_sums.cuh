// SPDX-License-Identifier: Apache-2.0
// Exact sums of products, and of numbers beside their squares, by additions of doubles that do not round.
//
// A product of floats is a double. A product of doubles is a double and its rounding error. Additions to 1.5 * 2^k
// cut the doubles into parts. The lower bits of such a sum are an integer in units of 2^(k - 52), and subtracting
// the part is exact. The next product of floats is added to the same sum, so that the bits of a chain of products
// are taken once. The units are chosen for the largest factors, so that each product is below 2^51 units of the
// first part.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cuda/batch/pairs.cuh"
#include "backends/cuda/batch/scaled_integer.cuh"

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

/// The units of sums of products, which follow from the largest factors.
template <class T>
struct product_bound {
  static constexpr bool rounds = std::is_same_v<T, double>;
  static constexpr int least = 101, most = 2044;      ///< limits of the biased exponent of all products' bound
  static constexpr int most_unit = most - least - 1;  ///< even, as units of squares are
  int unit;                                           ///< the first part has units of 2^(unit - 972)
  bool is_in_range;                                   ///< all factors are finite, and so are the constants
  template <class Pairs>
  FANIN_HOST_DEVICE explicit product_bound(const Pairs& pairs) {
    constexpr int shift = rounds ? 20 : 23, none = rounds ? 0x7ff : 0xff;  // the exponent of infinities and NaN
    const auto of_x = static_cast<int>(upper_half(pairs.most_of_x()) >> shift);
    const auto of_y = static_cast<int>(upper_half(pairs.most_of_y()) >> shift);
    const int exponent = of_x + of_y + (rounds ? -1022 : 770);
    unit = exponent > least ? exponent - least : 1;  // odd for squares, so that unit_for() is even, also for zeros
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
  /// The most terms in a chain, and the binades above the largest term that a chain takes. The rests of a chain are
  /// added up to one sum.
  static constexpr int longest_chain = rounds ? 4 : 8, of_chain = rounds ? 3 : 4;
  /// A unit of a part is so many binades above a unit of the next one. A rest is at most half a unit, and all rests
  /// of a chain have to be below 2^51 units of the next part.
  static constexpr int part_bits = rounds ? 49 : 48;
  /// The most terms whose sums these integers hold.
  static constexpr unsigned most_terms = 1u << 11;
  /// The most terms whose sums they hold if a chain is below 2^51 units. Each chain of a vector has 4 floats or more.
  static constexpr unsigned most_of_group = 1u << (rounds ? 12 : 14);
  std::uint64_t product[3] = {}, root[2] = {};  ///< in two's complement
  /// The upper bit is 1 if all products have the sign bit; with Roots, if all numbers have it.
  std::uint32_t signs = ~0u;

  /// Calls f(word) for all sums that a window may have.
  template <class F>
  FANIN_HOST_DEVICE void change_each(const F& f) {
    for (int k = 0; k < window_parts; ++k) f(product[k]);
    for (int k = 0; k < window_roots; ++k) f(root[k]);
  }

  /// The chains of N terms that go to so many sums: of up to longest_chain terms each, if these are added in a
  /// window.
  template <int Parts, int N, int Sums>
  static constexpr int chains_of = Parts == 3 ? N : std::max(N / longest_chain, Sums);

  /// Adds the terms of pairs. The terms of pair i go to sums i % Sums. Parts is the number of parts of a product,
  /// and if products round, one more part is for their rounding errors. RootParts is the number of parts of a
  /// number. Returns false, and adds nothing, if a term or the terms of a chain are too large, or leave a rest.
  /// `again` says that another call was made for these pairs.
  template <int Parts, int RootParts, int Sums, class Pairs>
  FANIN_HOST_DEVICE static bool add(term_sums (&to)[Sums], const Pairs& pairs, int unit, bool again) {
    constexpr int N = Pairs::count, all_parts = rounds ? 3 : Parts, chains = chains_of<Parts, N, Sums>;
    // The exponents of numbers show whether their squares leave no rests.
    constexpr bool checks_numbers = Pairs::squares && !rounds;
    static_assert(N % chains == 0 && chains % Sums == 0);
    T x[N], y[N];
    pairs.get(x, y, again);
    double constant[3], of_root[2];
    for (int k = 0; k < 3; ++k) constant[k] = part_constant(unit, k);
    // All squares of a chain are below 2^50 units, so that all its numbers are below 2^51 units of theirs.
    if (Roots && chains < N) constant[0] *= 1.75 / 1.5;
    for (int k = 0; k < 2; ++k) of_root[k] = cutting_constant(unit / 2 + root_exponent - root_bits * k);
    double shifted[chains][3], of_numbers[chains][2];
    for (int c = 0; c < chains; ++c) {
      for (int k = 0; k < 3; ++k) shifted[c][k] = constant[k];
      for (int k = 0; k < 2; ++k) of_numbers[c][k] = of_root[k];
    }
    term_sums more[Sums] = {};
    std::uint32_t outside = 0, smallest = ~0u, rests = 0;
    bool has_rest = false;
    if constexpr (checks_numbers) has_rest = !pairs.are_multiples(x, least_place(unit, Parts));
    for (int i = 0; i < N; ++i) {
      const double a = x[i], b = y[i];
      double(&sum)[3] = shifted[i % chains];
      const double before = sum[0], term = rounds ? a * b : 0;
      double rest;
      if constexpr (rounds) {
        smallest = std::min(smallest, upper_half(term) & ~(1u << 31));
        sum[0] = before + term;
        rest = term - (sum[0] - before);
      } else {
        sum[0] = std::fma(a, b, before);
        rest = std::fma(a, b, before - sum[0]);
      }
      // A chain of squares only grows, so that its end shows whether they are too large.
      if (!Pairs::squares || i + chains >= N) outside |= upper_half(sum[0]) ^ upper_half(constant[0]);
      // Cuts the rest from part `begin` on.
      const auto cut = [&](int begin, int end) {
        for (int k = begin; k < end; ++k) {
          const double last = sum[k];
          sum[k] = last + rest;
          const double part = sum[k] - last;
          if (k + 1 < end) {
            rest -= part;
          } else if (!checks_numbers) {
            has_rest |= part != rest;
          }
        }
      };
      cut(1, Parts);
      if (Parts == 1 && !checks_numbers) rests |= upper_half(rest);
      if constexpr (rounds) {
        rest = std::fma(a, b, -term);  // an error is below a quarter of the first part's unit
        cut(1, 3);
      }
      term_sums& mine = more[i % Sums];
      mine.signs &= Roots ? upper_half(x[i]) : upper_half(x[i]) ^ upper_half(y[i]);
      if constexpr (Roots) {
        // A square is below 2^(unit - 921), and its root below 2^51 units of the first part. The last part has no
        // rest if the squares have none.
        double number = a;
        for (int k = 0; k < RootParts; ++k) {
          double& of_number = of_numbers[i % chains][k];
          const double last = of_number;
          of_number += number;
          number -= of_number - last;
        }
      }
      if (i + chains < N) continue;
      const auto bits = [](double last, double first) { return detail::to_bits(last) - detail::to_bits(first); };
      for (int k = 0; k < all_parts; ++k) mine.product[k] += bits(sum[k], constant[k]);
      for (int k = 0; Roots && k < RootParts; ++k) mine.root[k] += bits(of_numbers[i % chains][k], of_root[k]);
    }
    // Three parts have units for these pairs, so that no term is too large, though one may be rounded to 2^51 units.
    if ((Parts < 3 && outside >> 20 != 0) || rests != 0 || has_rest) return false;
    if constexpr (rounds) {
      if (smallest >> 20 < product_bound<T>::least && has_rounded_errors(pairs)) return false;
    }
    for (int s = 0; s < Sums; ++s) {
      for (int k = 0; k < all_parts; ++k) to[s].product[k] += more[s].product[k];
      for (int k = 0; Roots && k < RootParts; ++k) to[s].root[k] += more[s].root[k];
      to[s].signs &= more[s].signs;
    }
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
    // The sum is product[0] * 2^(2 part_bits) + product[1] * 2^part_bits + product[2].
    constexpr int up = 2 * part_bits - 64;
    const auto part = [&](int k) { return static_cast<std::int64_t>(product[k]); };
    const std::uint64_t low = (product[1] << part_bits) + product[2];
    const std::int64_t middle = (part(1) >> (64 - part_bits)) + (part(2) >> 63) + (low < product[2] ? 1 : 0);
    const std::uint64_t upper = product[0] << up, next = static_cast<std::uint64_t>(middle) + upper;
    const std::int64_t high = (part(0) >> (64 - up)) + (middle >> 63) + (next < upper ? 1 : 0);
    const std::uint64_t words[] = {low, next, static_cast<std::uint64_t>(high)};
    const std::uint32_t positive = Roots ? product_sum::has_positive : ~signs & product_sum::has_positive;
    return scaled_state<product_sum>(words, unit + 102 - 2 * part_bits, positive | (fits ? 0 : product_sum::unfit));
  }
  /// The sum of the numbers. The units of its last part are the roots of the squares' last units.
  FANIN_HOST_DEVICE number_sum numbers(int unit) const {
    const std::uint64_t upper = root[0] << root_bits, low = upper + root[1];
    const std::int64_t high = (static_cast<std::int64_t>(root[0]) >> (64 - root_bits)) +
                              (static_cast<std::int64_t>(root[1]) >> 63) + (low < upper ? 1 : 0);
    const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
    return scaled_state<number_sum>(words, unit / 2 + 51 - part_bits, ~signs & number_sum::has_positive);
  }

 private:
  /// The exponent of a number's first part, below 2^51 units of which all numbers are, is root_exponent + unit / 2.
  static constexpr int root_bits = 24, root_exponent = rounds ? 564 : 565;
  /// The square of 2^least_place() is a multiple of the unit of the last one of so many parts.
  FANIN_HOST_DEVICE static int least_place(int unit, int parts) { return (unit + 1) / 2 - 486 - 24 * (parts - 1); }
  FANIN_HOST_DEVICE static double part_constant(int unit, int part) {
    return cutting_constant(unit + product_bound<T>::least + 2 - part_bits * part);
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
  /// The numbers of parts of a product and of a number. Runs of 16-bit floats often have a rest of one part.
  static constexpr int parts = sizeof(typename A::element) == 1 ? 1 : 2,
                       root_parts = std::is_same_v<T, double> ? 2 : 1;
  /// Binades by which terms may become larger, with those that a chain takes. Units of squares are even.
  static constexpr int headroom = sums::of_chain > 0 ? 5 : 4;

 public:
  /// Adds the terms of pairs, for which there is room. Returns false, and adds nothing, if they do not fit.
  template <class Pairs>
  FANIN_HOST_DEVICE bool add(const Pairs& pairs) {
    return add<parts>(pairs, false);
  }
  FANIN_HOST_DEVICE bool has_room(int terms) const { return left_ >= static_cast<unsigned>(terms); }
  /// Adds the terms of a few pairs, for which add() has returned false, by other means. If they still do not fit,
  /// returns false and leaves them to the caller. Calls flush() as close() does.
  template <class Pairs, class F>
  FANIN_HOST_DEVICE bool add_again(const Pairs& pairs, const F& flush) {
    if (bound(pairs).unit + sums::of_chain > unit_ || !has_room(Pairs::count / Sums))
      change_unit(unit_for(pairs), flush);
    return add<2>(pairs, true);
  }
  /// Adds the terms of pairs. each(f) calls f(few) for parts of the pairs, so that rare code is short.
  template <class Pairs, class F, class Each>
  FANIN_HOST_DEVICE void add(const Pairs& pairs, const F& flush, const Each& each) {
    if (!has_room(Pairs::count)) change_unit(unit_for(pairs), flush);
    if (add(pairs)) return;
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
  template <int Parts, class Pairs>
  FANIN_HOST_DEVICE bool add(const Pairs& pairs, bool again) {
    const bool fit = sums::template add<Parts, root_parts>(sums_, pairs, unit_, again);
    if (fit) left_ -= Pairs::count / Sums;
    return fit;
  }

  sums sums_[Sums];
  int unit_ = -1;      ///< the unit of sums_, or below 0 if there is none
  unsigned left_ = 0;  ///< terms that still fit in each
};

}  // namespace fanin::cuda
