// SPDX-License-Identifier: Apache-2.0
// Runs the loops of the exact CUDA kernels on the CPU, by the threads of one warp, and checks the results.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"
// These headers have to come after exact_on_cpu.hpp.
#define __grid_constant__
#include "backends/cuda/exact/exact_finish.cuh"
#include "backends/cuda/exact/narrow_kernel.cuh"
#include "backends/cuda/exact/window_sums.cuh"
#include "tests/support/call.hpp"

namespace fanin::test {

template <class T>
inline constexpr int loads_of = 4;  ///< vectors of a thread in a tile

/// The tiles of an array of whole vectors, which the last tile may not fill.
template <class Terms>
class array_tiles {
 public:
  using element_vector = cuda::vector<typename Terms::element>;
  using vector = typename Terms::vector;
  static constexpr bool fetches_code_first = sizeof(typename Terms::element) == 8;  // Both values are tested.
  static constexpr int loads = loads_of<typename Terms::element>, unrolled_vectors = loads;
  array_tiles(const Terms& terms, const element_vector* body, std::size_t vectors)
      : terms_(terms), body_(body), vectors_(vectors) {}

  bool has_tile() const { return batch_ * 32 * loads < vectors_; }
  static bool has_vector(int) { return true; }
  vector at(int k) const {
    const std::size_t i = (batch_ * loads + static_cast<std::size_t>(k)) * 32 + threadIdx.x % 32;
    return cuda::arranged(terms_, i < vectors_ ? terms_.load(body_ + i) : vector::negative_zeros());
  }
  vector take(int k) const { return at(k); }
  void advance() { ++batch_; }

 private:
  const Terms& terms_;
  const element_vector* body_;
  std::size_t vectors_, batch_ = 0;
};

/// The sum of the terms of x. The last elements do not fill a vector.
template <class T, class Terms>
auto warp_sum(const Terms& terms, std::span<const T> x) {
  using block_sums = cuda::block_sums_of<Terms, 1>;
  using sums = typename block_sums::sums;
  constexpr std::size_t width = cuda::vector<T>::size;
  static block_sums block;
  std::memset(static_cast<void*>(&block), 0xa5, sizeof block);  // as shared memory may be
  sums total{};
  std::vector<int> visits(sums::count);
  const std::size_t vectors = x.size() / width;
  const auto* const body = reinterpret_cast<const cuda::vector<T>*>(x.data());
  launch(1, 32, [&] {
    block.clear();
    __syncthreads();
    cuda::window_sums<Terms, 1, loads_of<T>> window(terms, block, &total);
    array_tiles<Terms> tiles(terms, body, vectors);
    window.add(tiles);
    window.add_end(x.data() + vectors * width + threadIdx.x, threadIdx.x < x.size() % width);
    window.finish();
    __syncthreads();
    block.for_each_chunk([&](int i, std::int64_t sum) {
      total.at(i) += sum;
      ++visits[static_cast<std::size_t>(i)];
    });
    if (threadIdx.x == 0) total.set_flags(block.seen());
  });
  CHECK(visits == std::vector<int>(sums::count, 1));
  return total;
}

template <class Sum>
auto limbs_of(const Sum& sum) {
  typename Sum::sum_type::words words;
  sum.total().to_words(words);
  return std::vector<std::uint32_t>(std::begin(words), std::end(words));
}

template <class Sum>
void check_same(const Sum& found, const Sum& expected) {
  CHECK(limbs_of(found) == limbs_of(expected));
  CHECK(bits_of(found.template round<float>()) == bits_of(expected.template round<float>()));
  CHECK(bits_of(found.template round<double>()) == bits_of(expected.template round<double>()));
}

/// Checks that the leading bits, which the threads of a warp find, are rounded as the accumulator rounds.
template <class T, int Power>
void check_rounding(const cuda::chunk_sums<T, Power>& total, const basic_exact_accumulator<T, Power>& expected) {
  if (total.seen != cuda::seen_bits::not_negative_zero) return;
  cuda::leading_bits leading{};
  bool fits = false;
  launch(1, 32, [&] {
    const cuda::chunk_span span = cuda::span_of(total);
    if (span.length() > cuda::warp_digits::most) return;
    const cuda::leading_bits found = cuda::leading_bits_of(total, span.first);
    if (threadIdx.x == 0) leading = found, fits = true;
  });
  if (!fits) return;
  CHECK(bits_of(cuda::rounded<float>(leading)) == bits_of(expected.template round<float>()));
  CHECK(bits_of(cuda::rounded<double>(leading)) == bits_of(expected.template round<double>()));
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0} >> 1}) {
    CAPTURE(count);
    const cuda::leading_bits mean = cuda::quotient(leading, count);
    CHECK(bits_of(cuda::rounded<float>(mean)) == bits_of(expected.template mean<float>(count)));
    CHECK(bits_of(cuda::rounded<double>(mean)) == bits_of(expected.template mean<double>(count)));
  }
  if constexpr (Power == 2) {
    const cuda::leading_bits root = cuda::root(leading);
    CHECK(bits_of(cuda::rounded<float>(root)) == bits_of(expected.template root<float>()));
    CHECK(bits_of(cuda::rounded<double>(root)) == bits_of(expected.template root<double>()));
  }
}

