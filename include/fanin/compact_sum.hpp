// SPDX-License-Identifier: Apache-2.0
// Exact sums of 48 bytes, and of squares in 64 bytes, for many sums at once: the groups of a table, the columns of a
// file, the windows of a query. compact_moments.hpp has variances.
//
//   std::vector<fanin::compact_sum<double>> total(groups);
//   for (std::size_t i = 0; i < n; ++i) total[key[i]].add(x[i]);
//   double first = total[0].round();
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fanin/accumulator/exact.hpp>

namespace fanin {

template <class T>
class compact_moments;

namespace detail {

/// Calls add() with those of x[0], x[stride], ..., x[(count - 1) * stride] that basic_compact_sum::add() adds.
template <class T, class Add>
void for_each_valid(const T* x, std::size_t count, std::ptrdiff_t stride, const std::uint8_t* valid, Add add) {
  for (std::size_t i = 0; i < count; ++i) {
    if (valid == nullptr || (valid[i / 8] >> i % 8 & 1) != 0) add(x[static_cast<std::ptrdiff_t>(i) * stride]);
  }
}

}  // namespace detail

/// The exact sum of x^Power over the elements x that were added, and their number. T is float or double, and Power is
/// 1 or 2.
/// Accuracy, special values: as for basic_exact_accumulator. Elements that were added and subtracted again leave no
/// trace in the sum.
/// Memory: 48 bytes while the exponents of all elements differ by at most 38 (double) or 52 (float) from the exponent
/// of the first element, if that is below 2^52 (double) or 2^23 (float) in magnitude; for squares 64 bytes, and 37
/// (double) or 47 (float). Often they may differ by more. A sum that does not fit, or has a NaN or an infinity, moves
/// to a basic_exact_accumulator on the heap and stays there.
/// Reproducible: the same value and the same saved bytes for any order, split and merging (exact). Does not depend on
/// the floating-point environment.
/// Threads: calls of const members may overlap; any other call has to be the only one.
/// @throws each member that adds, merges, copies or loads: std::bad_alloc
template <class T, int Power>
class basic_compact_sum {
  template <class>
  friend class compact_moments;
  using format = detail::float_format<T>;
  using wide = basic_exact_accumulator<T, Power>;

 public:
  using value_type = T;

  static constexpr std::size_t saved_bytes = wide::saved_bytes;

  /// The most elements of one sum.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 62;

  basic_compact_sum() noexcept : word_{} {}
  basic_compact_sum(const basic_compact_sum& other)
      : basic_compact_sum(fields_of(other), other.is_large() ? new wide(*other.large_) : nullptr) {}
  basic_compact_sum(basic_compact_sum&& other) noexcept : basic_compact_sum(fields_of(other)) {
    other.word_ = {};
    other.unit_ = 0;
    other.count_ = other.minus_zeros_ = 0;
  }
  basic_compact_sum& operator=(basic_compact_sum other) noexcept {
    std::swap(word_, other.word_);
    std::swap(unit_, other.unit_);
    std::swap(count_, other.count_);
    std::swap(minus_zeros_, other.minus_zeros_);
    return *this;
  }
  ~basic_compact_sum() {
    if (is_large()) delete large_;
  }

  /// Adds x^Power. Cost: a dozen integer operations, or two dozen for a square.
  void add(T x) {
    ++count_;
    change(x, false);
  }

  /// Takes back x^Power, where x was added before.
  /// @throws invalid_argument if no elements are left, or if x is NaN or infinite
  void subtract(T x) {
    if (count_ == 0) throw invalid_argument("the sum has no elements, so none can be subtracted");
    if ((detail::to_bits(x) & ~format::sign) >= format::infinity) {
      throw invalid_argument("a NaN or an infinity cannot be subtracted from a sum");
    }
    --count_;
    change(x, true);
  }

  /// Adds the elements x[0], x[stride], ..., x[(count - 1) * stride]. If `valid` is not null, element i takes part if
  /// bit i % 8 of valid[i / 8] is set. Memory: host.
  void add(const T* x, std::size_t count, std::ptrdiff_t stride = 1, const std::uint8_t* valid = nullptr) {
    detail::for_each_valid(x, count, stride, valid, [this](T element) { add(element); });
  }
  void add(std::span<const T> x) { add(x.data(), x.size()); }

