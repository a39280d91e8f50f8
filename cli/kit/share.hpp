// SPDX-License-Identifier: Apache-2.0
// Shares of the read ceiling in tables.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "measure/ceiling.hpp"

namespace fanin::cli {

/// The share as in "93 %", with so many decimals. A share that exceeds the ceiling is "-", since the ceiling is
/// wrong.
inline std::string share_text(double share, int decimals) {
  return measure::exceeds_ceiling(share) ? "-" : fmt::format("{:.{}f} %", 100 * share, decimals);
}

/// Says why the row `name` has no share.
inline std::string above_ceiling_text(std::string_view name) {
  return fmt::format("{}: above the ceiling by more than 5 %: the ceiling was measured too low", name);
}

}  // namespace fanin::cli
