// SPDX-License-Identifier: Apache-2.0
// Sums without rounding. An exact accumulator holds the sum of everything that was added to it, and rounds once, at
// the end. So the result and the saved bytes depend on the values only, and not on their order, split, merging or
// machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/accumulator/bytes.hpp>
#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/accumulator/root.hpp>
#include <fanin/compiler.hpp>
#include <fanin/error.hpp>

namespace fanin {
namespace detail {

/// The value of a sum with infinities or NaN. If `special` is 0, the value of a sum of negative zeros. `special`
/// is byte 7 of a saved sum.
template <class To>
FANIN_HOST_DEVICE typename To::value special_value(unsigned special, To to) {
  constexpr unsigned plus_infinity = 2, minus_infinity = 4;
  const bool is_nan = special != 0 && special != plus_infinity && special != minus_infinity;
  const auto size = static_cast<typename To::bits>(is_nan ? to.quiet_nan : special == 0 ? 0 : to.infinity);
  const bool is_negative = special == 0 || special == minus_infinity;
  return to.made_of(static_cast<typename To::bits>(is_negative ? size | to.sign : size));
}

}  // namespace detail

/// The sum of x^Power over the elements x that were added, and the number of these elements, which is at most 2^63.
/// Power is 1 or 2.
/// No elements give +0. Elements that are all -0 give -0 (+0 for squares). Exact cancellation gives +0. Any NaN, or
/// +inf and -inf together, gives the canonical quiet NaN. Otherwise an infinity gives that infinity. Finite sums
/// never overflow on the way.
/// Trivially copyable: its bytes may be copied between threads and devices of one build. Between builds or machines
/// use save(). Does not depend on the floating-point environment.
/// Threads: calls of const members may overlap; any other call has to be the only one.
template <class T, int Power>
class basic_exact_accumulator {
  using format = detail::float_format<T>;

 public:
  using value_type = T;
  using sum_type = detail::fixed_point<Power * format::low, Power * format::high>;

  /// Size of a saved accumulator; docs/exact-format.md describes the bytes.
  static constexpr std::size_t saved_bytes = 16 + 4 * sum_type::limb_count + 4;

  /// The most elements of one sum.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 63;

  /// Adds x^Power. Cost: a few integer operations.
  FANIN_HOST_DEVICE void add(T x) {
    ++count_;
    const auto bits = detail::to_bits(x);
    const bool negative = Power == 1 && (bits & format::sign) != 0;
    const auto magnitude = bits & ~format::sign;
    if (magnitude >= format::infinity) {
      seen_ = numbers;
      special_ |= magnitude > format::infinity ? nan : negative ? minus_infinity : plus_infinity;
      return;
    }
    note(negative && magnitude == 0 ? minus_zeros : numbers);
    const auto [mantissa, exponent] = detail::unpack<T>(magnitude);
    if constexpr (Power == 1) {
      sum_.add_magnitude(mantissa, exponent, negative);
    } else {
      sum_.add_scaled(static_cast<detail::int128>(mantissa) * mantissa, Power * exponent);
    }
  }

  /// Adds x^Power for every x. Memory: host. Cost: one read; fanin::sum has the vectorised loop.
  void add(std::span<const T> x) {
    for (const T element : x) add(element);
  }

  /// Adds value * 2^exponent, which is a sum of powers that the caller has computed exactly. Not all of the powers
  /// are -0. The sum is a multiple of the smallest positive power. `exponent` is below Power * 128 + 63 (f32) or
  /// Power * 1024 + 63 (f64). add_elements() counts the elements.
  FANIN_HOST_DEVICE void add_scaled(detail::int128 value, int exponent) {
    seen_ = numbers;
    sum_.add_scaled(value, exponent);
  }

  /// Adds the sum of digit[i] * 2^(low + 32 i) like add_scaled(). 2^low is the smallest positive power.
  template <std::size_t N>
  void add_digits(const std::int64_t (&digit)[N]) {
    seen_ = numbers;
    sum_.add_digits(digit);
  }

  /// Adds a sum that is wider than 128 bits like add_scaled().
  template <int Low, int High>
  FANIN_HOST_DEVICE void add_sum(const detail::fixed_point<Low, High>& partial) {
    seen_ = numbers;
    sum_.add_number(partial);
  }

