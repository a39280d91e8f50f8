// SPDX-License-Identifier: Apache-2.0
// The table of traced stages, with examples that are small enough to read.
#include <fmt/format.h>

#include "backends/cuda/stages/steps.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

constexpr traced_stage all_stages[] = {
    {"global-neighbored", reading::in_place, 1, tree::neighbored},
    {"global-neighbored-less", reading::in_place, 1, tree::strided},
    {"global-interleaved", reading::in_place, 1, tree::halving},
    {"global-unroll-2", reading::in_place, 2, tree::halving, ending::second_launch, 32, 8},
    {"global-unroll-4", reading::in_place, 4, tree::halving, ending::second_launch, 32, 8},
    {"global-unroll-8", reading::in_place, 8, tree::halving, ending::second_launch, 64, 8},
    {"global-unroll-8-warp", reading::in_place, 8, tree::halving_then_warp, ending::second_launch, 64, 8},
    {"shared-modulo", reading::one_tile_each, 1, tree::neighbored},
    {"shared-mask", reading::one_tile_each, 1, tree::masked},
    {"shared-strided", reading::one_tile_each, 1, tree::strided},
    {"shared-sequential", reading::one_tile_each, 1, tree::halving},
    {"shared-dynamic", reading::one_tile_each, 1, tree::halving},
    {"add-on-load", reading::one_tile_each, 2, tree::halving},
    {"unroll-last-warp", reading::one_tile_each, 2, tree::halving_then_warp},
    {"unroll-complete", reading::one_tile_each, 2, tree::halving_then_warp},
    {"atomic-block", reading::one_tile_each, 2, tree::halving_then_warp, ending::atomics, 32, 8},
    {"sync-warp", reading::one_tile_each, 2, tree::warps},
    {"warp-shuffle", reading::one_tile_each, 2, tree::shuffles},
    {"cooperative-groups", reading::one_tile_each, 2, tree::at_once, ending::second_launch, 32, 8},
    {"grid-sync", reading::grid_stride, 1, tree::at_once, ending::grid_barrier, 32, 8},
    {"grid-stride", reading::grid_stride, 1, tree::shuffles, ending::second_launch, 32, 8},
    {"vectorized", reading::vectors, 1, tree::shuffles, ending::second_launch, 48, 4},
    {"warp-redux", reading::vectors, 1, tree::at_once, ending::second_launch, 48, 4},
    {"single-pass", reading::vectors, 1, tree::shuffles, ending::last_block, 48, 4},
    {"bulk-copy", reading::copies, 1, tree::shuffles, ending::last_block, 64, 4, 1},
};

}  // namespace

std::span<const traced_stage> traced_stages() { return all_stages; }

const traced_stage& find_traced_stage(std::string_view name) {
  std::vector<std::string_view> known;
  for (const traced_stage& stage : all_stages) {
    known.push_back(stage.name);
    if (stage.name == name) return stage;
  }
  throw usage_error(fmt::format("unknown stage '{}'{}", printable(name), detail::suggestion(name, known)));
}

trace_shape readable_shape(const traced_stage& stage, std::uint64_t count, unsigned block_size) {
  constexpr unsigned longest = 4096, small_block = 16, small_warp = 4;
  if (count > longest) throw usage_error(fmt::format("--count: a trace has at most {} elements", longest));
  trace_shape shape{count == 0 ? stage.example_count : static_cast<unsigned>(count),
                    block_size == 0 ? stage.example_block_size : block_size};
  shape.blocks = stage.example_blocks;
  if (stage.how == reading::copies) shape.misaligned = 0, shape.piece = 4, shape.buffers = 2;
  shape.warp_size = shape.block_size <= small_block ? small_warp : 32;
  shape.block_size = (shape.block_size + shape.warp_size - 1) / shape.warp_size * shape.warp_size;
  if (stage.name == "unroll-complete") shape.block_size = cuda::steps::first_stride(shape.block_size + 1);
  return shape;
}

}  // namespace fanin::cli
