// SPDX-License-Identifier: Apache-2.0
// The page of `fanin lab occupancy`: for each stage the warps that a multiprocessor holds, and the warps that would
// hide the latency of memory.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <fanin/error.hpp>

#include "backends/cuda/stages/ladder.hpp"
#include "cli/kit/errors.hpp"
#include "cli/lab/pages.hpp"
#include "cli/lab/residency.hpp"
#include "measure/device.hpp"
#include "measure/lab/latency.hpp"

namespace fanin::cli::lab {

namespace {

constexpr std::size_t count = std::size_t{1} << 24;
constexpr unsigned warp_size = 32;

/// The name of the resource that limits the blocks on a multiprocessor. The hardware allocates registers to a warp in
/// units of 256, and reserves some shared memory for each block.
std::string_view limit_of(const cuda::stage_plan& plan, const cuda::stage_resources& used, const cudaDeviceProp& p) {
  struct limit {
    std::string_view name;
    std::size_t blocks;
  };
  const std::size_t registers = (static_cast<std::size_t>(used.registers) * warp_size + 255) / 256 * 256;
  const std::size_t shared = used.static_shared_bytes + plan.shared_bytes + p.reservedSharedMemPerBlock;
  const std::array limits = {
      limit{"threads", static_cast<std::size_t>(p.maxThreadsPerMultiProcessor) / plan.block_size},
      limit{"registers",
            static_cast<std::size_t>(p.regsPerMultiprocessor) / (registers * plan.block_size / warp_size)},
      limit{"shared memory", p.sharedMemPerMultiprocessor / std::max<std::size_t>(shared, 1)},
      limit{"places for blocks", static_cast<std::size_t>(p.maxBlocksPerMultiProcessor)}};
  return std::ranges::min(limits, {}, &limit::blocks).name;
}

json row_of(const cuda::stage_info& stage, const cudaDeviceProp& device, double bytes_under_way) {
  const bool has_f32 = stage.at(operation::sum, element_type::f32).architecture > 0;
  const element_type type = has_f32 ? element_type::f32 : element_type::i32;
  const auto plan = plan_stage(stage, operation::sum, type, count);
  const cuda::stage_resources used = resources_of(plan);
  const unsigned warps_of_block = plan.block_size / warp_size;
  const unsigned warps = plan.blocks_per_multiprocessor * warps_of_block;
  const unsigned most_warps = static_cast<unsigned>(device.maxThreadsPerMultiProcessor) / warp_size;
  const auto element_bytes = static_cast<unsigned>(byte_size(type));
  const unsigned bytes_of_block = stage.tile(plan.block_size, element_bytes) * element_bytes * stage.tiles_under_way;
  const unsigned bytes_of_warp = bytes_of_block / warps_of_block;
  const residency held{warps,          most_warps,      limit_of(plan, used, device),
                       bytes_of_warp,  bytes_under_way, stage.tiles_under_way,
                       !stage.resident};
  return {{"stage", stage.text.name},
          {"element_type", to_string(type)},
          {"registers", used.registers},
          {"static_shared_bytes", used.static_shared_bytes},
          {"dynamic_shared_bytes", plan.shared_bytes},
          {"local_bytes", used.local_bytes},
          {"block_size", plan.block_size},
          {"suggested_block_size", used.suggested_block_size},
          {"active_blocks", plan.blocks_per_multiprocessor},
          {"active_warps", warps},
          {"occupancy", static_cast<double>(warps) / most_warps},
          {"bytes_of_warp", bytes_of_warp},
          {"warps_needed", held.warps_needed()},
          {"says", sentence(held)}};
}

double read_bandwidth(cudaStream_t stream) {
  constexpr std::size_t elements = std::size_t{1} << 26;
  constexpr double budget_seconds = 0.3;
  const std::vector<float> zeros(elements);
  const measure::rotated_input input{array_view(std::span(zeros))};
  return elements * sizeof(float) / measure::device_read_seconds(input, stream, budget_seconds);
}

}  // namespace

void fill_occupancy(lab_page& page, const experiment_context& context) {
  const fanin::lab::latency memory = fanin::lab::measure_memory_latency(context.stream);
  if (!memory.verified) throw bad_data("the walk through memory ended in the wrong place, so its latency is unknown");
  const double bandwidth = read_bandwidth(context.stream);
  const double bytes_under_way = memory.seconds * bandwidth / context.device.multiProcessorCount;
  page.facts.push_back({"verified", true});
  page.facts.push_back({"memory latency in cycles", memory.cycles});
  page.facts.push_back({"memory latency in nanoseconds", 1e9 * memory.seconds});
  page.facts.push_back({"measured read", bandwidth / 1e9, unit::gigabytes_per_second});
  page.facts.push_back({"bytes under way in each multiprocessor", bytes_under_way});
  page.columns = {{"stage", "stage"},
                  {"element_type", "sum of"},
                  {"registers", "registers"},
                  {"static_shared_bytes", "static shared"},
                  {"dynamic_shared_bytes", "dynamic shared"},
                  {"local_bytes", "local"},
                  {"block_size", "block"},
                  {"suggested_block_size", "suggested"},
                  {"active_blocks", "blocks"},
                  {"active_warps", "warps"},
                  {"occupancy", "occupancy %", 0, 100},
                  {"bytes_of_warp", "bytes of a warp"},
                  {"warps_needed", "warps needed", 1}};
  for (const cuda::stage_info& stage : cuda::stages()) {
    try {
      page.rows.push_back(row_of(stage, context.device, bytes_under_way));
    } catch (const unsupported& refusal) {
      page.facts.push_back({fmt::format("left out {}", stage.text.name), std::string(refusal.what())});
    }
  }
}

}  // namespace fanin::cli::lab
