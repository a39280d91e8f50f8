// SPDX-License-Identifier: Apache-2.0
// How the kernels cut their input, checked without a device.
#include <doctest/doctest.h>

#include "backends/cuda/exact/shapes.hpp"

namespace fanin::test {
namespace {

using namespace cuda::tuning;

constexpr std::uint64_t vector_counts[] = {0,
                                           1,
                                           4095,
                                           4096,
                                           4097,
                                           33 * 512,
                                           132 * 512 + 1,
                                           264 * 4096 - 1,
                                           264 * 4096,
                                           264 * 4096 + 1,
                                           3 * 264 * 4096 + 17,
                                           (std::uint64_t{1} << 33) + 5};

TEST_SUITE("shares") {
  TEST_CASE("rounds and the turns after them take every vector once") {
    for (const std::uint64_t vectors : vector_counts) {
      for (const shape& s : {fold_shape(4, 1), fold_shape(32, 1), fold_shape(8, 2), fold_shape(64, 2)}) {
        const unsigned of_grid = blocks(vectors, 132, s);
        const std::uint64_t turn = std::uint64_t{of_grid} * static_cast<unsigned>(s.threads);
        const std::uint64_t round = turn * static_cast<unsigned>(s.loads);
        const std::uint64_t in_rounds = whole_rounds(vectors, of_grid, s) * round;
        CHECK(in_rounds <= vectors);
        CHECK(vectors - in_rounds < round);
        CHECK(longest_walk(vectors, of_grid, s) * turn >= vectors);
      }
    }
  }

  TEST_CASE("whole batches leave at most one batch for each thread") {
    for (const std::uint64_t vectors : vector_counts) {
      for (const shape& s : {exact_few, exact_many}) {
        for (const int multiprocessors : {1, 132}) {
          const unsigned of_grid = blocks(vectors, multiprocessors, s);
          const std::uint64_t in_batches = whole_tiles(vectors, of_grid, s) * static_cast<unsigned>(32 * s.loads);
          CHECK(in_batches <= vectors);
          CHECK(vectors - in_batches <= std::uint64_t{of_grid} * static_cast<unsigned>(s.threads * s.loads));
        }
      }
    }
  }

  TEST_CASE("blocks: one for what one reads at once, never more than fit") {
    constexpr shape s = fold_shape(4, 1);
    for (const int multiprocessors : {1, 14, 132}) {
      const auto most = static_cast<unsigned>(multiprocessors * s.blocks_per_multiprocessor);
      unsigned before = 0;
      for (std::uint64_t vectors = 0; vectors < (std::uint64_t{1} << 40); vectors = vectors * 2 + 1) {
        const unsigned now = blocks(vectors, multiprocessors, s);
        CHECK(now >= before);
        CHECK(now <= most);
        CHECK((now == 1) == (vectors <= 4096));
        before = now;
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
