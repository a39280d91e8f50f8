// How the kernels cut their input, checked without a device: every vector is somebody's, and nobody's twice.
#include <doctest/doctest.h>

#include "backends/cuda/bulk_share.hpp"

namespace fanin::test {
namespace {

TEST_SUITE("shares") {
  TEST_CASE("bulk shares follow each other without gaps, and no block has much more than another") {
    using cuda::bulk_share;
    for (const std::uint64_t blocks : {1, 2, 46, 108, 132}) {
      const std::uint64_t round = bulk_share::stage * blocks;
      for (const std::uint64_t vectors : {std::uint64_t{0}, std::uint64_t{1}, blocks - 1, blocks, round - 1, round,
                                          round + 1, 3 * round + 17, 127 * round - 1, (std::uint64_t{1} << 33) + 5}) {
        std::uint64_t most = 0;
        std::uint64_t least = ~std::uint64_t{0};
        std::uint64_t covered = vectors / round * round;
        for (std::uint64_t block = 0; block < blocks; ++block) {
          const bulk_share share(vectors, blocks, block);
          std::uint64_t own = share.rounds * bulk_share::stage;
          for (std::uint64_t tile = 0; tile < share.rounds; tile += 1 + share.rounds / 3) {
            REQUIRE(share.begin(tile, block) == tile * round + block * bulk_share::stage);
            REQUIRE(share.size(tile) == bulk_share::stage);
          }
          if (share.tiles() > share.rounds) {
            REQUIRE(share.begin(share.rounds, block) == covered);
            REQUIRE(share.size(share.rounds) <= bulk_share::stage);
            covered += share.size(share.rounds);
            own += share.size(share.rounds);
          }
          most = std::max(most, own);
          least = std::min(least, own);
        }
        REQUIRE(covered == vectors);
        REQUIRE(most - least <= 1);
      }
    }
  }

  TEST_CASE("blocks: one for what one reads at once, never more than fit") {
    using namespace cuda::tuning;
    for (const int multiprocessors : {1, 14, 132}) {
      unsigned before = 0;
      for (std::uint64_t vectors = 0; vectors < (std::uint64_t{1} << 40); vectors = vectors * 2 + 1) {
        const unsigned blocks = plain_blocks(vectors, multiprocessors);
        CHECK(blocks >= before);
        CHECK(blocks <= static_cast<unsigned>(multiprocessors * plain_blocks_per_multiprocessor));
        CHECK((blocks == 1) == (vectors <= 4096 || multiprocessors * plain_blocks_per_multiprocessor == 1));
        before = blocks;
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
