// SPDX-License-Identifier: Apache-2.0
// The arithmetic in which kernels add and multiply integers, as words of their size: integers of one width share it.
#pragma once

#include <fanin/accumulator/integer.hpp>

#include "backends/cuda/keys.hpp"

namespace fanin::cuda {

/// A signed integer that holds each integer of a word and its magnitude, whether the word has a sign or not.
template <class Word>
using integer_of = std::conditional_t<sizeof(Word) == 8, detail::int128,
                                      std::conditional_t<sizeof(Word) == 4, std::int64_t, std::int32_t>>;
/// The integer of a word, or its magnitude where the rule adds magnitudes.
template <class Word>
FANIN_HOST_DEVICE integer_of<Word> integer_of_word(Word word, const element_rule& rule) {
  using wide = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
  const auto sign = static_cast<Word>(rule.sign);
  // All ones if the integer is negative.
  const auto negative = static_cast<wide>((word & sign) != 0 ? ~wide{0} : 0);
  const auto lower = static_cast<wide>(static_cast<wide>(static_cast<Word>(word ^ sign)) - sign);
  const wide changes = rule.magnitudes ? negative : 0;
  const wide low = (lower ^ changes) - changes, high = negative ^ changes;
  if constexpr (sizeof(Word) < 4) {
    return static_cast<std::int32_t>(low);
  } else {
    using all = std::conditional_t<sizeof(Word) == 4, std::uint64_t, detail::uint128>;
    return static_cast<integer_of<Word>>(static_cast<all>(high) << (8 * sizeof(wide)) | low);
  }
}

/// The integers of N bytes, which are added four at a time.
template <int N>
class bytes_of_vector {
 public:
  FANIN_HOST_DEVICE bytes_of_vector(const std::uint8_t (&x)[N], const element_rule& rule)
      : sign_(static_cast<std::uint32_t>(rule.sign)) {
    std::memcpy(four_, x, sizeof x);
  }
  FANIN_HOST_DEVICE std::uint64_t sum() const {
    // A byte with its sign bit inverted, as an unsigned number, is larger than the integer by the value of that bit.
    const auto larger = sum_of([&](std::uint32_t x) { return products(x ^ sign_, each_word<std::uint8_t>); });
    return larger - N * std::uint64_t{sign_ & 0xff};
  }
  FANIN_HOST_DEVICE std::uint64_t magnitude_sum() const {
    return sum_of([&](std::uint32_t x) { return products(magnitudes(x), each_word<std::uint8_t>); });
  }
  FANIN_HOST_DEVICE std::uint64_t square_sum() const {
    return sum_of([&](std::uint32_t x) { return products(magnitudes(x), magnitudes(x)); });
  }

 private:
  template <class F>
  FANIN_HOST_DEVICE std::uint64_t sum_of(const F& f) const {
    std::uint32_t sum = 0;
    for (const std::uint32_t x : four_) sum += f(x);
    return sum;
  }
  FANIN_HOST_DEVICE std::uint32_t magnitudes(std::uint32_t x) const {
    const std::uint32_t negative = masks_of_upper_bits<std::uint8_t>(x & sign_);
    return (x ^ negative) + (negative & each_word<std::uint8_t>);
  }
  /// The sum of the products of four pairs of bytes.
  FANIN_HOST_DEVICE static std::uint32_t products(std::uint32_t a, std::uint32_t b) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __dp4a(a, b, 0u);),
                      (std::uint32_t sum = 0;
                       for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff); return sum;))
  }

  std::uint32_t four_[N / 4], sign_;
};

/// The exact sum of integers, in two's complement. Words of up to 32 bits have a sum of 64 bits, which holds 2^32
/// terms. The host splits longer input, and adds the sums of the parts in 128 bits.
template <class Word>
struct word_sum {
  using element = Word;
  using rule = element_rule;
  using state = std::conditional_t<sizeof(Word) == 8, detail::int128, std::uint64_t>;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static state read(Word word, const rule& r) {
    const auto x = integer_of_word(word, r);
    if constexpr (sizeof(Word) > 2) {  // Sums of squares of wider integers need more bits.
      return static_cast<state>(x);
    } else {
      const auto square = static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(x);
      return r.squares ? square : static_cast<state>(x);
    }
  }
  FANIN_HOST_DEVICE static void add(state& s, state term) { s += term; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const Word (&x)[N], const rule& r) requires(sizeof(Word) == 1) {
    const bytes_of_vector<N> bytes(x, r);
    s += r.squares ? bytes.square_sum() : r.magnitudes ? bytes.magnitude_sum() : bytes.sum();
  }
};

/// The square of a word, which has twice the bits.
template <class Word>
FANIN_HOST_DEVICE auto square_of(Word size) {
  using square = std::conditional_t<sizeof(Word) == 8, detail::uint128, std::uint64_t>;
  return square{size} * size;
}
template <class Word>
FANIN_HOST_DEVICE bool is_negative(Word word, const element_rule& rule) {
  return (word & static_cast<Word>(rule.sign)) != 0;
}

/// Adds the first `count` of the words x to a state of A, and 0 in place of the others, so that no word has a branch.
template <class A, class Word, int N>
FANIN_HOST_DEVICE void add_first_words(typename A::state& s, const Word (&x)[N], const element_rule& r, int count) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int i = 0; i < N; ++i) A::add(s, A::read(i < count ? x[i] : Word{0}, r));
}

