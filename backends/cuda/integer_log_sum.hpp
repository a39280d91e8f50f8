// SPDX-License-Identifier: Apache-2.0
// The states in which kernels fold log_sum_exp of integers, which the result has as f64. docs/numerics.md proves the
// error.
//
// An integer below 256 in size is *near*. Its exponential is a product of two numbers of short tables. Sums of
// exponentials of near integers are doubles, so they need no reference, and a merge is an addition. The logarithm of
// the exponential is the integer, so that a single one is its own result.
#pragma once

#include <cstring>
#include <limits>

#include "backends/cuda/numbers.hpp"
#include "backends/cuda/word_integers.hpp"

namespace fanin::cuda {

/// Whether the elements are integers, among the types that share kernels of log_sum_exp with integers.
FANIN_HOST_DEVICE inline bool are_integers(const element_rule& rule) {
  constexpr std::uint32_t floats = [] {
    std::uint32_t bits = 0;
    for (const element_type type : all_element_types)
      bits |= std::uint32_t{is_floating(type)} << static_cast<int>(type);
    return bits;
  }();
  return (floats >> static_cast<int>(rule.type) & 1) == 0;
}

/// e^x for the near integer x = at - 256, with a relative error of at most 3.01 * 2^-53. e^0 is exactly 1. Each table
/// is in one or two cache lines, and so a warp reads it at once. `at` is the sum of `first`, a multiple of 16, and
/// `rest`.
FANIN_HOST_DEVICE inline double exponential_at(unsigned first, unsigned rest) {
  // clang-format off
  // The tables have e^-256, e^-240, ..., e^240, and 1, e, ..., e^15.
  alignas(128) static constexpr double high[] = {
      0x1.9755956ad4e9cp-370, 0x1.af7df757d4eb7p-347, 0x1.c915201a1e776p-324, 0x1.e430d04ec3068p-301,
      0x1.0074096a5a34cp-277, 0x1.0fa9a8317651fp-254, 0x1.1fc63223fac81p-231, 0x1.30d759323998cp-208,
      0x1.42eb9f39afb0bp-185, 0x1.56126259e093cp-162, 0x1.6a5bea046b42ep-139, 0x1.7fd974d372e45p-116,
      0x1.969d47321e4ccp-93, 0x1.aebabae3a41b5p-70, 0x1.c8464f7616468p-47, 0x1.e355bbaee85cbp-24,
      0x1p+0, 0x1.0f2ebd0a80020p+23, 0x1.1f43fcc4b662cp+46, 0x1.304d6aeca254bp+69,
      0x1.425982cf597cdp+92, 0x1.55779b984f3ebp+115, 0x1.69b7f55b808bap+138, 0x1.7f2bc6e599b7ep+161,
      0x1.95e54c5dd4217p+184, 0x1.adf7d6c5fbb7ap+207, 0x1.c777dc65c9488p+230, 0x1.e27b0a2f86833p+253,
      0x1.ff18562cc483ep+276, 0x1.0eb40981671acp+300, 0x1.1ec2024fb6cefp+323, 0x1.2fc3bb0fcb841p+346};
  alignas(128) static constexpr double low[] = {
      0x1p+0, 0x1.5bf0a8b145769p+1, 0x1.d8e64b8d4ddaep+2, 0x1.415e5bf6fb106p+4,
      0x1.b4c902e273a58p+5, 0x1.28d389970338fp+7, 0x1.936dc5690c08fp+8, 0x1.122885aaeddaap+10,
      0x1.749ea7d470c6ep+11, 0x1.fa7157c470f82p+12, 0x1.5829dcf950560p+14, 0x1.d3c4488ee4f7fp+15,
      0x1.3de1654d37c9ap+17, 0x1.b00b5916ac955p+18, 0x1.259ac48bf05d7p+20, 0x1.8f0ccafad2a87p+21};
  // clang-format on
  return (high + first / 16)[rest / 16] * low[rest % 16];
}
FANIN_HOST_DEVICE inline double exponential_of_integer(int x) {
  return exponential_at(0, static_cast<unsigned>(x + 256));
}

/// The words of a vector in registers, as a function takes them.
template <class Word>
struct words_of_vector {
  static constexpr int size = 16 / sizeof(Word);
  std::uint32_t at[4];
  FANIN_HOST_DEVICE static words_of_vector of(const Word (&x)[size]) {
    words_of_vector words;
    std::memcpy(words.at, x, sizeof words.at);
    return words;
  }
  FANIN_HOST_DEVICE Word operator[](int i) const {
    constexpr int in_register = 4 / sizeof(Word);
    return static_cast<Word>(at[i / in_register] >> i % in_register * 8 * sizeof(Word));
  }
};

/// Bytes are integers, which all are near, or floats.
template <>
struct by_word<std::uint8_t, float_log_sum> {
  using element = std::uint8_t;
  using rule = element_rule;
  using state = float_log_sum::state;
  using words = words_of_vector<element>;
  struct number {
    bool is_integer;
    int integer;
    float x;
  };
  static constexpr bool order_free = false, has_own_bound = true;

