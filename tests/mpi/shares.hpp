// SPDX-License-Identifier: Apache-2.0
// How elements are distributed over ranks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include <fanin/mpi/place.hpp>

#include "tests/support/hard_inputs.hpp"

namespace fanin::test {

/// The elements first up to last - 1 are a rank's.
struct share {
  std::size_t first, last;
};

/// Ways to distribute elements: evenly, all to the last rank, at random with some ranks that have none.
enum class distribution { even, last_rank, random };
inline constexpr distribution distributions[] = {distribution::even, distribution::last_rank, distribution::random};

/// This rank's part of `count` elements.
inline share share_of(std::size_t count, distribution how, std::uint64_t seed) {
  const auto ranks = static_cast<std::size_t>(mpi::detail::rank_count(MPI_COMM_WORLD));
  const auto rank = static_cast<std::size_t>(mpi::detail::rank_in(MPI_COMM_WORLD));
  std::vector<std::size_t> cuts(ranks + 1, 0);
  generator random(seed);
  for (std::size_t i = 1; i < ranks; ++i) {
    cuts[i] = how == distribution::even     ? count * i / ranks
              : how == distribution::random ? random() % (count + 1)
                                            : 0;
  }
  cuts[ranks] = count;
  std::ranges::sort(cuts);
  return {cuts[rank], cuts[rank + 1]};
}

}  // namespace fanin::test
