// SPDX-License-Identifier: Apache-2.0
// Counts the values that a result's command compared with the exact result.
#include <optional>

#include "cli/report/results.hpp"

namespace fanin::cli::charts {

namespace {

/// Whether the row's value kept its bound; nothing if it was not checked, or if no bound is proven.
std::optional<bool> check_of(const json& row) {
  for (const char* judged : {"verified", "bound_ok"}) {
    const auto found = row.find(judged);
    if (found != row.end() && found->is_boolean()) return found->get<bool>();
  }
  const auto error = row.find("error_ulps"), bound = row.find("bound_ulps");
  if (bound == row.end() || !bound->is_number()) return {};
  return error != row.end() && error->is_number() && error->get<double>() <= bound->get<double>();
}

}  // namespace

value_checks read_checks(const json& document) {
  value_checks all;
  const json whole = document.is_array() ? document : json::array({document});
  for (const json& part : whole) {
    for (const char* key : {"benchmarks", "not_timed", "rows"}) {
      const auto rows = part.find(key);
      if (rows == part.end()) continue;
      for (const json& row : *rows) {
        const std::optional<bool> kept = check_of(row);
        all.made += kept.has_value();
        all.broken += kept == false;
      }
    }
  }
  return all;
}

}  // namespace fanin::cli::charts
