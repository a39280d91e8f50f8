// SPDX-License-Identifier: Apache-2.0
// Compares elements by integers. A word of 8, 16, 32 or 64 bits becomes a key, which is larger the nearer the
// element is to the wanted extremum; every NaN has the largest key. So one kernel for each width serves integers and
// floats of all formats, minima and maxima.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <nv/target>

#include <fanin/recipe.hpp>

namespace fanin::cuda {

/// The facts about elements that kernels need at run time. Patterns are bits of a word, repeated in all 64 bits.
/// The key of a word is word ^ inverts, and also ^ flips if the upper bit of the word is 1. The key of a NaN is
/// all ones.
struct element_rule {
  operation what{};
  std::uint64_t flips = 0;
  std::uint64_t inverts = 0;
  /// The sum of a magnitude and `above` has the upper bit only for a NaN. `above` is 0 if nothing is NaN.
  std::uint64_t above = 0;
  std::uint64_t nan = 0;         ///< the canonical NaN
  std::uint64_t least_none = 0;  ///< the word that stands for the smallest of no elements
  std::uint64_t most_none = 0;   ///< the word that stands for the largest of no elements
  /// The next members say how words become numbers, and these terms of sums (numbers.hpp).
  element_type type{};
  std::uint64_t sign = 0;   ///< the sign bit of a word; 0 if the type has none
  bool magnitudes = false;  ///< terms are magnitudes
  bool squares = false;     ///< terms are squares
};

/// The unsigned integer of the size of a T.
template <class T>
using word_for =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
template <class Word>
inline constexpr Word upper_bit = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));

/// The bits of x, repeated.
template <class T>
std::uint64_t repeated_bits(T x) {
  word_for<T> word;
  static_assert(sizeof word == sizeof x);
  std::memcpy(&word, &x, sizeof x);
  return word * (~std::uint64_t{0} / std::numeric_limits<word_for<T>>::max());
}

/// The rule of an operation that compares elements of type T.
template <class T>
element_rule key_rule(operation what) {
  using number = computed_as<T>;
  element_rule rule;
  rule.what = what;
  const std::uint64_t sign = repeated_bits(upper_bit<word_for<T>>);
  const operation_row& row = row_of(what);
  const bool is_extremum = row.seeks != extremity::none && row.result != result_rule::truth;
  const bool is_least = is_extremum && row.seeks == extremity::least;
  if constexpr (floating<T>) {
    using limits = std::numeric_limits<T>;
    if (is_extremum && row.result != result_rule::magnitude) {
      rule.flips = ~sign;
      rule.inverts = sign;
    } else {
      rule.flips = sign;
    }
    if (is_extremum) rule.above = ~sign - repeated_bits(limits::has_infinity ? limits::infinity() : limits::max());
    rule.nan = repeated_bits(limits::quiet_NaN());
  } else if (is_extremum && std::is_signed_v<T>) {
    rule.inverts = sign;
  }
  if (is_least) rule.inverts = ~rule.inverts;
  rule.least_none = repeated_bits(static_cast<T>(accumulator::smallest<number>::identity()));
  rule.most_none = repeated_bits(static_cast<T>(accumulator::largest<number>::identity()));
  return rule;
}
/// The rule of an operation. Complex elements are read without one.
inline element_rule rule_of(operation what, element_type type) {
  return with_element(type, [&]<class T>() {
    element_rule rule;
    if constexpr (!complex_number<T>) {
      if (row_of(what).unrounded) rule = key_rule<T>(what);
      if (floating<T> || std::is_signed_v<T>) rule.sign = repeated_bits(upper_bit<word_for<T>>);
    }
    rule.what = what;
    rule.type = type;
    const summand adds = row_of(what).adds;
    rule.squares = adds == summand::squares;
    // A square is computed from the magnitude, which has as many bits as a word.
    rule.magnitudes = adds == summand::magnitudes || rule.squares;
    return rule;
  });
}

