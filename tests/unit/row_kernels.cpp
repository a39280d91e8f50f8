// SPDX-License-Identifier: Apache-2.0
// Tests the kernels of rows of whole vectors, run on the CPU by the threads of a block: the order of additions,
// wherever the rows begin. The memory of the elements ends with the last one, so that AddressSanitizer sees what is
// read behind.
#include "tests/unit/batch_on_cpu.hpp"
// This header has to come after the CUDA extensions.
#include "backends/cuda/batch/whole_rows.cuh"

namespace fanin::test {
namespace {

/// Folds rows of whole vectors by the kernel for their length.
template <class A>
void check_whole_rows(test_rows<A> test) {
  const std::size_t vectors = test.all.length / vector_size<A>;
  unsigned group_size = 1;
  while (group_size < 32 && group_size < vectors) group_size *= 2;
  const auto write = test.write();
  if (vectors <= 32) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 1>(test.all, group_size, write); });
  } else if (vectors <= 64) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 2>(test.all, group_size, write); });
  } else if (vectors <= 128) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 4>(test.all, group_size, write); });
  } else {
    launch(1, 256, [&] { cuda::long_rows_kernel<A>(test.all, write); });
  }
  test.check();
}

/// `rows` rows at a distance of `stride`, which is 0 or negative: all of them are one row, or the first one lies
/// last.
template <class A>
void check_backward_rows(std::size_t rows, std::size_t length, std::ptrdiff_t stride, std::size_t shift) {
  const std::size_t before = static_cast<std::size_t>(-stride) * (rows - 1);
  test_rows<A> test(before + length, shift, rows, length);
  test.all.x = test.array.x + before;
  test.set_axes({{rows, {stride}}, {length, {1}}});
  check_whole_rows(std::move(test));
}

TEST_SUITE("unit/batch_kernels") {
  TEST_CASE_TEMPLATE("rows of whole vectors", A, FANIN_WITH_WHOLE_ROWS) {
    for (const std::size_t vectors : {1, 2, 3, 4, 8, 15, 31, 32, 33, 63, 64, 65, 128, 300}) {
      CAPTURE(vectors);
      check_whole_rows(rows_anywhere<A>(1, 70, vectors * vector_size<A>, 0, 0));
    }
    check_whole_rows(rows_anywhere<A>(1, 3, 20000, 0, 0));
  }

  TEST_CASE_TEMPLATE("rows of whole vectors that begin anywhere", A, FANIN_WITH_WHOLE_ROWS) {
    for (const std::size_t vectors : {5, 8, 15, 31, 32, 33, 63, 64, 65, 128}) {
      CAPTURE(vectors);
      const std::size_t length = vectors * vector_size<A>;
      for (const std::size_t gap : {std::size_t{0}, std::size_t{1}, 2 * vector_size<A>}) {
        CAPTURE(gap);
        const std::size_t shift = (vectors + gap) % (vector_size<A> + 1);
        check_whole_rows(rows_anywhere<A>(1, 70, length, gap, shift));
        check_whole_rows(rows_anywhere<A>(3, 7, length, gap, shift + 1));
      }
    }
  }

  TEST_CASE_TEMPLATE("rows of whole vectors that lie on each other or backward", A, FANIN_WITH_WHOLE_ROWS) {
    for (const std::size_t vectors : {8, 33}) {
      CAPTURE(vectors);
      const std::size_t length = vectors * vector_size<A>;
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        CAPTURE(shift);
        check_backward_rows<A>(70, length, 0, shift);
        check_backward_rows<A>(70, length, -static_cast<std::ptrdiff_t>(length), shift);
        check_backward_rows<A>(70, length, -static_cast<std::ptrdiff_t>(length + 1), shift);
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