  FANIN_HOST_DEVICE static number read(element word, const rule& r) {
    if (are_integers(r)) return {true, integer_of_word(word, r), 0};
    return {false, 0, word_numbers<element>::read(word, r)};
  }
  FANIN_HOST_DEVICE static constexpr state identity() { return float_log_sum::identity(); }
  FANIN_HOST_DEVICE static void add(state& s, const number& n) {
    if (n.is_integer) {
      s.sum += exponential_of_integer(n.integer);
    } else {
      s = with_float(s, n.x);
    }
  }
  /// Adds the first `count` > 0 words, with the bits of additions one after another.
  FANIN_HOST_DEVICE static void add_words(state& s, const element (&x)[words::size], const rule& r,
                                          int count = words::size) {
    s = with_words(s, words::of(x), r.type, static_cast<unsigned>(r.sign & 0xff), count);
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { float_log_sum::merge(s, other); }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return float_log_sum::bound<R>(chain, count);
  }

 private:
  // These functions are not inlined, because their code is long, and kernels call them in dozens of places.
  FANIN_HOST_DEVICE FANIN_NOINLINE static state with_words(state s, words x, element_type type, unsigned sign,
                                                           int count) {
    rule r;
    r.type = type;
    if (are_integers(r)) {
      // A byte with its sign bit inverted, as an unsigned number, is larger than the integer by the value of that
      // bit.
      for (int i = 0; i < words::size; ++i) {
        const double one = exponential_at(256 - sign, x[i] ^ sign);
        s.sum += i < count ? one : 0;  // A branch would cost more than an addition.
      }
      return s;
    }
    element floats[words::size];
    for (int i = 0; i < words::size; ++i) floats[i] = x[i];
    float numbers[words::size];
    word_numbers<element>::read_all(floats, numbers, r);
    if (count < words::size) {
      float_log_sum::add_first(s, numbers, count);
    } else {
      float_log_sum::add_all(s, numbers);
    }
    return s;
  }
  FANIN_HOST_DEVICE FANIN_NOINLINE static state with_float(state s, float x) {
    float_log_sum::add(s, x);
    return s;
  }
};

/// Integers of 32 bits. The reference of near integers is 0. Other sums have the largest element as a reference, as
/// in accumulator/log_sum.hpp.
struct word_log_sum {
  using element = std::uint32_t;
  using rule = element_rule;
  using doubles = accumulator::log_sum<double>;
  using state = accumulator::scaled_sum;
  using words = words_of_vector<element>;
  struct number {
    element word;
    bool is_signed;
    FANIN_HOST_DEVICE bool is_near() const {
      const element below = is_signed ? 255 : 0;
      return word + below < below + 256;
    }
    FANIN_HOST_DEVICE double exponential() const { return exponential_of_integer(static_cast<int>(word)); }
    FANIN_HOST_DEVICE explicit operator double() const {
      return is_signed ? static_cast<std::int32_t>(word) : static_cast<double>(word);
    }
  };
  static constexpr bool order_free = false;

  FANIN_HOST_DEVICE static constexpr state identity() { return doubles::identity(); }
  FANIN_HOST_DEVICE static number read(element word, const rule& r) { return {word, r.sign != 0}; }
  FANIN_HOST_DEVICE static void add(state& s, const number& n) { s = with_words(s, {{n.word}}, n.is_signed, 1); }
  /// Adds the first `count` words, with the bits of additions one after another.
  FANIN_HOST_DEVICE static void add_words(state& s, const element (&x)[words::size], const rule& r,
                                          int count = words::size) {
    s = with_words(s, words::of(x), r.sign != 0, count);
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    if (s.largest == 0 && other.largest == 0) {
      s.sum += other.sum;
    } else {
      s = merged(s, other);
    }
  }

