// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/listing.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/puzzles/texts.hpp"

namespace fanin::cli {

namespace {

/// The file with the row of the stage, and the place of its name in the row.
struct row_in_source {
  const source_text* file = nullptr;
  std::size_t name = 0;
};

row_in_source find_row(std::string_view stage) {
  const std::string quoted = fmt::format(", \"{}\", \"", stage);
  for (const source_text& one : stage_texts()) {
    if (const std::size_t at = one.text.find(quoted); at != one.text.npos) return {&one, at + quoted.size()};
  }
  return {};
}

std::string_view builds_on(const row_in_source& row) {
  return row.file->text.substr(row.name, row.file->text.find('"', row.name) - row.name);
}

/// The lines of the file's functions, which end where the row of the table begins.
std::vector<std::string_view> code_lines(std::string_view text) {
  constexpr std::string_view before = "namespace fanin::cuda {\n\n";
  const std::size_t begin = text.find(before) + before.size(), kernel = text.find("__global__", begin);
  std::size_t end = text.find("\nstruct ", kernel);
  end = std::min(end, text.rfind("\ntemplate", end) > kernel ? text.rfind("\ntemplate", end) : end);
  std::vector<std::string_view> lines;
  for (std::size_t at = begin; at < end;) {
    const std::size_t next = std::min(text.find('\n', at), end);
    lines.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Whether each line is outside of the longest common subsequence of both texts.
std::vector<bool> new_lines(const std::vector<std::string_view>& lines, const std::vector<std::string_view>& old) {
  const std::size_t n = lines.size(), m = old.size();
  std::vector<std::vector<int>> common(n + 1, std::vector<int>(m + 1));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      common[i][j] = lines[i] == old[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<bool> found(n, true);
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (lines[i] == old[j]) {
      found[i++] = false;
      ++j;
    } else if (common[i + 1][j] >= common[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return found;
}

/// The lines without the names of kernels, which differ from stage to stage.
std::vector<std::string_view> without_names(std::vector<std::string_view> lines) {
  for (std::string_view& one : lines) {
    if (one.starts_with("__global__")) one = one.substr(0, one.rfind(' ', one.find("_kernel(")));
  }
  return lines;
}

}  // namespace

listing listing_of(std::string_view stage) {
  const row_in_source row = find_row(stage);
  const std::string_view before = builds_on(row);
  const std::vector<std::string_view> lines = code_lines(row.file->text);
  std::vector<std::string_view> old;
  if (!before.empty()) old = code_lines(find_row(before).file->text);
  const std::vector<bool> is_new =
      before.empty() ? std::vector<bool>(lines.size()) : new_lines(without_names(lines), without_names(old));
  listing found{row.file->name, before, {}};
  for (std::size_t i = 0; i < lines.size(); ++i) found.lines.push_back({lines[i], is_new[i]});
  return found;
}

}  // namespace fanin::cli
