#include "cli/lab/residency.hpp"

#include <fmt/format.h>

namespace fanin::cli::lab {

std::string sentence(const residency& of) {
  const std::string fit = of.warps == of.most_warps ? fmt::format("all {} warps fit", of.warps)
                                                    : fmt::format("{} of {} warps fit (limited by {})", of.warps,
                                                                  of.most_warps, of.limited_by);
  const double needed = of.warps_needed();
  if (needed > of.warps) {
    return fmt::format("{}, and together ask for {:.0f} % of the bytes that hide the latency of memory{}", fit,
                       100 * of.warps / needed,
                       of.asks_once ? "; they ask once, and memory rests while their blocks fold and end" : "");
  }
  if (of.tiles_under_way > 1) {
    return fmt::format(
        "{}; copies into shared memory run {} tiles ahead of them, so that {:.1f} would hide the latency "
        "of memory, whose bandwidth is the limit",
        fit, of.tiles_under_way, needed);
  }
  return fmt::format("{} where {:.1f} would hide the latency of memory, {}", fit, needed,
                     of.asks_once ? "but a block asks once: starting, folding and ending blocks is the limit"
                                  : "and each asks again and again: the bandwidth of memory is the limit");
}

}  // namespace fanin::cli::lab