  /// Adds everything that was added to `other`.
  /// @throws overflow if there would be more than 2^62 elements; this sum is then as it was
  FANIN_NOINLINE void merge(const basic_compact_sum& other) {
    if (other.count_ > most_elements - count_) throw overflow("a compact sum has at most 2^62 elements");
    if (!is_large() && !other.is_large() && !merge_words(other)) grow();
    if (!is_large() && other.is_large()) grow();
    if (is_large()) {
      const wide sum = other.accumulator();
      large_->merge(sum);
    }
    count_ += other.count_;
    minus_zeros_ += other.minus_zeros_;
  }

  /// The number of elements.
  std::uint64_t count() const noexcept { return count_; }

  /// The sum, correctly rounded to the floating type R (nearest, ties to even). Empty gives +0.
  template <class R = T>
  R round() const {
    if (is_large()) return accumulator().template round<R>();
    return rounded<R>(
        [](const magnitude_words& words, int unit) { return detail::round_magnitude<R>(words, unit, false); });
  }

  /// The mean of the elements, rounded once. @throws invalid_argument if there are no elements
  template <class R = T>
  R mean() const {
    if (count_ == 0) throw invalid_argument("mean of no elements");
    if (is_large()) return accumulator().template mean<R>(count_);
    return rounded<R>([this](const magnitude_words& words, int unit) {
      detail::leading_words<5> quotient(words);
      quotient.divide(count_);
      return detail::round_magnitude<R>(quotient.word, unit + 32 * quotient.first, quotient.sticky);
    });
  }

  /// The square root of the sum of squares, rounded once.
  template <class R = T>
  R root() const {
    static_assert(Power == 2);
    if (is_large()) return accumulator().template root<R>();
    magnitude_words words;
    split(words);
    return detail::rounded_root<R>(words, unit_);
  }

  /// Returns an exact accumulator of the same sum.
  FANIN_NOINLINE wide accumulator() const {
    wide sum;
    if (count_ == 0) return sum;
    sum.add_elements(count_, [this](wide& all) {
      if (count_ == minus_zeros_) return all.add(-T{0});
      all.add(T{0});
      if (is_large()) return all.merge(*large_);
      magnitude_words words;
      const bool negative = split(words);
      for (int i = 0; i < 2 * word_count; ++i) {
        const auto word = static_cast<detail::int128>(words[i]);
        if (word != 0) all.add_scaled(negative ? -word : word, unit_ + 32 * i);
      }
    });
    return sum;
  }

  /// The bytes that basic_exact_accumulator<T, Power>::save() writes for the same elements.
  std::array<std::byte, saved_bytes> save() const { return accumulator().save(); }

  /// The sum of bytes that save(), or basic_exact_accumulator<T, Power>::save(), wrote. If elements other than -0
  /// were saved, the sum treats all saved elements as numbers other than -0 in later subtractions.
  /// @throws invalid_argument on other bytes, and if the number of elements was not saved or is above 2^62
  static basic_compact_sum load(std::span<const std::byte> in) {
    const wide saved = wide::load(in);
    if (saved.count() > most_elements)
      throw invalid_argument("this exact sum lacks the number of its elements, or has more than 2^62");
    basic_compact_sum sum;
    sum.grow();
    *sum.large_ = saved;
    sum.count_ = saved.count();
    const T value = saved.round();
    if (value == 0 && (detail::to_bits(value) & format::sign) != 0) sum.minus_zeros_ = sum.count_;
    return sum;
  }

 private:
  // In place the sum is that of word_[i] * 2^(unit_ + 64 i), in two's complement. Checks keep it below 2^most_bits
  // units in magnitude. A power is at most 2^(Power * digits + most_shift) units. So a sum can overflow its words
  // only after 2^60 elements that were added one by one. Units of squares are even powers of two, so that they have a
  // root.
  static constexpr int word_count = Power == 1 ? 3 : 5;
  static constexpr int most_bits = 64 * word_count - 2;
  // Shifts have to leave the words that a power may touch, which are Power + 1.
  static constexpr int most_shift = std::min(most_bits - 61 - Power * format::digits, 64 * (word_count - Power) - 1);
  static constexpr int first_shift = most_shift / 2 / Power * Power;  ///< the shift of the first element
  static constexpr int large_unit = 1 << 14;                          ///< the unit_ of a sum that is on the heap