 private:
  // These functions are not inlined, because their code is long, and kernels call them in dozens of places.
  FANIN_HOST_DEVICE FANIN_NOINLINE static state with_words(state s, words x, bool is_signed, int count) {
    bool all_near = s.largest == 0 || s.sum == 0;
    for (int i = 0; i < words::size; ++i) {
      if (i >= count) x.at[i] = 0;
      all_near &= number{x[i], is_signed}.is_near();
    }
    if (all_near) {
      s.largest = 0;
      for (int i = 0; i < words::size; ++i) {
        const double one = number{x[i], is_signed}.exponential();
        s.sum += i < count ? one : 0;  // A branch would cost more than an addition.
      }
      return s;
    }
    FANIN_ROLLED
    for (int i = 0; i < count; ++i) {
      const number n{x.at[0], is_signed};
      const auto near = n.is_near();
      const double value = static_cast<double>(n);
      if (!(value < s.largest - 709)) {  // otherwise its exponential is 0
        s = merged(s, near ? state{0, n.exponential()} : state{value, 1});
      }
      for (int next = 0; next + 1 < words::size; ++next) x.at[next] = x.at[next + 1];
    }
    return s;
  }
  FANIN_HOST_DEVICE FANIN_NOINLINE static state merged(state s, state other) {
    doubles::merge(s, other);
    return s;
  }
};

/// Words of 64 bits are doubles, or integers that are equal to doubles. Other integers are read as NaN.
template <>
struct by_word<std::uint64_t, accumulator::log_sum<double>> : accumulator::log_sum<double> {
  using element = std::uint64_t;
  using rule = element_rule;
  FANIN_HOST_DEVICE static double read(element word, const rule& r) {
    return are_integers(r) ? double_of_integer(word, r) : detail::from_bits<double>(word);
  }

 private:
  FANIN_HOST_DEVICE static double double_of_integer(element word, const rule& r) {
    const auto half = static_cast<std::uint32_t>(word >> 32);
    const double upper = r.sign != 0 ? static_cast<std::int32_t>(half) : static_cast<double>(half);
    const double high = upper * 0x1p32, low = static_cast<std::uint32_t>(word), sum = high + low;
    return sum - high == low ? sum : std::numeric_limits<double>::quiet_NaN();
  }
};
template <>
struct shared_form<double, accumulator::log_sum<double>> {
  using type = by_word<std::uint64_t, accumulator::log_sum<double>>;
};

/// The accumulator that folds words of integers. Integers of 16 bits have none.
template <class Word>
struct integer_log_sum {
  using type = void;
};
template <>
struct integer_log_sum<std::uint8_t> {
  using type = by_word<std::uint8_t, float_log_sum>;
};
template <>
struct integer_log_sum<std::uint32_t> {
  using type = word_log_sum;
};
template <>
struct integer_log_sum<std::uint64_t> {
  using type = by_word<std::uint64_t, accumulator::log_sum<double>>;
};

/// The recipe for integers T, which devices have and CPUs do not: CPUs take integers as f64.
template <class T>
struct recipe_of_log_sum {
  static constexpr operation what = operation::log_sum_exp;
  static constexpr fanin::method method = fanin::method::fast;
  using element = T;
  using accumulator = fanin::accumulator::log_sum<double>;
  using result = double;
};
/// Whether kernels that fold A serve integers too.
template <class A>
inline constexpr bool serves_log_sum = std::is_same_v<typename integer_log_sum<typename A::element>::type, A>;

/// The bound where near integers have tables: an exponential has an error of its own, and the logarithm of a sum
/// without a reference may be as large as the result.
inline error_bound bound_of_near_integers(const rounding_chain& chain, std::uint64_t count) {
  constexpr double u = accumulator::unit_roundoff<double>;
  error_bound found = accumulator::log_sum_bound<double>(chain, count, 4 * u);
  found.of_result += 7 * u;
  return found;
}

}  // namespace fanin::cuda
