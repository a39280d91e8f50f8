// SPDX-License-Identifier: Apache-2.0
// The CUDA kernel that adds a few vectors element by element, run on the CPU.
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"
// These headers have to come after exact_on_cpu.hpp.
#include "backends/cuda/exact/vector_sums.cuh"
#include "tests/support/adversary.hpp"
#include "tests/support/call.hpp"

namespace fanin::test {
namespace {

/// Checks the sums of `vectors` vectors. value(vector, i) is element i of a vector. The vectors are `offset`
/// elements from a boundary of 16 bytes. The sums are written to the first vector.
template <class T, class Value>
void check_sums(unsigned vectors, std::size_t count, std::size_t offset, Value value) {
  const std::size_t stride = (count + offset + 16 + 15) / 16 * 16;
  std::vector<device_code::vector<T>> memory(stride * vectors / device_code::vector<T>::size + 1);
  T* const x = reinterpret_cast<T*>(memory.data()) + offset;
  std::vector<T> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    exact_accumulator<computed_as<T>> sum;
    for (unsigned k = 0; k < vectors; ++k) {
      x[k * stride + i] = value(k, i);
      sum.add(x[k * stride + i]);
    }
    expected[i] = sum.template round<T>();
  }
  x[count] = T(77.f);
  const cuda::few_vectors<T> all{x, x + stride, vectors - 1, stride * sizeof(T)};
  const std::size_t to_boundary = (16 / sizeof(T) - offset) % (16 / sizeof(T)), head = std::min(to_boundary, count);
  launch(2, cuda::vector_sum_threads, [&] {
    vectors == 2 ? cuda::vector_sums_kernel<T, true>(all, head, count, x)
                 : cuda::vector_sums_kernel<T, false>(all, head, count, x);
  });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += bits_of(x[i]) != bits_of(expected[i]);
  CAPTURE(vectors);
  CAPTURE(count);
  CHECK(wrong == 0);
  CHECK(bits_of(x[count]) == bits_of(T(77.f)));
}

TEST_SUITE("unit/vector_sum_kernels") {
  TEST_CASE_TEMPLATE("adversarial data", T, float, double) {
    adversary<T> random(31);
    for (const unsigned vectors : {1u, 2u, 3u, 4u, 8u, 17u}) {
      // Element i of each vector is of the same kind, so that large parts cancel.
      const auto kinds = adversary<T>::kinds();
      std::vector<std::vector<T>> columns;
      for (std::size_t i = 0; i < 30 * kinds.size(); ++i) {
        columns.push_back(random.make(kinds[i % kinds.size()], vectors));
      }
      check_sums<T>(vectors, columns.size(), vectors % 3, [&](unsigned k, std::size_t i) { return columns[i][k]; });
    }
  }

  TEST_CASE_TEMPLATE("numbers of 16 bits", T, f16, bf16) {
    generator random(32);
    for (const unsigned vectors : {1u, 2u, 2u, 2u, 3u, 5u, 16u}) {
      for (const unsigned changing : {0xffffu, 0x83ffu, 0x80ffu}) {
        constexpr unsigned base = 0x3c00;
        check_sums<T>(vectors, 2000, vectors, [&](unsigned, std::size_t) {
          return T::of_bits(base ^ (static_cast<unsigned>(random()) & changing));
        });
      }
    }
  }

  TEST_CASE_TEMPLATE("ties, and bits far below them", T, float, double, bf16, f16) {
    // The largest number, half a unit of it, and a number so small that it only breaks the tie.
    using limits = std::numeric_limits<T>;
    const T one{1}, half = static_cast<T>(std::ldexp(1.0f, -limits::digits)), tiny = limits::denorm_min();
    const T odd = static_cast<T>(static_cast<computed_as<T>>(one) + static_cast<computed_as<T>>(limits::epsilon()));
    const T minus_half = static_cast<T>(-static_cast<computed_as<T>>(half));
    const T minus_tiny = static_cast<T>(-static_cast<computed_as<T>>(tiny));
    const T rows[][3] = {{one, half, tiny}, {one, half, minus_tiny},       {one, half, T(-0.f)},
                         {odd, half, tiny}, {odd, half, minus_tiny},       {odd, half, T(-0.f)},
                         {one, tiny, half}, {odd, minus_half, minus_tiny}, {odd, minus_half, tiny}};
    check_sums<T>(3, std::size(rows), 0, [&](unsigned k, std::size_t i) { return rows[i][k]; });
  }
}

}  // namespace
}  // namespace fanin::test
