// SPDX-License-Identifier: Apache-2.0
// Floats on which sums go wrong: one kind of data for each way.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "tests/support/inputs.hpp"
#include "tests/support/sum_oracle.hpp"

namespace fanin::test {

template <class T>
class adversary {
 public:
  struct kind {
    const char* name;
    void (adversary::*fill)(std::span<T> x);
  };

  explicit adversary(std::uint64_t seed) : random_(seed) {}

  static std::span<const kind> kinds() {
    static constexpr kind all[] = {
        {"any bits", &adversary::any_bits},
        {"any number", &adversary::any_number},
        {"one exponent, each in turn", &adversary::one_exponent},
        {"three exponents", &adversary::three_exponents},
        {"subnormals and the next", &adversary::bottom},
        {"near overflow", &adversary::top},
        {"from the largest to the smallest", &adversary::falling},
        {"powers of two", &adversary::powers},
        {"all bits set, some of them 19 to 22 binades lower", &adversary::full},
        {"all negative", &adversary::negatives},
        {"the same number", &adversary::repeated},
        {"integers", &adversary::integers},
        {"uniform and an outlier", &adversary::outlier},
        {"cancelling pairs and one number", &adversary::pairs},
        {"rounding errors", &adversary::rounding_errors},
        {"ties of the sum", &adversary::tie},
        {"ties of the mean", &adversary::mean_tie},
        {"zeros", &adversary::zeros},
        {"infinities and NaN", &adversary::specials},
    };
    return all;
  }

  std::vector<T> make(const kind& wanted, std::size_t count) {
    std::vector<T> x(count);
    if (count > 0) (this->*wanted.fill)(x);
    return x;
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  void shuffle(std::span<T> x) { std::shuffle(x.begin(), x.end(), random_); }

  /// A finite number of random sign. Its exponent's bits are `field`; the fraction is random, full or of few bits.
  T number(std::size_t field) {
    const auto bits = static_cast<word>(random_());
    word fraction = bits % of::hidden;
    switch (random_() % 8) {
      case 0:
        fraction = 0;
        break;
      case 1:
        fraction = of::hidden - 1 - (bits & 1);
        break;
      case 2:
        fraction &= word{7} << bits % of::fraction_bits;
        break;
      default:
        break;
    }
    return std::bit_cast<T>(static_cast<word>((bits & of::sign) + field * of::hidden + fraction));
  }

 private:
  using of = layout<T>;
  using word = typename of::word;
  using limits = std::numeric_limits<T>;

  std::size_t field() { return below(of::fields); }
  std::size_t next_field() { return next_field_++ % of::fields; }
  T power(std::size_t field) { return std::bit_cast<T>(static_cast<word>(field * of::hidden)); }
  T with_random_sign(T x) { return below(2) == 0 ? x : -x; }

  template <class Make>
  void fill(std::span<T> x, Make make) {
    for (T& v : x) v = make();
  }

  /// Fills x with pairs that cancel, and a zero if there is one too many.
  void fill_pairs(std::span<T> x) {
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
      x[i] = number(field());
      x[i + 1] = -x[i];
    }
  }

  void any_bits(std::span<T> x) {
    fill(x, [&] { return std::bit_cast<T>(static_cast<word>(random_())); });
  }
  void any_number(std::span<T> x) {
    fill(x, [&] { return number(field()); });
  }
  void one_exponent(std::span<T> x) {
    fill(x, [&, f = next_field()] { return number(f); });
  }
  void three_exponents(std::span<T> x) {
    fill(x, [&, f = below(of::fields - 2)] { return number(f + below(3)); });
  }
  void bottom(std::span<T> x) {
    fill(x, [&] { return number(below(3)); });
  }
  void top(std::span<T> x) {
    fill(x, [&] { return number(of::fields - 1 - below(3)); });
  }
  void falling(std::span<T> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = number((x.size() - 1 - i) * of::fields / x.size());
  }
  void powers(std::span<T> x) {
    fill(x, [&] { return with_random_sign(power(field())); });
  }
  /// Sums in a wider type of numbers with so many bits are at the limit of that type's digits.
  void full(std::span<T> x) {
    const std::size_t lower = 19 + below(4), top = lower + below(of::fields - lower);
    fill(x, [&] {
      return std::bit_cast<T>(static_cast<word>((top - (below(16) == 0 ? lower : 0)) * of::hidden + of::hidden - 1));
    });
  }
  void negatives(std::span<T> x) {
    fill(x, [&, f = next_field()] { return -std::abs(number(f)); });
  }
  void repeated(std::span<T> x) { std::ranges::fill(x, number(field())); }
  void integers(std::span<T> x) {
    fill(x, [&] { return static_cast<T>(below(2001)) - 1000; });
  }
  void outlier(std::span<T> x) {
    const auto scale = static_cast<int>(below(40)) - 20;
    fill(x, [&] { return std::ldexp(static_cast<T>(static_cast<std::int32_t>(random_() >> 32)), scale - 31); });
    x[below(x.size())] = number(below(2) == 0 ? field() : of::fields / 2 + below(30));
  }
  void pairs(std::span<T> x) {
    fill_pairs(x);
    x.back() = number(next_field());
    if (x.size() % 2 == 0) x[x.size() - 2] = 0;
    shuffle(x);
  }
  /// y, z and -(y + z) rounded, at exponents that are far apart. Their sum is the rounding error of y + z.
  void rounding_errors(std::span<T> x) {
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) {
      const std::size_t f = below(of::fields - of::fraction_bits - 1);
      x[i] = number(f);
      x[i + 1] = number(f + below(of::fraction_bits));
      x[i + 2] = -(x[i] + x[i + 1]);
    }
    shuffle(x);
  }
  /// A number, half a unit of its last place, perhaps something small, and pairs that cancel.
  void tie(std::span<T> x) {
    const std::size_t f = below(4) == 0 ? of::fields - 1 : below(of::fields);
    const std::size_t digits = sizeof(T) == 8 || below(2) == 0 ? of::fraction_bits + 1 : 53;  // digits of the sum
    if (f <= digits || x.size() < 4) return any_number(x);
    x[0] = f == of::fields - 1 ? with_random_sign(limits::max()) : number(f);
    x[1] = std::copysign(power(f - digits), x[0]);
    x[2] = below(3) == 0 ? T{0} : number(below(f - digits));
    fill_pairs(x.subspan(3));
    shuffle(x);
  }
  /// All elements are one number, but for one that is larger by so many units that the mean is a tie, or next to one.
  void mean_tie(std::span<T> x) {
    const T low = number(below(of::fields - 1));
    std::ranges::fill(x, low);
    const auto units = x.size() / 2 * (1 + 2 * below(3)) + below(8) / 7;
    x[below(x.size())] = std::bit_cast<T>(static_cast<word>(std::bit_cast<word>(low) + units));
  }
  void zeros(std::span<T> x) {
    const bool only_minus = below(2) == 0;
    fill(x, [&] { return only_minus ? -T{0} : with_random_sign(0); });
    if (below(4) == 0) x[below(x.size())] = number(field());
  }
  void specials(std::span<T> x) {
    any_number(x);
    for (std::size_t i = 0; i < 1 + below(3); ++i) {
      const word nan = of::infinity + 1 + static_cast<word>(random_()) % (of::hidden - 1);
      const word bits = (below(3) == 0 ? nan : of::infinity) | (below(2) == 0 ? of::sign : 0);
      x[below(x.size())] = std::bit_cast<T>(bits);
    }
  }

  generator random_;
  std::size_t next_field_ = 0;
};

}  // namespace fanin::test
