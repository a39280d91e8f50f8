// SPDX-License-Identifier: Apache-2.0
// Tests the code of the exact CUDA kernels, run on the CPU by the threads of one warp: windows, the block's chunks,
// and the rounding. Bulk copies, and sums of several blocks, need a device.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/exact_warp.hpp"
// These headers have to come after exact_warp.hpp.
#include "tests/support/adversary.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

TEST_SUITE("unit/exact_kernels") {
  TEST_CASE_TEMPLATE("numbers of 8 and 16 bits", T, f16, bf16, e5m2, e4m3) {
    generator random(16);
    constexpr int digits = std::numeric_limits<T>::digits, last = 2 * T::bias;
    for (const std::size_t count : {1, 7, 300, 1030, 6000}) {
      // Elements that differ in the lower bits only are in a window; of all exponents, most are not.
      for (const unsigned upper : {0x0fffu, 0x83ffu, 0x7fffu, 0xffffu}) {
        const unsigned changing = upper >> (16 - T::width);
        constexpr unsigned base = 0x3c00 >> (16 - T::width), finite = ~(1u << (T::width - 2));
        std::vector<T> x(count), y(count);
        for (std::size_t i = 0; i < count; ++i) {
          do x[i] = T::of_bits(base ^ (static_cast<unsigned>(random()) & changing));
          while (!std::isfinite(x[i]) && random() % 512 != 0);
          y[i] = T::of_bits(base ^ (static_cast<unsigned>(random()) & changing & finite));
        }
        CAPTURE(count);
        CAPTURE(changing);
        check_narrow_sums(x, y, count % 16, count == 6000 ? 2 : 1);
      }
    }
    // The ends of the exponents, where windows end too, and subnormal numbers.
    for (const auto& [least, most] : {std::pair{std::max(last - 20, 0), last},
                                      {last - 12, last - 5},
                                      {last - 5, last - 4},
                                      {0, 3},
                                      {0, std::min(30, last)},
                                      {1, 12},
                                      {0, 0}}) {
      std::vector<T> x(1030), y(1030, T{1});
      for (T& v : x) {
        const auto exponent = static_cast<unsigned>(least) + static_cast<unsigned>(random()) % (most - least + 1u);
        v = T::of_bits(static_cast<unsigned>(random()) % 2 << (T::width - 1) | exponent << (digits - 1) |
                       (static_cast<unsigned>(random()) & ((1u << (digits - 1)) - 1)));
      }
      CAPTURE(least);
      CAPTURE(most);
      check_narrow_sums(x, y, 0, 1);
    }
    check_narrow_sums(std::vector<T>(1029, T(-0.0f)), std::vector<T>(1029, T{1}), 0, 1);
    check_narrow_sums(std::vector<T>(1029, std::numeric_limits<T>::max()),
                      std::vector<T>(1029, std::numeric_limits<T>::lowest()), 0, 1);
    check_narrow_sums(std::vector<T>(1029, std::numeric_limits<T>::denorm_min()), std::vector<T>(1029, T(-0.0f)), 1,
                      1);
  }

  TEST_CASE_TEMPLATE("numbers of 16 bits at both ends of a window", T, f16, bf16) {
    // The first elements choose a window. Those behind them are of each binade in turn, and then others are chosen.
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, last = 2 * T::bias;
    for (const int first : {1, last / 3, last / 2, last - 1}) {
      std::vector<T> x(30000), y(x.size(), T{1});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto field = static_cast<unsigned>(i < 6000 ? first : (i / 97) % (last + 1u));
        x[i] = T::of_bits(field << mantissa | (i % 5 == 0 ? (1u << mantissa) - 1 : 1u) |
                          (i % 3 == 0 ? T::sign_bit : 0u));
        if (i % 7 == 0) x[i] = T{0};
        if (i % 11 == 0) y[i] = x[x.size() - 1 - i];
      }
      CAPTURE(first);
      check_narrow_sums(x, y, 3, 1);
    }
  }

  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    adversary<T> random(8);
    for (int round = 0; round < 2; ++round) {
      for (const auto& kind : adversary<T>::kinds()) {
        CAPTURE(kind.name);
        const std::vector<T> x = random.make(kind, 1 + random.below(round == 0 ? 600 : 2000));
        std::vector<T> y = x;
        random.shuffle(y);
        check_sums(x, y);
      }
    }
  }

  TEST_CASE_TEMPLATE("zeros of both signs, and infinities times zeros", T, float, double) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    std::vector<T> x(65, -T{0}), y(65, T{1});  // One element is behind the whole vectors.
    check_sums(x, y);
    check_sums(y, x);
    x.back() = 0;
    check_sums(x, y);
    x.back() = inf;
    check_sums(x, y);
    y.back() = 0;
    check_sums(x, y);
    check_sums(y, x);
    y.back() = -T{0};
    check_sums(x, y);
  }

  TEST_CASE_TEMPLATE("tiles full of the largest terms that a window holds, and of terms beyond it", T, float,
                     double) {
    // The first tile chooses a window with room for terms that are 2^8 times as large.
    constexpr std::size_t tile = 32 * loads_of<T> * cuda::vector<T>::size;
    for (int up = 4; up < 12; ++up) {
      const T power = std::ldexp(T{1}, up);
      for (const T large : {power, -power, std::nextafter(power, T{0}), -3 * power}) {
        std::vector<T> x(3 * tile, T{1});
        std::fill(x.begin() + tile, x.end(), large);
        CAPTURE(large);
        check_sums(x, x);
      }
    }
  }

  TEST_CASE("terms in the lowest and in the highest binade of a window of doubles") {
    // The first tile chooses a window from 2^-20 to 2^5. Both binades have terms with all digits, in each chain.
    constexpr std::size_t tile = 32 * loads_of<float> * cuda::vector<float>::size;
    const float high = std::nextafter(32.0f, 0.0f), low = std::ldexp(std::nextafter(2.0f, 0.0f), -20);
    generator random(61);
    std::vector<float> x(3 * tile, 1);
    for (std::size_t i = tile; i < x.size(); ++i)
      x[i] = (random() % 2 == 0 ? high : low) * (random() % 8 == 0 ? -1 : 1);
    check_sums(x, x);
  }

  TEST_CASE_TEMPLATE("more tiles than the sums of a window hold", T, float, double) {
    // The first tile chooses a window with room for terms that are less than 2^5 times as large.
    constexpr std::size_t tile = 32 * loads_of<T> * cuda::vector<T>::size;
    for (const T large : {std::nextafter(T{-32}, T{0}), std::nextafter(T{32}, T{0}), T{-16}, T{32}}) {
      std::vector<T> x(1100 * tile, large);
      std::fill_n(x.begin(), tile, T{1});
      const std::span<const T> elements(x);
      exact_accumulator<T> sum;
      sum.add(elements);
      check_same(static_cast<exact_accumulator<T>>(warp_sum(cuda::powers<T, 1>(), elements)), sum);
      exact_square_accumulator<T> squares;
      squares.add(elements);
      with_squares<T>([&](const auto& of_squares, const auto& of_moments) {
        const auto moments = warp_sum(of_moments, elements);
        CHECK(limbs_of(static_cast<exact_accumulator<T>>(moments.sum)) == limbs_of(sum));
        CHECK(limbs_of(static_cast<exact_square_accumulator<T>>(moments.squares)) == limbs_of(squares));
        check_same(static_cast<exact_square_accumulator<T>>(warp_sum(of_squares, elements)), squares);
      });
      const std::size_t half = x.size() / 2;
      exact_dot_accumulator<T> dot;
      for (std::size_t i = 0; i < half; ++i) dot.add(x[i], x[half + i]);
      const auto products =
          warp_sum(cuda::products<T, true>{static_cast<std::ptrdiff_t>(half * sizeof(T))}, elements.first(half));
      check_same(products.template to_accumulator<exact_dot_accumulator<T>>(), dot);
    }
  }

  TEST_CASE_TEMPLATE("zeros beside numbers of any binade", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (int exponent = limits::min_exponent - limits::digits; exponent < limits::max_exponent;
         exponent += exponent < limits::max_exponent - 40 ? 13 : 1) {
      std::vector<T> x(130, T{0});
      for (std::size_t i = 0; i < x.size(); i += 3) x[i] = std::ldexp(i % 2 == 0 ? T{1.25} : T{-1.5}, exponent);
      CAPTURE(exponent);
      exact_accumulator<T> sum;
      sum.add(std::span<const T>(x));
      check_same(static_cast<exact_accumulator<T>>(warp_sum(cuda::powers<T, 1>(), std::span<const T>(x))), sum);
      exact_square_accumulator<T> squares;
      squares.add(std::span<const T>(x));
      with_squares<T>([&](const auto& terms, const auto&) {
        check_same(static_cast<exact_square_accumulator<T>>(warp_sum(terms, std::span<const T>(x))), squares);
      });
    }
  }

  TEST_CASE_TEMPLATE("a few terms of each tile outside of the window, more than the words of a block hold", T, float,
                     double) {
    constexpr std::size_t width = cuda::vector<T>::size, tile = 32 * loads_of<T> * width;
    std::vector<T> x(600 * tile, T{1});
    // Most of a thread's terms, of 15 threads: their lowest 16 bits are ones. A thread's last vector in a tile has a
    // zero.
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool last = i / width / 32 % loads_of<T> == loads_of<T> - 1;
      if (i / width % 32 < 15) x[i] = last ? T(i % 2) : std::ldexp(T{0xffff}, -60);
    }
    exact_accumulator<T> sum;
    sum.add(std::span<const T>(x));
    check_same(static_cast<exact_accumulator<T>>(warp_sum(cuda::powers<T, 1>(), std::span<const T>(x))), sum);
  }

  TEST_CASE_TEMPLATE("a root just above a tie", T, float, double) {
    // The sums of squares are the squares of 2^24 + 1 and 2^53 + 1, and a little more. The roots are half-way
    // between two floats and two doubles, and so little more that 64 bits of the root do not show it.
    const std::vector<T> above_float{T{0x1p24}, T{0x1p12}, T{0x1p12}, T{1}, T{0x1p-20}};
    const std::vector<T> above_double{T{0x1p53}, T{0x1p27}, T{1}, T{0x1p-10}};
    check_sums(above_float, above_float);
    check_sums(above_double, above_double);
  }

  TEST_CASE_TEMPLATE("variances of sums and squares that are far apart", T, float, double) {
    constexpr int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const T d : {std::ldexp(T{3}, -15), std::ldexp(T{3}, -50)}) {
      for (const T one : {T{1}, T{-1}}) {
        // The d of a thread cancel. The sum of the thread then has no bits as low as the bits of the squares.
        check_sums(std::vector<T>{d, -d, one, one}, std::vector<T>{d, d, d, d});
      }
    }
    // A thread's large elements cancel, whose squares are too far above the rest for few words.
    const T large = std::ldexp(T{1}, sizeof(T) == 4 ? 75 : lowest + 224);
    check_sums(std::vector<T>{large, -large, tiny, tiny}, std::vector<T>{tiny, tiny, tiny, tiny});
  }

  TEST_CASE_TEMPLATE("more additions than the words of a block hold", T, float, double) {
    // No window holds both. A chunk of the sum receives 0xffff with each of the large terms.
    std::vector<T> x(36000 * 2 * 32, std::numeric_limits<T>::max());
    for (std::size_t i = 0; i < x.size(); i += 2) x[i] = std::numeric_limits<T>::min();
    exact_accumulator<T> sum;
    sum.add(std::span<const T>(x));
    check_same(static_cast<exact_accumulator<T>>(warp_sum(cuda::powers<T, 1>(), std::span<const T>(x))), sum);
  }

  TEST_CASE("more additions of bf16 than the words of a block hold") {
    // No window holds both. Each of the large terms adds almost 2^15 to a word of its thread.
    const std::size_t count = 2 * 70000 * 32;
    std::vector<bf16> memory(count + 64, bf16::of_bits(0x7bff));
    auto* const x = reinterpret_cast<bf16*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 127) / 128 * 128);
    for (std::size_t i = 0; i < count; i += 2) x[i] = std::numeric_limits<bf16>::min();
    const auto found = narrow_sum<cuda::narrow_terms::numbers>(operation::sum, x, x, count, 1);
    exact_accumulator<float> sum;
    for (std::size_t i = 0; i < count; ++i) sum.add(x[i]);
    check_same(static_cast<exact_accumulator<float>>(found), sum);
  }

  TEST_CASE_TEMPLATE("chunks of any size and sign", T, float, double) {
    generator random(9);
    using sums = cuda::chunk_sums<T>;
    for (int input = 0; input < 300; ++input) {
      sums total{};
      total.seen = cuda::seen_bits::not_negative_zero;
      const int lowest = static_cast<int>(random() % sums::count),
                highest = std::min(lowest + input % 20, sums::count - 5);
      for (int i = lowest; i <= highest; ++i) {
        // Mostly small numbers, all ones, and the largest chunks that carries leave.
        const auto bits = static_cast<std::int64_t>(random());
        const std::int64_t kinds[] = {0, -1, 1, 0xffff, bits >> 48, bits >> 2, bits >> 1, -0x10000};
        total.chunk[i] = kinds[random() % 8];
      }
      CAPTURE(input);
      check_rounding(total, static_cast<exact_accumulator<T>>(total));
    }
  }

  TEST_CASE_TEMPLATE("carries that run through whole digits of a thread", T, float, double) {
    // A thread has five chunks, and adds a bias of 2^50. A thread of ones then has a carry out, and one that is less
    // by the bias passes on the carry that it receives.
    cuda::chunk_sums<T> total{};
    total.seen = cuda::seen_bits::not_negative_zero;
    const std::int64_t passes[] = {0xffff, 0xffff, 0xffff, 0xffff - 4, 0xffff};
    for (int i = 0; i < 5; ++i) total.chunk[i] = 0xffff;
    for (int i = 5; i < 10; ++i) total.chunk[i] = passes[i % 5];
    check_rounding(total, static_cast<exact_accumulator<T>>(total));
    for (std::int64_t& chunk : total.chunk) chunk = -chunk;
    check_rounding(total, static_cast<exact_accumulator<T>>(total));
  }

  TEST_CASE_TEMPLATE("a tie and one bit far below it, in every place of a thread's digit", T, float, double) {
    generator random(10);
    for (int first = 170; first < 250; ++first) {
      for (const int digits : {24, 24, 53, 53}) {
        const int half = first - digits, last = half - 1 - static_cast<int>(random() % 110);
        cuda::chunk_sums<T> total{};
        total.seen = cuda::seen_bits::not_negative_zero;
        for (const int bit : {first, half, last}) total.chunk[bit / 16] += std::int64_t{1} << bit % 16;
        CAPTURE(first);
        CAPTURE(last);
        check_rounding(total, static_cast<exact_accumulator<T>>(total));
      }
    }
  }

  TEST_CASE_TEMPLATE("small terms at the lower end of a window", T, float, double) {
    constexpr std::size_t tile = 32 * loads_of<T> * cuda::vector<T>::size;
    for (int down = sizeof(T) == 4 ? 60 : 135; down < (sizeof(T) == 4 ? 80 : 165); down += sizeof(T) == 4 ? 1 : 2) {
      std::vector<T> x(tile, T{1});
      for (std::size_t i = 0; i < x.size(); i += 7)
        x[i] = std::ldexp(T{1} + std::numeric_limits<T>::epsilon(), -down);
      CAPTURE(down);
      check_sums(x, std::vector<T>(x.size(), T{1}));
    }
  }

  TEST_CASE("remainders of one sign, almost half a unit of the first level each") {
    constexpr std::size_t tile = 32 * loads_of<float> * cuda::vector<float>::size;
    for (int down = 20; down < 34; ++down) {
      std::vector<float> x(tile, std::nextafter(std::ldexp(1.0f, -down) + 0x1p-43f, 0.0f));
      for (std::size_t i = 0; i < x.size(); i += 64) x[i] = 1;
      CAPTURE(down);
      check_sums(x, x);
    }
  }

  TEST_CASE("products whose rounding errors are too small for a double") {
    for (int down = 470; down < 520; ++down) {
      std::vector<double> x(256, 0x1p-452);
      for (std::size_t i = 0; i < x.size(); i += 7) x[i] = std::ldexp(1 + 0x1p-52, -down);
      CAPTURE(down);
      check_sums(x, x);
    }
    std::vector<double> x(256, 0x1p-452);  // The square of a number below 2^-1042 is 0 as a double.
    x[100] = 3 * std::numeric_limits<double>::denorm_min();
    check_sums(x, x);
  }

  TEST_CASE_TEMPLATE("ties of the rounding, and the bits that break them", T, float, double) {
    constexpr int digits = std::numeric_limits<T>::digits;
    for (const int exponent : {0, 31, -64, std::numeric_limits<T>::min_exponent + 2}) {
      for (const int below : {1, 2, 40, 64, 90, 200}) {
        const T one = std::ldexp(T{1}, exponent), half = std::ldexp(one, -digits), tiny = std::ldexp(half, -below);
        for (const T odd : {T{0}, 2 * half}) {
          for (const T sign : {T{1}, T{-1}}) {
            for (const T last : {T{0}, tiny, -tiny}) {
              const std::vector<T> x{sign * one, sign * odd, sign * half, sign * last};
              exact_accumulator<T> sum;
              sum.add(std::span<const T>(x));
              check_rounding(warp_sum(cuda::powers<T, 1>(), std::span<const T>(x)), sum);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