  /// The number of elements added; unknown_count after a merge with a state that was saved without it.
  FANIN_HOST_DEVICE std::uint64_t count() const { return is_counted() ? count_ : unknown_count; }
  static constexpr std::uint64_t unknown_count = ~std::uint64_t{0};

  /// Calls add(*this), which adds the powers of `count` elements by other calls, and counts these elements.
  template <class Add>
  void add_elements(std::uint64_t count, Add add) {
    const std::uint64_t total = count_ + count;
    add(*this);
    count_ = total;
  }

  /// Adds everything that was added to `other`. Merging in any order gives the same state.
  /// @throws overflow on the host if there would be more than 2^63 elements; this accumulator is then as it was
  FANIN_HOST_DEVICE void merge(const basic_exact_accumulator& other) {
    count_ = merged_count(other.count_);
    note(other.seen_);
    special_ |= other.special_;
    sum_.merge(other.sum_);
  }

  /// Makes the state of at least one element, with a count of 0. `numbers` says whether an element was not -0.
  /// `sum` is the sum in two's complement, in units of the smallest positive power, least significant word first.
  /// `special` is byte 7 of save().
  FANIN_HOST_DEVICE static basic_exact_accumulator restore(const typename sum_type::words& sum, bool numbers,
                                                           unsigned special) {
    basic_exact_accumulator state;
    state.sum_ = sum_type::from_words(sum);
    state.seen_ = numbers || special != 0 ? basic_exact_accumulator::numbers : minus_zeros;
    state.special_ = static_cast<std::uint8_t>(special);
    return state;
  }

  /// The sum, correctly rounded to the floating type R (nearest, ties to even). Here and below, `to` stands for the
  /// format of R. The library passes a format that is known at run time, and gets the bits.
  template <class R = T, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE typename To::value round(To to = {}) const {
    return finite_sum() ? sum_.template round<R>(to) : detail::special_value(special_, to);
  }

  /// The mean of the elements, rounded once. @throws invalid_argument if there are no elements, or if their number is
  /// unknown
  template <class R = T>
  R mean() const {
    if (count_ == 0) throw invalid_argument("mean of no elements");
    if (!is_counted())
      throw invalid_argument("this exact sum was saved without the number of its elements, so it has no mean");
    return mean<R>(count_);
  }

  /// The sum divided by `count` > 0, rounded once.
  template <class R = T, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE typename To::value mean(std::uint64_t count, To to = {}) const {
    return finite_sum() ? sum_.template round_quotient<R>(count, to) : detail::special_value(special_, to);
  }

  /// The square root of the sum of squares, rounded once. The root may be finite and positive even if the sum,
  /// rounded to R, is infinite or 0.
  template <class R = T, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE typename To::value root(To to = {}) const {
    static_assert(Power == 2);
    if (!finite_sum()) return detail::special_value(special_, to);
    typename sum_type::words squares;
    sum_.split(squares);
    return detail::rounded_root<R>(squares, Power * format::low, false, to);
  }

  /// Whether no infinity and no NaN was added.
  FANIN_HOST_DEVICE bool finite() const { return special_ == 0; }

  /// The sum of the powers of the finite elements. A sum of zero has no sign.
  FANIN_HOST_DEVICE const sum_type& total() const { return sum_; }

  /// The state as bytes that any machine can load: the same bytes for the same multiset of values.
  std::array<std::byte, saved_bytes> save() const {
    std::array<std::byte, saved_bytes> out = header();
    out[6] = static_cast<std::byte>(seen_);
    out[7] = static_cast<std::byte>(special_);
    typename sum_type::words words;
    sum_.to_words(words);
    std::byte* end = detail::put_little_endian(count(), out.data() + 8);
    for (const std::uint32_t word : words) end = detail::put_little_endian(word, end);
    detail::put_little_endian(detail::crc32({out.data(), end}), end);
    return out;
  }

  /// How many lanes a state has.
  static constexpr std::size_t lane_count = sum_type::limb_count + 7;

