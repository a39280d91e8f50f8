// SPDX-License-Identifier: Apache-2.0
#include "cli/lab/residency.hpp"

#include <fmt/format.h>

namespace fanin::cli::lab {

std::string sentence(const residency& held) {
  const std::string fit = held.warps == held.most_warps ? fmt::format("all {} warps fit", held.warps)
                                                        : fmt::format("{} of {} warps fit (limited by {})",
                                                                      held.warps, held.most_warps, held.limited_by);
  const double needed = held.warps_needed();
  if (needed > held.warps) {
    return fmt::format("{}, and together ask for {:.0f} % of the bytes that hide the latency of memory{}", fit,
                       100 * held.warps / needed,
                       held.asks_once ? "; they ask once, and memory rests while their blocks fold and end" : "");
  }
  if (held.tiles_under_way > 1) {
    return fmt::format(
        "{}; copies into shared memory run {} tiles ahead of them, so that {:.1f} would hide the latency "
        "of memory, whose bandwidth is the limit",
        fit, held.tiles_under_way, needed);
  }
  return fmt::format("{} where {:.1f} would hide the latency of memory, {}", fit, needed,
                     held.asks_once ? "but a block asks once: starting, folding and ending blocks is the limit"
                                    : "and each asks again and again: the bandwidth of memory is the limit");
}

}  // namespace fanin::cli::lab