/// The sum of the squares of the integers of words of 32 or 64 bits.
template <class Word>
struct wide_word_squares : accumulator::integer_square_sum<std::int64_t> {
  using element = Word;
  using rule = element_rule;
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const Word (&x)[N], const rule& r, int count) {
    add_first_words<wide_word_squares>(s, x, r, count);
  }
  FANIN_HOST_DEVICE static Word read(Word word, const rule& r) {
    return is_negative(word, r) ? Word{0} - word : word;
  }
  FANIN_HOST_DEVICE static void add(state& s, Word size) {
    if constexpr (sizeof(Word) == 8) {
      merge(s, square_of(size));
    } else {
      s += square_of(size);  // 2^63 squares of 64 bits do not reach the limit.
    }
  }
};

/// The sums of the integers of words of 64 bits, and of their squares.
template <class Word>
struct wide_word_moments : accumulator::integer_dispersion<std::int64_t> {
  using element = Word;
  using rule = element_rule;
  struct integer {
    Word word;
    bool negative;
  };
  FANIN_HOST_DEVICE static integer read(Word word, const rule& r) { return {word, is_negative(word, r)}; }
  FANIN_HOST_DEVICE static void add(state& s, integer x) {
    const detail::int128 above = detail::int128{x.negative} << (8 * sizeof(Word));
    merge(s, {detail::int128{x.word} - above, square_of(x.negative ? Word{0} - x.word : x.word), 0});
  }
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const Word (&x)[N], const rule& r, int count) {
    add_first_words<wide_word_moments>(s, x, r, count);
  }
};

/// The exact sums of at most 2^31 integers of 32 bits, and of their squares.
struct integer_moments_96 {
  std::int64_t sum;
  std::uint64_t squares;
  std::uint32_t squares_high;  ///< the bits from 2^64 up
  FANIN_HOST_DEVICE explicit operator accumulator::integer_moments() const {
    return {sum, detail::uint128{squares_high} << 64 | squares, 0};
  }
  friend bool operator==(const integer_moments_96&, const integer_moments_96&) = default;
};
/// Adds integers of 32 bits, and their squares, in half of the registers of accumulator::integer_dispersion.
template <class T>
struct integer_dispersion_96 {
  using element = T;
  using state = integer_moments_96;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, std::int64_t x) {
    const auto above = static_cast<std::uint32_t>(x >> 32), size = (static_cast<std::uint32_t>(x) ^ above) - above;
    merge(s, {x, square_of(size), 0});
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.sum += other.sum;
    const detail::uint128 squares = detail::uint128{s.squares} + other.squares;
    s.squares = static_cast<std::uint64_t>(squares);
    s.squares_high += other.squares_high + static_cast<std::uint32_t>(squares >> 64);
  }
};
/// The sums of the integers of words of 32 bits, and of their squares.
template <>
struct wide_word_moments<std::uint32_t> : integer_dispersion_96<std::uint32_t> {
  using rule = element_rule;
  FANIN_HOST_DEVICE static std::int64_t read(element word, const rule& r) {
    const auto above = static_cast<std::int32_t>(word & static_cast<element>(r.sign)) >> 31;  // 0 or -1
    return std::int64_t{above} << 32 | word;
  }
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const element (&x)[N], const rule& r, int count) {
    add_first_words<wide_word_moments>(s, x, r, count);
  }
};

/// The sums of the integers of words of up to 16 bits, and of their squares.
template <class Word>
struct word_moments {
  using element = Word;
  using rule = element_rule;
  struct state {
    std::uint64_t sum, square_sum;
    friend bool operator==(const state&, const state&) = default;
  };
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0}; }
  FANIN_HOST_DEVICE static std::int32_t read(Word word, const rule& r) { return integer_of_word(word, r); }
  FANIN_HOST_DEVICE static void add(state& s, std::int32_t x) {
    s.sum += static_cast<std::uint64_t>(std::int64_t{x});
    s.square_sum += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(x);
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.sum += other.sum;
    s.square_sum += other.square_sum;
  }
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const Word (&x)[N], const rule& r) requires(sizeof(Word) == 1) {
    const bytes_of_vector<N> bytes(x, r);
    merge(s, {bytes.sum(), bytes.square_sum()});
  }
};

/// Whether A adds integers and their squares.
template <class A>
inline constexpr bool adds_integer_moments = false;
template <class Word>
inline constexpr bool adds_integer_moments<word_moments<Word>> = true;
template <class Word>
inline constexpr bool adds_integer_moments<wide_word_moments<Word>> = true;

/// The product of the integers of words of up to 32 bits. As many integers as 64 bits can hold are multiplied before
/// their product is merged.
template <class Word>
struct word_product : accumulator::integer_product<std::int64_t> {
  using element = Word;
  using rule = element_rule;
  FANIN_HOST_DEVICE static std::int64_t read(Word word, const rule& r) { return integer_of_word(word, r); }
  template <int N>
  FANIN_HOST_DEVICE static void add_words(state& s, const Word (&x)[N], const rule& r) {
    constexpr int in_half = 4 / sizeof(Word);
    for (int i = 0; i < N; i += 2 * in_half) {
      std::uint32_t half[] = {1, 1};
      bool negative = false;
      for (int k = 0; k < 2 * in_half; ++k) {
        const Word word = x[i + k];
        const bool is_below = is_negative(word, r);
        half[k / in_half] *= is_below ? static_cast<Word>(Word{0} - word) : word;
        negative ^= is_below;
      }
      merge(s, {std::uint64_t{half[0]} * half[1], negative, false});
    }
  }
};

}  // namespace fanin::cuda