/// The integer in which words are packed, and a pattern of its words.
template <class Word>
using packed_words = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
template <class Word>
inline constexpr packed_words<Word> each_word = static_cast<packed_words<Word>>(~std::uint64_t{0}) /
                                                static_cast<Word>(~Word{0});
template <class Word>
inline constexpr packed_words<Word> upper_bits = each_word<Word>* upper_bit<Word>;

/// All ones in words whose upper bit is 1, and zeros in other words.
template <class Word, class Packed = packed_words<Word>>
FANIN_HOST_DEVICE Packed masks_of_upper_bits(Packed packed) {
  if constexpr (sizeof(Word) == sizeof(Packed)) {
    return static_cast<Packed>(static_cast<std::make_signed_t<Packed>>(packed) >> (8 * sizeof(Word) - 1));
  } else {
    // A selector of prmt from 8 on copies the upper bit of a byte to all its bits.
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (Packed replicated; asm("prmt.b32 %0, %1, %1, %2;"
                                              : "=r"(replicated)
                                              : "r"(packed), "n"(sizeof(Word) == 2 ? 0xbb99 : 0xba98));
                       return replicated;),
                      (return ((packed & upper_bits<Word>) >> (8 * sizeof(Word) - 1)) * static_cast<Word>(~Word{0});))
  }
}

/// The keys of the words in `packed`.
template <class Word, class Packed = packed_words<Word>>
FANIN_HOST_DEVICE Packed keys_of_words(Packed packed, const element_rule& rule) {
  const Packed keys = packed ^ (masks_of_upper_bits<Word>(packed) & static_cast<Packed>(rule.flips));
  const Packed above = (packed & ~upper_bits<Word>)+static_cast<Packed>(rule.above);
  return (keys ^ static_cast<Packed>(rule.inverts)) | masks_of_upper_bits<Word>(above);
}
template <class Word>
FANIN_HOST_DEVICE Word key_of_word(Word word, const element_rule& rule) {
  return static_cast<Word>(keys_of_words<Word>(static_cast<packed_words<Word>>(word), rule));
}

/// The larger words of two integers of packed words, or the smaller ones.
template <class Word, bool Largest, class Packed = packed_words<Word>>
FANIN_HOST_DEVICE Packed extreme_words(Packed a, Packed b) {
  if constexpr (sizeof(Word) == sizeof(Packed)) {
    return (Largest ? a < b : b < a) ? b : a;
  } else {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (
                          if constexpr (sizeof(Word) == 2) {
                            return Largest ? __vmaxu2(a, b) : __vminu2(a, b);
                          } else { return Largest ? __vmaxu4(a, b) : __vminu4(a, b); }),
                      (Packed found = 0; for (unsigned i = 0; i < sizeof(Packed); i += sizeof(Word)) {
                        const auto x = static_cast<Word>(a >> 8 * i), y = static_cast<Word>(b >> 8 * i);
                        found |= static_cast<Packed>((Largest ? x < y : y < x) ? y : x) << 8 * i;
                      } return found;))
  }
}
/// The largest or the smallest of the words.
template <bool Largest, class Word, int N>
FANIN_HOST_DEVICE Word extreme_word(const Word (&x)[N]) {
  packed_words<Word> registers[N * sizeof(Word) / sizeof(packed_words<Word>)];
  std::memcpy(registers, x, sizeof x);
  auto best = registers[0];
  for (std::size_t i = 1; i < std::size(registers); ++i) best = extreme_words<Word, Largest>(best, registers[i]);
  for (unsigned bits = 4 * sizeof best; bits >= 8 * sizeof(Word); bits /= 2) {
    best = extreme_words<Word, Largest>(best, best >> bits | best << bits);
  }
  return static_cast<Word>(best);
}

