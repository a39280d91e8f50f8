// SPDX-License-Identifier: Apache-2.0
// Tests the exact sums and dot products of complex numbers on CUDA, run on the CPU by the threads of one warp. One
// pass over the elements sums both parts.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "tests/unit/exact_warp.hpp"
// These headers have to come after exact_warp.hpp.
#include "backends/cuda/exact/grid_sums.cuh"
#include "tests/support/adversary.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
using complexes = std::vector<std::complex<T>>;

template <class T>
complexes<T> joined(const std::vector<T>& re, const std::vector<T>& im) {
  complexes<T> z;
  for (std::size_t i = 0; i < re.size(); ++i) z.emplace_back(re[i], im[i]);
  return z;
}

/// The first element at a boundary of 16 bytes.
template <class T>
std::complex<T>* aligned_to_16(std::vector<std::complex<T>>& memory) {
  return reinterpret_cast<std::complex<T>*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16);
}

/// The sums as the last block writes them.
template <class Writer, class Sums>
Sums written(const Sums& total) {
  Sums out;
  std::memset(static_cast<void*>(&out), 0x5a, sizeof out);
  launch(1, 32, [&] { Writer{&out, {}, sum_value::total, 1}(total); });
  return out;
}

/// Checks the values that the last block writes in place of the sums: R of both parts is expected.
template <class Writer, class R, class Sums>
void check_values(const Sums& total, sum_value value, std::uint64_t count, R re, R im, bool has_negative_zero) {
  device_result<std::complex<R>> found{{R{77}, R{77}}, 77};
  const Writer write{nullptr, {&found, detail::number_format::of<R>(), has_negative_zero}, value, count};
  launch(1, 64, [&] { write(total); });
  CHECK(bits_of(found.value.real()) == bits_of(re));
  CHECK(bits_of(found.value.imag()) == bits_of(im));
  CHECK(found.overflowed == 0);
}

/// Calls f(R()) for the types of results of T.
template <class T, class F>
void for_results(const F& f) {
  f(double());
  if constexpr (sizeof(T) == 4) f(float());
}

template <class T>
void check_sum(std::span<const std::complex<T>> z) {
  exact_accumulator<T> re, im;
  for (const std::complex<T>& x : z) re.add(x.real()), im.add(x.imag());
  using writer = cuda::complex_writer<T, 1>;
  const cuda::chunk_parts<T> total = warp_sum(cuda::powers<std::complex<T>, 1>(), z), found = written<writer>(total);
  check_same(static_cast<exact_accumulator<T>>(found.re), re);
  check_same(static_cast<exact_accumulator<T>>(found.im), im);
  for_results<T>([&]<class R>(R) {
    const std::uint64_t count = z.size();
    check_values<writer>(total, sum_value::total, count, re.template round<R>(), im.template round<R>(), true);
    check_values<writer>(total, sum_value::mean, count, re.template mean<R>(count), im.template mean<R>(count), true);
  });
}

/// Checks the dot product of x, or of its conjugate, and y, which begins at `distance` bytes behind x.
template <bool Aligned, class T>
void check_dot(std::span<const std::complex<T>> x, std::ptrdiff_t distance, bool conjugated) {
  const std::complex<T>* const y = cuda::second_array<std::complex<T>>{distance}.at(x.data());
  exact_dot_accumulator<T> re, im;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T b = conjugated ? -x[i].imag() : x[i].imag();
    re.add(x[i].real(), y[i].real()), re.add(-b, y[i].imag());
    im.add(x[i].real(), y[i].imag()), im.add(b, y[i].real());
  }
  CAPTURE(conjugated);
  using writer = cuda::complex_writer<T, 2>;
  const cuda::chunk_part_products<T> total =
      warp_sum(cuda::complex_products<T, Aligned>{{{distance}}, conjugated ? detail::float_format<T>::sign : 0}, x);
  const auto found = written<writer>(total);
  CHECK(limbs_of(static_cast<exact_dot_accumulator<T>>(found.re)) == limbs_of(re));
  CHECK(limbs_of(static_cast<exact_dot_accumulator<T>>(found.im)) == limbs_of(im));
  for_results<T>([&]<class R>(R) {
    check_values<writer>(total, sum_value::total, x.size(), accumulator::without_sign_of_zero(re.template round<R>()),
                         accumulator::without_sign_of_zero(im.template round<R>()), false);
  });
}