  using sum_words = std::array<std::uint64_t, word_count>;
  using magnitude_words = std::uint32_t[2 * word_count];
  /// The power of an element, in units of the power of its last bit.
  using integer = std::conditional_t<Power == 1, std::int64_t, detail::int128>;

  /// Names a sum whose fields are copied, the pointer to its memory too.
  struct fields_of {
    explicit fields_of(const basic_compact_sum& other) noexcept : from(other) {}
    const basic_compact_sum& from;
  };
  explicit basic_compact_sum(fields_of other) noexcept
      : word_(other.from.word_),
        count_(other.from.count_),
        minus_zeros_(other.from.minus_zeros_),
        unit_(other.from.unit_) {}
  /// Owns `copy`, a copy of the memory of `other`, if there is any.
  basic_compact_sum(fields_of other, wide* copy) noexcept : basic_compact_sum(other) {
    if (copy != nullptr) large_ = copy;
  }

  bool is_large() const noexcept { return unit_ == large_unit; }

  /// Adds x^Power, or subtracts it if `takes_back`.
  void change(T x, bool takes_back) {
    const auto magnitude = detail::to_bits(x) & ~format::sign;
    if (magnitude - 1 < format::infinity - 1) [[likely]] {
      const power_of of(x, takes_back);
      const auto shift = static_cast<unsigned>(of.exponent - unit_);
      if (shift <= unsigned{most_shift}) [[likely]] {
        return add_shifted(of.value, shift);
      }
    }
    change_slowly(x, takes_back);
  }

  /// The power of a finite x is value * 2^exponent. The value is negated if `takes_back`.
  struct power_of {
    power_of(T x, bool takes_back) {
      const auto bits = detail::to_bits(x);
      const auto [mantissa, unit] = detail::unpack<T>(bits & ~format::sign);
      const bool negative = (Power == 1 && (bits & format::sign) != 0) != takes_back;
      value = static_cast<integer>(mantissa);
      if constexpr (Power == 2) value *= value;
      if (negative) value = -value;
      exponent = Power * unit;
    }
    integer value;
    int exponent;
  };

  /// Adds value * 2^shift units.
  void add_shifted(integer value, unsigned shift) {
    const auto low = static_cast<detail::uint128>(value) << shift % 64;
    const auto high = static_cast<std::uint64_t>(value >> 1 >> (64 * Power - 1 - shift % 64));
    const auto sign = static_cast<std::uint64_t>(value >> (64 * Power - 1));
    const auto first = static_cast<std::uint64_t>(low), second = static_cast<std::uint64_t>(low >> 64);
    if constexpr (Power == 1) {
      shift < 64 ? add_words(first, high, sign) : add_words(0, first, high);
    } else {
      shift < 64    ? add_words(first, second, high, sign, sign)
      : shift < 128 ? add_words(0, first, second, high, sign)
                    : add_words(0, 0, first, second, high);
    }
  }
  template <class... Words>
  void add_words(Words... more) {
    static_assert(sizeof...(more) == word_count);
    std::uint64_t carry = 0;
    std::size_t i = 0;
    const auto add = [&](std::uint64_t word) {
      const std::uint64_t sum = word_[i] + word;
      word_[i] = sum + carry;
      carry = (sum < word ? 1 : 0) + (word_[i++] < carry ? 1 : 0);
    };
    (add(more), ...);
  }
  void add_words(const sum_words& more) {
    std::apply([this](auto... word) { add_words(word...); }, more);
  }

  /// Does what change() does, for zeros, for numbers far from the unit, and for a sum on the heap.
  FANIN_NOINLINE void change_slowly(T x, bool takes_back) {
    const auto bits = detail::to_bits(x);
    const auto magnitude = bits & ~format::sign;
    if (Power == 1 && bits == format::sign) minus_zeros_ += takes_back ? ~std::uint64_t{0} : 1;
    if (magnitude == 0) return;
    if (magnitude >= format::infinity) {
      grow();
      return large_->add(x);
    }
    const power_of of(x, takes_back);
    if (!is_large() && move_to(std::max(of.exponent - first_shift, Power * format::low))) {
      return add_shifted(of.value, static_cast<unsigned>(of.exponent - unit_));
    }
    grow();
    large_->add_scaled(of.value, of.exponent);
  }