/// The number of words whose keys by a rule of a count are not 0. These keys are the words without the bits in
/// `flips`.
template <class Word, int N>
FANIN_HOST_DEVICE std::uint32_t nonzero_words(const Word (&x)[N], const element_rule& rule) {
  using packed = packed_words<Word>;
  const auto kept = static_cast<packed>(~rule.flips);
  std::uint32_t found = 0;
  if constexpr (sizeof(Word) == sizeof(packed)) {
    for (const Word one : x) found += (one & kept) != 0 ? 1 : 0;
    return found;
  } else {
    constexpr std::size_t count = N / (sizeof(packed) / sizeof(Word));
    static_assert(count <= 8 * sizeof(Word));
    packed registers[count];
    std::memcpy(registers, x, sizeof x);
    // An upper bit becomes 1 if its word counts. The upper bits of register i are kept i places lower.
    for (std::size_t i = 0; i < count; ++i) {
      const packed carried = (registers[i] & ~upper_bits<Word>)+~upper_bits<Word>;
      found |= ((registers[i] & kept) | carried) >> i & upper_bits<Word> >> i;
    }
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<std::uint32_t>(__popc(static_cast<int>(found)));),
                      (return static_cast<std::uint32_t>(std::popcount(found));))
  }
}

template <class Word>
FANIN_HOST_DEVICE bool is_key_of_nan(Word key, const element_rule& rule) {
  return rule.above != 0 && key == static_cast<Word>(~Word{0});
}
/// The word of a key, or the canonical NaN.
template <class Word>
FANIN_HOST_DEVICE Word word_of_key(Word key, const element_rule& rule) {
  if (is_key_of_nan(key, rule)) return static_cast<Word>(rule.nan);
  const auto word = static_cast<Word>(key ^ static_cast<Word>(rule.inverts));
  return static_cast<Word>(word ^ ((word & upper_bit<Word>) != 0 ? static_cast<Word>(rule.flips) : Word{0}));
}

/// Adds the keys of words to A, an accumulator of unsigned integers.
template <class A>
struct keyed : A {
  using word = typename A::element;
  using rule = element_rule;
  using state = typename A::state;
  FANIN_HOST_DEVICE static word read(word x, const rule& r) { return key_of_word(x, r); }
  template <int N>
  FANIN_HOST_DEVICE static void read_all(const word (&x)[N], word (&keys)[N], const rule& r) {
    packed_words<word> registers[N * sizeof(word) / sizeof(packed_words<word>)];
    std::memcpy(registers, x, sizeof x);
    if ((r.flips | r.above) == 0) {
      for (auto& packed : registers) packed ^= static_cast<packed_words<word>>(r.inverts);
    } else {
      for (auto& packed : registers) packed = keys_of_words<word>(packed, r);
    }
    std::memcpy(keys, registers, sizeof keys);
  }
  /// Adds the keys of a whole vector's words.
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const word (&words)[N],
                                          const rule& r) requires(!accumulator::wants_position<A>()) {
    if constexpr (std::is_same_v<A, accumulator::nonzero_count<word>>) {
      s += nonzero_words(words, r);
    } else {
      word x[N];
      read_all(words, x, r);
      if constexpr (std::is_same_v<state, extremes<word>>) {
        A::merge(s, {extreme_word<false>(x), extreme_word<true>(x)});
      } else {
        A::merge(s, extreme_word<true>(x));
      }
    }
  }
  /// Runs are added in the order of their positions, so that a run with an equal key changes nothing.
  template <int N>
  FANIN_HOST_DEVICE static void add_run(state& s, const word (&x)[N],
                                        std::uint64_t position) requires(accumulator::wants_position<A>()) {
    const word best = extreme_word<true>(x);
    const bool is_first = static_cast<std::int64_t>(s.index) < 0;
    if (is_first | (s.value < best)) s = {best, position};
  }
};
template <class A>
inline constexpr bool is_keyed = false;
template <class A>
inline constexpr bool is_keyed<keyed<A>> = true;

