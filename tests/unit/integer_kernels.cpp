// SPDX-License-Identifier: Apache-2.0
// Tests the kernel of rows of any strides for squares of integers of 32 and 64 bits, run on the CPU by the threads of
// a block: a state holds several slots, and elements behind the end of a row are read as zeros.
#include <doctest/doctest.h>

#include <vector>

#include "tests/support/call.hpp"
#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
// These headers have to come after the CUDA extensions.
#include <fanin/recipe.hpp>

#include "backends/cuda/batch/columns_kernel.cuh"
#include "backends/cuda/batch/lines_kernel.cuh"
#include "tests/unit/local_words.hpp"

namespace fanin::test {
namespace {

/// A writer of kernels that keeps the states of results, and the numbers of their elements that are absent.
template <class A>
struct keep_results {
  std::vector<typename A::state>* states;
  std::vector<std::uint64_t>* absent;
  cuda::batch_status* status = nullptr;
  void operator()(const cuda::batch_item& item, std::uint64_t left_out, const typename A::state& s) const {
    (*states)[item.result] = s;
    (*absent)[item.result] += left_out;
  }
};

/// Random integers of any size, and the batch of `results` rows of `length` of them.
template <class T, operation What>
struct integer_rows {
  using A = local<T, What, cuda::device_accumulator_of<recipe<What, method::fast, T>>>;
  std::vector<typename A::element> x;
  std::vector<std::uint8_t> mask;
  cuda::batch_elements all{};

  integer_rows(std::size_t count, std::size_t results, std::size_t length) : x(count), mask(count) {
    std::uint64_t random = 88172645463325252u + count;
    for (std::size_t i = 0; i < count; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      x[i] = static_cast<typename A::element>(random >> (i % 5 * 13));
      if (i % 7 == 3) x[i] = cuda::upper_bit<typename A::element>;
      mask[i] = i % 3 != 1;
    }
    all.x = all.y = x.data();
    all.x_end = x.data() + count;
    all.rule = A::rule_of_words();
    all.kind = layout::rows;
    all.results = results;
    all.length = all.chunk = all.least_chunk = length;
    all.chunks = all.kept = all.reduced = 1;
    all.largest_number = ~std::uint64_t{0};
  }
  /// Runs a kernel, and checks its states and its numbers of absent elements. Neighbouring elements of a row are
  /// `step` elements apart, and the first elements of rows `stride` elements.
  template <class Kernel>
  void check(std::size_t stride, std::size_t step, const Kernel& kernel) {
    all.axes[0] = {all.results, {static_cast<std::ptrdiff_t>(stride)}, static_cast<std::ptrdiff_t>(stride)};
    all.axes[1] = {all.length, {static_cast<std::ptrdiff_t>(step)}, static_cast<std::ptrdiff_t>(step)};
    std::vector<typename A::state> states(all.results);
    std::vector<std::uint64_t> absent(all.results);
    kernel(keep_results<A>{&states, &absent});
    for (std::size_t row = 0; row < all.results; ++row) {
      CAPTURE(row);
      auto expected = A::identity();
      std::uint64_t left_out = 0;
      for (std::size_t k = 0; k < all.length; ++k) {
        const std::size_t i = row * stride + k * step;
        const bool takes_part = !all.partial || mask[i] != 0;
        if (takes_part) A::add(expected, number_of<A>(x[i]));
        left_out += takes_part ? 0 : 1;
      }
      REQUIRE(states[row] == expected);
      REQUIRE(absent[row] == left_out);
    }
  }
};

/// Columns, without and with a mask.
template <class T, operation What>
void check_columns(std::size_t columns, std::size_t length) {
  integer_rows<T, What> test(columns * length, columns, length);
  using A = typename integer_rows<T, What>::A;
  for (const bool masked : {false, true}) {
    CAPTURE(masked);
    test.all.partial = masked;
    if (masked) test.all.mask.data = test.mask.data();
    for (const unsigned width : {4u, 16u, 64u}) {
      CAPTURE(width);
      test.check(1, columns,
                 [&](const auto& write) { launch(2, 64, [&] { cuda::columns_kernel<A>(test.all, width, write); }); });
    }
  }
}
/// Rows at any alignment, with `gap` elements between them.
template <class T, operation What>
void check_rows(std::size_t rows, std::size_t length, std::size_t gap) {
  integer_rows<T, What> test(rows * (length + gap), rows, length);
  using A = typename integer_rows<T, What>::A;
  for (const unsigned group_size : {2u, 8u, 32u}) {
    const std::size_t most = group_size * cuda::vector<typename A::element>::size * cuda::tuning::turns_of_short<A>;
    if (group_size < 32 && length > most) continue;
    CAPTURE(group_size);
    test.check(length + gap, 1, [&](const auto& write) {
      launch(2, cuda::tuning::line_threads, [&] { cuda::lines_kernel<A>(test.all, group_size, write); });
    });
  }
}

TEST_SUITE("unit/batch_kernels") {
  TEST_CASE("squares of wide integers in columns") {
    for (const std::size_t length : {1, 3, 17, 64, 300}) {
      for (const std::size_t columns : {1, 5, 70}) {
        CAPTURE(length);
        CAPTURE(columns);
        check_columns<std::int32_t, operation::variance>(columns, length);
        check_columns<std::uint32_t, operation::norm2>(columns, length);
        check_columns<std::int64_t, operation::variance>(columns, length);
        check_columns<std::int32_t, operation::sum_of_squares>(columns, length);
        check_columns<std::uint64_t, operation::sum_of_squares>(columns, length);
      }
    }
  }
  TEST_CASE("squares of wide integers in rows") {
    for (const std::size_t length : {1, 5, 31, 64, 130, 1100}) {
      for (const std::size_t rows : {1, 7, 70}) {
        CAPTURE(length);
        CAPTURE(rows);
        check_rows<std::int64_t, operation::variance>(rows, length, rows % 3);
        check_rows<std::uint64_t, operation::norm2>(rows, length, rows % 3);
        check_rows<std::int32_t, operation::sum_of_squares>(rows, length, rows % 3);
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
