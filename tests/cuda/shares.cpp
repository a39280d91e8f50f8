// How the kernels cut their input, checked without a device.
#include <doctest/doctest.h>

#include "backends/cuda/tuning.hpp"

namespace fanin::test {
namespace {

using namespace cuda::tuning;

constexpr std::uint64_t lengths[] = {0, 1, 4095, 4096, 4097, 33 * 512, 132 * 512 + 1, 264 * 4096 - 1, 264 * 4096,
                                     264 * 4096 + 1, 3 * 264 * 4096 + 17, (std::uint64_t{1} << 33) + 5};

TEST_SUITE("shares") {
  TEST_CASE("rounds and the turns after them take every vector once") {
    for (const std::uint64_t vectors : lengths) {
      for (const int loads : {4, 8}) {
        const unsigned of_grid = blocks(vectors, 132);
        const std::uint64_t turn = std::uint64_t{of_grid} * block_threads;
        const std::uint64_t in_rounds = whole_rounds(vectors, of_grid, loads) * loads * turn;
        CHECK(in_rounds <= vectors);
        CHECK(vectors - in_rounds < turn * static_cast<unsigned>(loads));
        CHECK(longest_walk(vectors, of_grid) * turn >= vectors);
      }
    }
  }

  TEST_CASE("blocks: one for what one reads at once, never more than fit") {
    for (const int multiprocessors : {1, 14, 132}) {
      const auto most = static_cast<unsigned>(multiprocessors * blocks_per_multiprocessor);
      unsigned before = 0;
      for (std::uint64_t vectors = 0; vectors < (std::uint64_t{1} << 40); vectors = vectors * 2 + 1) {
        const unsigned now = blocks(vectors, multiprocessors);
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
