// Who copies what in the bulk kernel. Plain arithmetic, so that it can be tested without a device.
#pragma once

#include <cstdint>

#include <fanin/export.hpp>

#include "backends/cuda/tuning.hpp"

namespace fanin::cuda {

/// A block's share: whole stages, dealt out in turn, and an equal part of what is left over.
struct bulk_share {
  static constexpr std::uint64_t stage = tuning::bulk_stage_bytes / 16;  ///< in vectors
  std::uint64_t blocks, rounds, rest, own_rest_begin, own_rest_end;

  FANIN_HOST_DEVICE bulk_share(std::uint64_t vectors, std::uint64_t blocks_, std::uint64_t block)
      : blocks(blocks_),
        rounds(vectors / (stage * blocks)),
        rest(vectors - rounds * stage * blocks),
        own_rest_begin(rest * block / blocks),
        own_rest_end(rest * (block + 1) / blocks) {}
  FANIN_HOST_DEVICE std::uint64_t tiles() const { return rounds + (own_rest_end > own_rest_begin ? 1 : 0); }
  FANIN_HOST_DEVICE std::uint64_t begin(std::uint64_t tile, std::uint64_t block) const {
    return tile < rounds ? (tile * blocks + block) * stage : rounds * blocks * stage + own_rest_begin;
  }
  FANIN_HOST_DEVICE unsigned size(std::uint64_t tile) const {
    return static_cast<unsigned>(tile < rounds ? stage : own_rest_end - own_rest_begin);
  }
};

}  // namespace fanin::cuda
