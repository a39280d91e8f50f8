// SPDX-License-Identifier: Apache-2.0
// The page of `fanin lab latency`.
#include "measure/lab/latency.hpp"

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/lab/pages.hpp"

namespace fanin::cli::lab {

namespace {

using fanin::lab::chain_counts;
using fanin::lab::hiding;
using fanin::lab::throughput;

constexpr std::string_view keys[] = {"with_1_chain", "with_2_chains", "with_4_chains", "with_8_chains"};
static_assert(std::size(keys) == chain_counts.size());

/// The unit of an instruction's rate, and the amount of one warp instruction in that unit.
struct rate_unit {
  std::string_view unit;
  double scale;
};
rate_unit rate_unit_of(std::string_view instruction) {
  if (instruction == "fma") return {"10^9 operations/s", 32e-9};
  return {"GB/s", 128e-9};
}

json row_of(const hiding& all, const throughput& one) {
  const auto [unit, scale] = rate_unit_of(all.instruction);
  json row = {{"instruction", all.instruction},
              {"unit", unit},
              {"warps_per_multiprocessor", one.warps},
              {"verified", one.verified}};
  for (std::size_t i = 0; i < std::size(keys); ++i) {
    row[std::string(keys[i])] = one.verified ? json(scale * one.per_second[i]) : json(nullptr);
  }
  return row;
}

/// The gain from more chains alone, from more warps alone, and from both.
json sentence(const hiding& all) {
  const throughput& least = all.rows.front();
  const throughput& most = all.rows.back();
  if (!least.verified || !most.verified) return nullptr;
  const double start = least.per_second.front();
  return fmt::format("from one warp with one chain, {} chains gain {:.1f} x, {} warps {:.1f} x, and both {:.1f} x",
                     chain_counts.back(), least.per_second.back() / start, most.warps,
                     most.per_second.front() / start, most.per_second.back() / start);
}

}  // namespace

void fill_latency(lab_page& page, const experiment_context& context) {
  page.columns = {{"instruction", "instruction"}, {"warps_per_multiprocessor", "warps"}, {"verified", "check"}};
  for (std::size_t i = 0; i < std::size(keys); ++i) {
    constexpr std::string_view headings[] = {"1 chain", "2 chains", "4 chains", "8 chains"};
    page.columns.push_back({keys[i], headings[i], 1});
  }
  page.columns.push_back({"unit", "unit"});
  for (const hiding& all : fanin::lab::measure_hiding(context.stream)) {
    if (!all.alone.verified) throw bad_data(fmt::format("a chain of {} ended in the wrong place", all.instruction));
    page.facts.push_back({fmt::format("{} latency in cycles", all.instruction), all.alone.cycles});
    page.facts.push_back({fmt::format("{} latency in nanoseconds", all.instruction), 1e9 * all.alone.seconds});
    for (const throughput& one : all.rows) {
      page.rows.push_back(row_of(all, one));
      page.rows.back()["says"] = one.warps == 1 ? sentence(all) : json(nullptr);
    }
  }
}

}  // namespace fanin::cli::lab