  /// The state as lanes: integers that any transport can add. The sum of the lanes of several states, lane by lane in
  /// any order, stands for the merged state. There may be up to 2^31 states, of fewer than 2^63 elements together.
  /// docs/exact-format.md describes the lanes.
  FANIN_HOST_DEVICE void to_lanes(std::span<std::int64_t, lane_count> out) const {
    typename sum_type::words words;
    sum_.to_words(words);
    for (std::size_t i = 0; i < sum_type::limb_count; ++i) out[i] = words[i];
    out[sum_type::limb_count - 1] = static_cast<std::int32_t>(words[sum_type::limb_count - 1]);
    write_counters(out.data() + sum_type::limb_count);
  }

  /// The state of lanes that to_lanes() wrote, or of a sum of such lanes.
  /// @throws invalid_argument if no states have these lanes
  static basic_exact_accumulator from_lanes(std::span<const std::int64_t, lane_count> lanes) {
    std::int64_t limbs[sum_type::limb_count];
    std::copy_n(lanes.begin(), std::size(limbs), limbs);
    const std::int64_t* const counters = lanes.data() + sum_type::limb_count;
    basic_exact_accumulator state;
    typename sum_type::words words;
    const bool fits = sum_type::to_words(limbs, words);
    const bool possible_counters = counters[0] >= 0 && std::all_of(counters + 1, counters + 7, [](std::int64_t n) {
                                     return n >= 0 && n >> 31 <= 1;
                                   });
    state.sum_ = sum_type::from_words(words);
    state.read_counters(counters);
    if (!fits || !possible_counters || !state.possible(words)) {
      throw invalid_argument("these lanes do not hold an exact sum");
    }
    return state;
  }

  /// These two are to_lanes() and from_lanes() for up to 2^21 states and a trusted transport. Nothing is checked, and
  /// the words of the sum may be negative or above 2^32. from_lanes() takes these lanes, too.
  void write_lanes(std::int64_t* out) const {
    sum_.write_lanes(out);
    write_counters(out + sum_type::limb_count);
  }
  static basic_exact_accumulator read_lanes(const std::int64_t* lanes) {
    basic_exact_accumulator state;
    state.sum_ = sum_type::read_lanes(lanes);
    state.read_counters(lanes + sum_type::limb_count);
    return state;
  }

  /// The state from which save() wrote the bytes, in this version of the format or in version 1, which has no count.
  /// @throws invalid_argument on anything that save() cannot have written for this T and Power
  static basic_exact_accumulator load(std::span<const std::byte> in) {
    constexpr auto expected = header();
    if (in.size() < 8) throw invalid_argument("a saved exact sum has at least 8 bytes");
    if (!std::equal(in.begin(), in.begin() + 3, expected.begin())) {
      throw invalid_argument("these bytes are not a saved exact sum");
    }
    const bool counted = in[3] == expected[3];
    if (!counted && in[3] != std::byte{1}) {
      throw invalid_argument("this exact sum was saved in an unknown version of the format");
    }
    if (in[4] != expected[4]) throw invalid_argument("this exact sum was saved for another element type");
    if (in[5] != expected[5])
      throw invalid_argument("this exact sum was saved for another operation: sums and sums of squares differ");
    constexpr std::size_t sum_bytes = 4 * sum_type::limb_count;
    if (in.size() != (counted ? saved_bytes : 8 + sum_bytes)) {
      throw invalid_argument("the saved exact sum has the wrong length");
    }

    basic_exact_accumulator loaded;
    loaded.seen_ = std::to_integer<std::uint8_t>(in[6]);
    loaded.special_ = std::to_integer<std::uint8_t>(in[7]);
    const std::size_t sum_begin = counted ? 16 : 8;
    typename sum_type::words words;
    for (std::size_t i = 0; i < sum_type::limb_count; ++i) {
      words[i] = detail::get_little_endian<std::uint32_t>(in.data() + sum_begin + 4 * i);
    }
    loaded.sum_ = sum_type::from_words(words);
    loaded.count_ = loaded.seen_ == nothing ? 0 : uncounted;
    bool count_possible = true;
    if (counted) {
      const auto count = detail::get_little_endian<std::uint64_t>(in.data() + 8);
      count_possible = count == unknown_count ? loaded.seen_ != nothing : count <= most_elements;
      if (count != unknown_count) loaded.count_ = count;
      const std::byte* const checksum = in.data() + sum_begin + sum_bytes;
      if (detail::get_little_endian<std::uint32_t>(checksum) != detail::crc32({in.data(), checksum})) {
        throw invalid_argument("the saved exact sum is damaged: its checksum is wrong");
      }
    }
    if (!count_possible || !loaded.possible(words)) throw invalid_argument("the saved exact sum is damaged");
    return loaded;
  }