  /// Changes the unit to 2^to. Returns false, and changes nothing, if the words then cannot hold the sum.
  bool move_to(int to) {
    const int up = unit_ - to;  // The words are shifted up by so many bits.
    if (up != 0 && word_ != sum_words{}) {
      magnitude_words magnitude;
      const bool negative = split(magnitude);
      int lowest = 0, highest = 64 * word_count - 1;
      while ((magnitude[lowest / 32] >> lowest % 32 & 1) == 0) ++lowest;
      while ((magnitude[highest / 32] >> highest % 32 & 1) == 0) --highest;
      if (lowest + up < 0 || highest + up >= most_bits) return false;
      word_.fill(negative ? ~std::uint64_t{0} : 0);
      for (int i = lowest / 32; i <= highest / 32; ++i) {
        const int place = 32 * i + up;
        const detail::uint128 word =
            static_cast<detail::uint128>(magnitude[i]) << std::max(place, 0) % 64 >> std::max(-place, 0);
        const std::size_t first = static_cast<std::size_t>(std::max(place, 0)) / 64;
        word_[first] ^= static_cast<std::uint64_t>(word);
        if (first + 1 < word_count) word_[first + 1] ^= static_cast<std::uint64_t>(word >> 64);
      }
      add_words({negative});
    }
    unit_ = to;
    return true;
  }

  /// Adds the words of `other`. Neither sum is on the heap. Returns false, and leaves the sum as it was, if the words
  /// do not fit.
  bool merge_words(const basic_compact_sum& other) {
    basic_compact_sum more(fields_of{other});
    const int unit = std::min(unit_, more.unit_);
    if (!move_to(unit) || !more.move_to(unit)) return false;
    const auto before = word_;
    add_words(more.word_);
    const auto top = static_cast<std::int64_t>(word_.back()) >> 62;
    if (top == 0 || top == -1) return true;
    word_ = before;
    return false;
  }

  /// Stores the magnitude of the sum in units of 2^unit. Returns false if the words cannot hold it.
  bool split_in(int unit, magnitude_words& magnitude) const {
    if (is_large()) return false;
    basic_compact_sum moved(fields_of{*this});
    if (!moved.move_to(unit)) return false;
    moved.split(magnitude);
    return true;
  }

  /// Moves the sum to the heap.
  void grow() {
    if (is_large()) return;
    auto sum = std::make_unique<wide>(accumulator());
    large_ = sum.release();
    unit_ = large_unit;
  }

  /// Stores the magnitude of the words, and returns whether they are negative.
  bool split(magnitude_words& magnitude) const {
    const bool negative = static_cast<std::int64_t>(word_.back()) < 0;
    std::uint64_t carry = negative;
    for (std::size_t i = 0; i < word_count; ++i) {
      const std::uint64_t word = (negative ? ~word_[i] : word_[i]) + carry;
      carry = carry != 0 && word == 0;
      magnitude[2 * i] = static_cast<std::uint32_t>(word);
      magnitude[2 * i + 1] = static_cast<std::uint32_t>(word >> 32);
    }
    return negative;
  }

  /// round(words, unit) with the sign of a sum that is in place.
  template <class R, class Round>
  R rounded(Round round) const {
    using to = detail::float_format<R>;
    if (count_ != 0 && minus_zeros_ == count_) return to::made_of(to::sign);
    magnitude_words words;
    const bool negative = split(words);
    const typename to::bits bits = round(words, unit_);
    const bool is_nan = !to::has_infinity && bits == to::quiet_nan;
    return to::made_of(negative && !is_nan ? static_cast<typename to::bits>(bits | to::sign) : bits);
  }

  union {
    sum_words word_;
    wide* large_;
  };
  std::uint64_t count_ = 0, minus_zeros_ = 0;
  int unit_ = 0;
};

/// The exact sum of the elements.
template <class T>
using compact_sum = basic_compact_sum<T, 1>;

/// The exact sum of the squares of the elements.
template <class T>
using compact_square_sum = basic_compact_sum<T, 2>;

}  // namespace fanin
