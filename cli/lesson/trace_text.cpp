// SPDX-License-Identifier: Apache-2.0
// A trace as lines of text, with the values for x[i] = i + 1.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

/// The working threads of each block, as in "[##..] [....]" for two warps.
std::string lines_of_threads(const trace_step& step, unsigned warp_size) {
  const std::set<unsigned> working = working_threads(step);
  std::string lines;
  for (unsigned block = 0; block < step.blocks; ++block) {
    lines += fmt::format("  block {:<3}", block);
    for (unsigned first = 0; first < step.threads; first += warp_size) {
      std::string drawn;
      for (unsigned warp_thread = 0; warp_thread < warp_size; ++warp_thread)
        drawn += working.contains(block * step.threads + first + warp_thread) ? '#' : '.';
      lines += fmt::format(" [{}]", drawn);
    }
    lines += '\n';
  }
  return lines;
}

std::string title_of(const trace& all) {
  const trace_shape& shape = all.shape;
  return fmt::format("{}: {} elements x[i] = i + 1, {} block{} of {} threads, warps of {} threads{}\n",
                     all.stage->name, shape.count, all.blocks, all.blocks == 1 ? "" : "s", shape.block_size,
                     shape.warp_size, shape.warp_size == 32 ? "" : " and as many banks (a model; a device has 32)");
}

}  // namespace

std::string_view to_string(storage where) {
  constexpr std::string_view names[] = {"in place in global memory", "in shared memory", "in registers"};
  return names[static_cast<std::size_t>(where)];
}

std::string to_string(const place& p) {
  return p.array == space::total ? "total" : fmt::format("{}[{}]", to_string(p.array), p.index);
}

std::string text_of(const addition& one, std::int64_t into, std::int64_t from, std::int64_t after) {
  const std::string what = fmt::format("{} {} {}", to_string(one.into), one.fresh ? "=" : "+=", to_string(one.from));
  return one.fresh ? fmt::format("{}    {}", what, after)
                   : fmt::format("{}    {} + {} = {}", what, into, from, after);
}

std::set<unsigned> working_threads(const trace_step& step) {
  std::set<unsigned> working;
  for (const addition& one : step.additions) {
    for (unsigned warp_thread = 0; warp_thread < step.together; ++warp_thread)
      working.insert(one.thread + warp_thread);
  }
  return working;
}

std::string count_of_threads(const trace_step& step, unsigned warp_size) {
  std::map<unsigned, unsigned> in_warps;  // Number of working threads by warp.
  const std::set<unsigned> working = working_threads(step);
  for (const unsigned thread : working) ++in_warps[thread / warp_size];
  const auto partly = std::ranges::count_if(in_warps, [&](const auto& warp) { return warp.second < warp_size; });
  return fmt::format("{} of {} threads work; {} partly idle", working.size(), step.threads * step.blocks,
                     partly == 0   ? "no warp is"
                     : partly == 1 ? "1 warp is"
                                   : fmt::format("{} warps are", partly));
}

trace_memory<std::int64_t> numbered_memory(const trace& all) {
  std::vector<std::int64_t> x(all.shape.count);
  std::iota(x.begin(), x.end(), 1);
  return {all, std::move(x)};
}

std::string banks_read(const trace_step& step, unsigned warp_size) {
  const unsigned conflict = bank_conflict(step, warp_size);
  std::vector<unsigned> banks;
  for (const addition& one : step.additions) {
    if (one.thread < warp_size) banks.push_back(one.from.index % warp_size);
  }
  if (conflict == 0 || banks.size() == 1) return {};
  const std::string worst = conflict == 1 ? "no two threads of a warp meet in a bank"
                                          : fmt::format("up to {} threads of a warp wait for one bank", conflict);
  return fmt::format("the first warp reads banks {}; {}", fmt::join(banks, " "), worst);
}

std::string as_text(const trace& all) {
  trace_memory<std::int64_t> memory = numbered_memory(all);
  std::string text = title_of(all);
  for (const trace_step& step : all.steps) {
    text += fmt::format("\n{}, {}\n", step.what, to_string(step.where));
    text += fmt::format("  {}\n", count_of_threads(step, all.shape.warp_size));
    text += lines_of_threads(step, all.shape.warp_size);
    const std::string banks = banks_read(step, all.shape.warp_size);
    if (!banks.empty()) text += fmt::format("  {}\n", banks);
    memory.run(step, [&](const addition& one, std::int64_t into, std::int64_t from, std::int64_t after) {
      text += fmt::format("  thread {:<4} {}\n", one.thread, text_of(one, into, from, after));
    });
    if (!step.then.empty()) text += fmt::format("  then {}\n", step.then);
  }
  return text + fmt::format("\ntotal {}\n", memory.at({space::total, 0}));
}

}  // namespace fanin::cli