 private:
  // seen_ has one of these values. An element -0 has the value minus_zeros, and any other has the value numbers.
  // seen_ is the largest value.
  static constexpr std::uint8_t nothing = 0, minus_zeros = 1, numbers = 2;
  // count_ has this value if the number of elements is unknown. The number stays unknown while up to 2^62 more
  // elements are added.
  static constexpr std::uint64_t uncounted = std::uint64_t{3} << 62;
  // special_ consists of these bits.
  static constexpr std::uint8_t nan = 1, plus_infinity = 2, minus_infinity = 4;

  /// Writes the lanes that follow the lanes of the sum.
  FANIN_HOST_DEVICE void write_counters(std::int64_t* counters) const {
    counters[0] = count_ < most_elements ? static_cast<std::int64_t>(count_) : 0;
    counters[1] = count_ >= most_elements;
    counters[2] = seen_ == numbers;
    counters[3] = seen_ == minus_zeros;
    for (int bit = 0; bit < 3; ++bit) counters[4 + bit] = special_ >> bit & 1;
  }
  void read_counters(const std::int64_t* counters) {
    count_ = counters[1] > 0 ? uncounted : static_cast<std::uint64_t>(counters[0]);
    seen_ = counters[2] > 0 ? numbers : counters[3] > 0 ? minus_zeros : nothing;
    for (int bit = 0; bit < 3; ++bit) special_ |= static_cast<std::uint8_t>((counters[4 + bit] > 0) << bit);
  }

  FANIN_HOST_DEVICE std::uint64_t merged_count(std::uint64_t other) const {
    if (!is_counted() || other > most_elements) return uncounted;
    FANIN_HOST_ONLY(if (count_ > most_elements - other) throw overflow("an exact sum has at most 2^63 elements"));
    return count_ + other;
  }

  FANIN_HOST_DEVICE bool is_counted() const { return count_ <= most_elements; }

  FANIN_HOST_DEVICE void note(std::uint8_t seen) { seen_ = seen > seen_ ? seen : seen_; }

  FANIN_HOST_DEVICE bool finite_sum() const { return special_ == 0 && seen_ != minus_zeros; }

  static constexpr std::array<std::byte, saved_bytes> header() {
    return {std::byte{'F'}, std::byte{'N'}, std::byte{'X'}, std::byte{2}, std::byte{sizeof(T)}, std::byte{Power}};
  }

  /// Whether some input of at most 2^63 elements gives this state, whose sum is `words`.
  bool possible(const typename sum_type::words& words) const {
    constexpr int used = (Power * (format::high - format::low) + 63) % 32;
    const auto top = static_cast<std::int32_t>(words[sum_type::limb_count - 1]) >> used;
    const bool zero = std::all_of(std::begin(words), std::end(words), [](std::uint32_t word) { return word == 0; });
    const std::uint8_t most = Power == 1 ? nan | plus_infinity | minus_infinity : nan | plus_infinity;
    if (count_ != uncounted && (!is_counted() || (count_ == 0) != (seen_ == nothing))) return false;
    return seen_ <= numbers && (Power == 1 || seen_ != minus_zeros) && (special_ & ~most) == 0 &&
           (seen_ == numbers || (zero && special_ == 0)) && (top == 0 || (Power == 1 && top == -1));
  }

  sum_type sum_;
  std::uint64_t count_ = 0;
  std::uint8_t seen_ = nothing;
  std::uint8_t special_ = 0;
};

/// The exact sum of the elements.
template <class T>
using exact_accumulator = basic_exact_accumulator<T, 1>;

/// The exact sum of the squares of the elements.
template <class T>
using exact_square_accumulator = basic_exact_accumulator<T, 2>;

}  // namespace fanin