template <class R, class T>
void check_dispersion(const cuda::chunk_moments<T>& total, const exact_moments_accumulator<T>& expected,
                      std::size_t count) {
  if (sizeof(T) == 8 && std::is_same_v<R, float>) return;  // Elements of f64 have no such result.
  for (const dispersion_measure measure : {dispersion_measure{false, 0}, {true, 0}, {false, 1}, {true, 1}}) {
    device_result<R> found{};
    const cuda::moments_writer<T> write{nullptr, {&found, detail::number_format::of<R>()}, count, measure};
    launch(1, 32, [&] { write(total); });
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    CHECK(bits_of(found.value) ==
          bits_of(count > measure.ddof ? expected.template dispersion_of<R>(count, measure) : nan));
  }
}

/// The sum of terms of 8 or 16 bits, by the kernel with `blocks` blocks.
template <cuda::narrow_terms What, class T>
auto narrow_sum(operation what, const T* x, const T* y, std::size_t count, unsigned blocks) {
  constexpr int threads = 160;  // at least as many as there are elements before and after the vectors
  using Word = cuda::word_for<T>;
  const cuda::narrow_arrays<Word> arrays(x, y, count, cuda::rule_of(what, type_of<T>));
  cuda::narrow_sums<What> total{}, found{};
  unsigned ticket = 0;
  const auto write = [&found](const auto& sums) {
    if (threadIdx.x == 0) found = sums;
  };
  launch(blocks, threads, [&] { cuda::narrow_kernel<Word, What, threads>(arrays, &total, &ticket, write); });
  const decltype(total) zeros{};
  CHECK(std::memcmp(&total, &zeros, sizeof total) == 0);
  return found;
}

