// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fanin::cli {

std::string align(const std::vector<table_row>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const table_row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const table_row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace fanin::cli