/// Calls f(value) with the value of `count` elements whose keys have the state `s`: words in the form of the result.
template <class A, class F>
FANIN_HOST_DEVICE void with_value_of_keys(const typename A::state& s, std::uint64_t count, const element_rule& rule,
                                          const F& f) {
  using word = typename A::word;
  using state = typename A::state;
  const auto least_none = static_cast<word>(rule.least_none), most_none = static_cast<word>(rule.most_none);
  const auto extremum = [&](word key) {
    if (count > 0) return word_of_key(key, rule);
    const bool is_least = rule.what == operation::min || rule.what == operation::argmin;
    return rule.what == operation::max_magnitude ? word{0} : is_least ? least_none : most_none;
  };
  if constexpr (std::is_base_of_v<accumulator::nonzero_count<word>, A>) {
    if (rule.what == operation::count_nonzero) return f(s);
    f(static_cast<std::uint8_t>(rule.what == operation::all ? s == count : s > 0));
  } else if constexpr (std::is_same_v<state, indexed<word>>) {
    f(indexed<word>{extremum(s.value), s.index});
  } else if constexpr (std::is_same_v<state, extremes<word>>) {
    extremes<word> found{least_none, most_none};
    if (count > 0) {
      const bool is_nan = is_key_of_nan(s.max, rule);
      found = {word_of_key(is_nan ? s.max : s.min, rule), word_of_key(s.max, rule)};
    }
    if (rule.what == operation::minmax) return f(found);
    const auto magnitude = [&](word x) {
      const auto wide = static_cast<std::int64_t>(static_cast<std::make_signed_t<word>>(x));
      return rule.inverts != 0 && wide < 0 ? 0 - static_cast<std::uint64_t>(wide) : std::uint64_t{x};
    };
    const std::uint64_t low = magnitude(found.min), high = magnitude(found.max);
    f(count == 0 ? std::uint64_t{0} : low < high ? high : low);
  } else {
    f(extremum(s));
  }
}

/// The state of a recipe's accumulator for elements whose keys have the state `s`. There are elements.
template <class Recipe, class A>
typename Recipe::accumulator::state state_of_keys(const typename A::state& s) {
  using T = typename Recipe::element;
  using word = typename A::word;
  static const element_rule rule = key_rule<T>(Recipe::what);
  const auto number = [&](word key) {
    const word found = word_of_key(key, rule);
    T x;
    std::memcpy(&x, &found, sizeof x);
    return static_cast<computed_as<T>>(x);
  };
  if constexpr (std::is_base_of_v<accumulator::nonzero_count<word>, A>) {
    return s;
  } else if constexpr (std::is_same_v<typename A::state, indexed<word>>) {
    return {number(s.value), s.index};
  } else if constexpr (std::is_same_v<typename A::state, extremes<word>>) {
    const bool is_nan = is_key_of_nan(s.max, rule);
    return {number(is_nan ? s.max : s.min), number(s.max)};
  } else if constexpr (row_of(Recipe::what).result == result_rule::magnitude) {
    return {number(s), number(s)};
  } else {
    return number(s);
  }
}

/// The accumulator of keys that serves a recipe.
template <class Recipe>
struct keyed_accumulator {
  using T = typename Recipe::element;
  using word = word_for<T>;
  static constexpr operation_row row = row_of(Recipe::what);
  static constexpr bool is_count = row.result == result_rule::count || row.result == result_rule::truth;
  static constexpr bool is_both =
      row.form == result_form::extremes || (row.result == result_rule::magnitude && !floating<T>);
  using count_or_one =
      std::conditional_t<is_count, accumulator::nonzero_count<word>, accumulator::extremum<word, true>>;
  using of_numbers = std::conditional_t<is_both, accumulator::both_extrema<word>, count_or_one>;
  using type = keyed<
      std::conditional_t<row.form == result_form::indexed, accumulator::first_extremum<word, true>, of_numbers>>;
};

}  // namespace fanin::cuda