/// Checks sums of x, of magnitudes and squares, and of products of x and y, which begin `offset` elements behind
/// boundaries of vectors.
template <narrow_float T>
void check_narrow_sums(const std::vector<T>& of_x, const std::vector<T>& of_y, std::size_t offset, unsigned blocks) {
  using terms = cuda::narrow_terms;
  alignas(128) static T memory[2][40000];
  const std::size_t count = of_x.size();
  REQUIRE(count + 2 * offset < std::size(memory[0]));
  T* const x = memory[0] + offset;
  T* const y = memory[1] + 2 * offset;
  std::ranges::copy(of_x, x);
  std::ranges::copy(of_y, y);
  exact_accumulator<float> sum, magnitudes;
  exact_square_accumulator<float> squares;
  exact_dot_accumulator<float> dot;
  for (std::size_t i = 0; i < count; ++i) {
    sum.add(x[i]);
    magnitudes.add(std::fabs(x[i]));
    squares.add(x[i]);
    dot.add(x[i], y[i]);
  }
  const auto found = narrow_sum<terms::numbers>(operation::sum, x, x, count, blocks);
  check_same(static_cast<exact_accumulator<float>>(found), sum);
  check_rounding(found, sum);
  check_same(static_cast<exact_accumulator<float>>(
                 narrow_sum<terms::numbers>(operation::sum_of_magnitudes, x, x, count, blocks)),
             magnitudes);
  const auto found_squares = narrow_sum<terms::squares>(operation::norm2, x, x, count, blocks);
  check_same(static_cast<exact_square_accumulator<float>>(found_squares), squares);
  check_rounding(found_squares, squares);
  const auto found_moments = narrow_sum<terms::moments>(operation::variance, x, x, count, blocks);
  CHECK(limbs_of(static_cast<exact_accumulator<float>>(found_moments.sum)) == limbs_of(sum));
  CHECK(limbs_of(static_cast<exact_square_accumulator<float>>(found_moments.squares)) == limbs_of(squares));
  check_dispersion<float>(found_moments, {sum, squares}, count);
  check_dispersion<double>(found_moments, {sum, squares}, count);
  const auto found_dot = narrow_sum<terms::products>(operation::dot, x, y, count, blocks);
  check_same(found_dot.template to_accumulator<exact_dot_accumulator<float>>(), dot);
}

/// Checks the dot product as the last block writes it.
template <class R, class T>
void check_dot_value(const cuda::chunk_sums<T, 2>& total, const exact_dot_accumulator<T>& expected) {
  device_result<R> found{};
  const cuda::exact_sum_writer<T, 2> write{nullptr, {&found, detail::number_format::of<R>()}, sum_value::total, 1};
  launch(1, 32, [&] { write(total); });
  CHECK(bits_of(found.value) == bits_of(expected.template round<R>()));
}

template <class T>
struct alignas(16) aligned {
  T x[2048];
};

/// Calls f(squares, moments) with terms for each arithmetic by which squares of T are summed.
template <class T, class F>
void with_squares(const F& f) {
  using squares = cuda::powers<T, 2>;
  using moments = cuda::moments<T>;
  f(squares(), moments());
  if constexpr (std::is_same_v<T, float>) f(cuda::by_doubles<squares>(), cuda::by_doubles<moments>());
}

/// Checks sums of x, of its squares, and of products of x and y.
template <class T>
void check_sums(const std::vector<T>& x, const std::vector<T>& y) {
  static aligned<T> pair[2];
  std::ranges::copy(x, pair[0].x);
  std::ranges::copy(y, pair[1].x);
  const std::span<const T> elements(pair[0].x, x.size());

  exact_accumulator<T> sum;
  sum.add(elements);
  const auto found = warp_sum(cuda::powers<T, 1>(), elements);
  check_same(static_cast<exact_accumulator<T>>(found), sum);
  check_rounding(found, sum);

  exact_square_accumulator<T> squares;
  squares.add(elements);
  with_squares<T>([&](const auto& of_squares, const auto& of_moments) {
    const auto found_squares = warp_sum(of_squares, elements);
    check_same(static_cast<exact_square_accumulator<T>>(found_squares), squares);
    check_rounding(found_squares, squares);
    const auto moments = warp_sum(of_moments, elements);
    CHECK(limbs_of(static_cast<exact_accumulator<T>>(moments.sum)) == limbs_of(sum));
    CHECK(limbs_of(static_cast<exact_square_accumulator<T>>(moments.squares)) == limbs_of(squares));
    check_dispersion<float>(moments, {sum, squares}, x.size());
    check_dispersion<double>(moments, {sum, squares}, x.size());
  });

  exact_dot_accumulator<T> dot;
  for (std::size_t i = 0; i < x.size(); ++i) dot.add(x[i], y[i]);
  const auto products = warp_sum(cuda::products<T, true>{sizeof(pair[0])}, elements);
  check_same(products.template to_accumulator<exact_dot_accumulator<T>>(), dot);
  check_dot_value<double>(products, dot);
  if constexpr (sizeof(T) == 4) check_dot_value<float>(products, dot);
}

}  // namespace fanin::test