/// Checks sums of x, and of products with y.
template <class T>
void check_parts(const complexes<T>& x, const complexes<T>& y) {
  static aligned<std::complex<T>> pair[2];
  REQUIRE(x.size() < std::size(pair[0].x));
  std::ranges::copy(x, pair[0].x);
  std::ranges::copy(y, pair[1].x);
  const std::span<const std::complex<T>> elements(pair[0].x, x.size());
  check_sum(elements);
  for (const bool conjugated : {false, true}) check_dot<true>(elements, sizeof pair[0], conjugated);
  if constexpr (sizeof(T) == 4) {
    std::ranges::copy(y, pair[1].x + 1);
    for (const bool conjugated : {false, true}) {
      check_dot<false>(elements, sizeof pair[0] + sizeof(std::complex<T>), conjugated);
    }
  }
}

TEST_SUITE("unit/exact_parts") {
  TEST_CASE_TEMPLATE("adversarial data in each part", T, float, double) {
    adversary<T> random(8);
    for (const auto& kind : adversary<T>::kinds()) {
      CAPTURE(kind.name);
      const std::size_t count = 1 + random.below(400);
      const std::vector<T> re = random.make(kind, count);
      std::vector<T> im = re, ones(count, T{1});
      random.shuffle(im);
      check_parts(joined(re, im), joined(im, re));
      check_parts(joined(re, ones), joined(ones, ones));
      check_parts(joined(ones, im), joined(re, ones));
    }
  }

  TEST_CASE_TEMPLATE("parts that are far apart, and zeros", T, float, double) {
    generator random(4);
    constexpr int range = std::numeric_limits<T>::max_exponent - 2;
    for (const int apart : {0, 31, 60, range}) {
      for (const std::size_t count : {1, 2, 33, 255, 531}) {
        complexes<T> x(count), y(count);
        for (std::size_t i = 0; i < count; ++i) {
          const T a = static_cast<T>(random() % 4096) - 2048, b = static_cast<T>(random() % 4096) + T{0.25};
          x[i] = {a, std::ldexp(b, -apart)};
          y[i] = {i % 3 == 0 ? T{0} : b, i % 5 == 0 ? std::ldexp(a, -apart) : a};
        }
        CAPTURE(apart);
        CAPTURE(count);
        check_parts(x, y);
        check_parts(y, x);
      }
    }
  }

  TEST_CASE_TEMPLATE("zeros of both signs in one part", T, float, double) {
    const T zero = T{0}, minus = -T{0};
    for (const std::size_t count : {1, 66, 515}) {
      for (const T other : {zero, minus, T{1}, std::numeric_limits<T>::denorm_min()}) {
        complexes<T> x(count, {other, minus});
        const complexes<T> y(count, {minus, other});
        check_parts(x, y);
        check_parts(y, x);
        // A positive zero is the first, one of the last, or the very last element, which fills no vector of two.
        for (const std::size_t at : {std::size_t{0}, count * 9 / 10, count - 1}) {
          const auto before = std::exchange(x[at], {other, zero});
          check_parts(x, y);
          x[at] = before;
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("products below half of the smallest number, of both signs", T, float, double) {
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const T x : {tiny, -tiny}) {
      for (const T y : {tiny, -tiny}) check_parts<T>({{x, T{0}}}, {{y, -y}});
    }
  }

  TEST_CASE_TEMPLATE("a part of -0 beside wide data, and one +0 behind it", T, float, double) {
    // Half of the threads have terms outside of each window, so that tiles are added one by one.
    constexpr std::size_t tile = 32 * loads_of<T> * cuda::vector<std::complex<T>>::size;
    std::vector<std::complex<T>> memory(20 * tile + 8);
    auto* const x = aligned_to_16(memory);
    for (std::size_t i = 0; i < 20 * tile; ++i) x[i] = {std::ldexp(T{1}, i % 2 == 0 ? 60 : -60), -T{0}};
    for (const T last : {-T{0}, T{0}}) {
      x[20 * tile - 5] = {T{1}, last};
      check_sum(std::span<const std::complex<T>>(x, 20 * tile));
    }
    // Few terms are outside here, and tiles are added in windows.
    for (std::size_t i = 0; i < 20 * tile; ++i) x[i] = {i % 97 == 0 ? std::ldexp(T{1}, -60) : T{1}, -T{0}};
    for (const T last : {-T{0}, T{0}}) {
      x[20 * tile - 5] = {T{1}, last};
      check_sum(std::span<const std::complex<T>>(x, 20 * tile));
    }
  }

  TEST_CASE_TEMPLATE("infinities and NaN in one part, and infinities times zeros", T, float, double) {
    constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const std::size_t at : {0, 77, 130}) {
      for (const T special : {inf, -nan}) {
        for (const bool imaginary : {false, true}) {
          complexes<T> x(131, {T{1}, T{2}}), y(131, {T{3}, T{4}});
          x[at] = imaginary ? std::complex<T>(T{1}, special) : std::complex<T>(special, T{1});
          check_parts(x, y);
          check_parts(y, x);
          y[at] = {T{0}, T{1}};
          check_parts(x, y);
          y[at] = {-T{0}, inf};
          check_parts(x, y);
          x[at / 2] = {-inf, -inf};
          check_parts(x, y);
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("more tiles than the sums of a window hold", T, float, double) {
    // The first tile chooses windows with room for terms that are less than 2^5 times as large.
    constexpr std::size_t width = cuda::vector<std::complex<T>>::size, tile = 32 * loads_of<T> * width;
    const T large = std::nextafter(T{32}, T{0});
    for (const auto& [a, b, c, d] : {std::array{large, large, large, large},
                                     {large, large, large, -large},
                                     {large, -large, large, large},
                                     {-large, large, T{-16}, large},
                                     {T{-32}, T{1}, large, T{0}}}) {
      const std::size_t count = 300 * tile;
      std::vector<std::complex<T>> memory(2 * count + 8);
      auto* const x = aligned_to_16(memory);
      std::fill_n(x, count, std::complex<T>(a, b));
      std::fill_n(x + count, count, std::complex<T>(c, d));
      std::fill_n(x, tile, std::complex<T>(1, 1));
      std::fill_n(x + count, tile, std::complex<T>(1, 1));
      const std::span<const std::complex<T>> elements(x, count);
      check_sum(elements);
      check_dot<true>(elements, static_cast<std::ptrdiff_t>(count * sizeof(std::complex<T>)), false);
    }
  }

  TEST_CASE_TEMPLATE("more additions than the words of a block hold", T, float, double) {
    // No window holds both numbers. Some word receives almost 2^16 with each product. c128 has two threads for a
    // word.
    const std::size_t count = 32 * (sizeof(T) == 4 ? 18000 : 9000);
    std::vector<std::complex<T>> memory(2 * count + 8);
    auto* const x = aligned_to_16(memory);
    const T large = std::numeric_limits<T>::max(), small = std::numeric_limits<T>::min();
    for (std::size_t i = 0; i < count; ++i) x[i] = i / 2 % 2 == 0 ? std::complex<T>(large, -large) : small;
    std::fill_n(x + count, count, std::complex<T>(std::nextafter(T{1}, T{0}), std::nextafter(T{1}, T{0})));
    check_dot<true>(std::span<const std::complex<T>>(x, count),
                    static_cast<std::ptrdiff_t>(count * sizeof(std::complex<T>)), false);
  }

  TEST_CASE_TEMPLATE("flags of parts from several blocks", T, float, double) {
    using block_sums = cuda::shared_parts<T, 1, 1>;
    using sums = typename block_sums::sums;
    sums total{}, found{};
    unsigned ticket = 0;
    launch(3, 32, [&] {
      __shared__ block_sums block;
      __shared__ sums result;
      block.clear();
      __syncthreads();
      std::complex<T> one[] = {{T{1}, -T{0}}};
      if (blockIdx.x == 1) one[0].real(std::numeric_limits<T>::infinity());
      if (blockIdx.x == 2) one[0].imag(std::numeric_limits<T>::quiet_NaN());
      block.note_terms(cuda::not_negative_zeros(one[0]));
      block.add_few(one);
      __syncthreads();
      cuda::finish_grid<32>(block, result, &total, &ticket, cuda::complex_writer<T, 1>{&found, {}, {}, 0});
    });
    using seen = cuda::seen_bits;
    CHECK(found.re.seen == (seen::not_negative_zero | seen::plus_infinity));
    CHECK(found.im.seen == (seen::not_negative_zero | seen::nan));
    const sums zeros{};
    CHECK(std::memcmp(&total, &zeros, sizeof total) == 0);
  }
}

}  // namespace
}  // namespace fanin::test
