// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/listing.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/lesson/plain_kernel.hpp"
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

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The lines of the file's functions, which end where the row of the table begins.
std::vector<std::string_view> code_lines(std::string_view text) {
  constexpr std::string_view before = "namespace fanin::cuda {\n\n";
  const std::size_t begin = text.find(before) + before.size(), kernel = text.find("__global__", begin);
  std::size_t end = text.find("\nstruct ", kernel);
  end = std::min(end, text.rfind("\ntemplate", end) > kernel ? text.rfind("\ntemplate", end) : end);
  return lines_of_text(text.substr(begin, end - begin));
}

std::vector<listed_line> plain(const std::vector<std::string_view>& source, const plain_types& types) {
  std::vector<listed_line> lines;
  for (const std::string_view one : source) {
    if (std::optional<std::string> text = plain_line(one, types)) lines.push_back({std::move(*text), one});
  }
  return lines;
}

/// The text by which lines of two stages are compared: the names of kernels differ from stage to stage.
std::string_view without_name(std::string_view line) {
  return line.starts_with("__global__") ? line.substr(0, line.rfind(' ', line.find("_kernel("))) : line;
}

/// Marks the lines that are outside of the longest common subsequence of both texts.
void mark_new(std::vector<listed_line>& lines, const std::vector<listed_line>& old) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return without_name(lines[i].text) == without_name(old[j].text);
  };
  const std::size_t n = lines.size(), m = old.size();
  std::vector<std::vector<int>> common(n + 1, std::vector<int>(m + 1));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      common[i][j] = same(i, j) ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (listed_line& one : lines) one.is_new = true;
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (same(i, j)) {
      lines[i++].is_new = false;
      ++j;
    } else if (common[i + 1][j] >= common[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

struct function {
  std::string name;
  std::vector<std::string_view> lines;  ///< with the comment and the template's parameters
};

/// The functions that kernels of all files call.
std::vector<function> device_functions() {
  std::vector<function> all;
  for (const source_text& file : stage_texts()) {
    const std::vector<std::string_view> lines = lines_of_text(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("__device__")) continue;
      std::size_t begin = i, end = i;
      while (lines[begin - 1].starts_with("template") || lines[begin - 1].starts_with("///")) --begin;
      while (!lines[end].ends_with('}') || (end > i && lines[end] != "}")) ++end;
      const std::size_t bracket = lines[i].find('('), name = lines[i].rfind(' ', bracket) + 1;
      all.push_back({std::string(lines[i].substr(name, bracket - name)),
                     {lines.begin() + static_cast<std::ptrdiff_t>(begin),
                      lines.begin() + static_cast<std::ptrdiff_t>(end) + 1}});
    }
  }
  return all;
}

bool calls(const listed_line& line, const std::string& name) {
  if (line.text.starts_with("///")) return false;
  for (std::size_t at = 0; (at = line.text.find(name, at)) != line.text.npos; at += name.size()) {
    const char before = at == 0 ? ' ' : line.text[at - 1];
    const std::string_view after = std::string_view(line.text).substr(at + name.size(), 1);
    if ((after == "(" || after == "<") && before != '_' && std::isalnum(static_cast<unsigned char>(before)) == 0) {
      return true;
    }
  }
  return false;
}

/// Adds the definitions of all functions that the listing calls and does not define, each before its caller's.
void add_definitions(listing& all, const plain_types& types) {
  std::vector<function> others = device_functions();
  std::erase_if(others, [&](const function& one) {
    return std::ranges::find(all.lines, one.lines.back().data(),
                             [](const listed_line& line) { return line.source.data(); }) != all.lines.end();
  });
  std::vector<listed_line> callers = all.lines;
  while (!callers.empty()) {
    std::vector<listed_line> found;
    std::erase_if(others, [&](const function& one) {
      if (std::ranges::none_of(callers, [&](const listed_line& line) { return calls(line, one.name); })) return false;
      if (std::ranges::find(all.called, one.name) == all.called.end()) all.called.push_back(one.name);
      std::ranges::copy(plain(one.lines, types), std::back_inserter(found));
      found.push_back({});  // An empty line.
      return true;
    });
    all.definitions.insert(all.definitions.begin(), found.begin(), found.end());
    callers = std::move(found);
  }
  if (!all.definitions.empty()) all.definitions.pop_back();
}

struct part_of_text {
  kernel_part part;
  std::string_view text;  ///< of the line
  bool last = false;      ///< the last line with this text
};

/// The first text of a part that the kernel has tells the line.
constexpr part_of_text parts[] = {
    {kernel_part::load, "total += i < size"},
    {kernel_part::load, "add_tiles<8>("},
    {kernel_part::load, "add_vector(s, x[k])"},
    {kernel_part::load, "s += x[k]"},
    {kernel_part::load, "s = redux(fold_vectors(a))"},
    {kernel_part::load, "fold_vectors(a)"},
    {kernel_part::load, "for_each_strided<4>(a.data"},
    {kernel_part::load, "load_one(a)"},
    {kernel_part::load, "load_two(a)", true},
    {kernel_part::copy, "start_copy(part, begin + slot"},
    {kernel_part::copy_again, "start_copy(part, begin + ring_size"},
    {kernel_part::take, "for_each_strided<loads_in_flight>(ring"},
    {kernel_part::ends, "add_ends(s"},
    {kernel_part::tree, "] += values["},
    {kernel_part::tree, "s += shuffle_down("},
    {kernel_part::tree, "s = cooperative_groups::reduce("},
    {kernel_part::tree, "s = redux(fold_vectors(a))"},
    {kernel_part::tree, "group_fold(block, s)"},
    {kernel_part::tree, "block_fold(", true},
    {kernel_part::gather, "values[warp_thread] = total"},
    {kernel_part::gather, "slots[threadIdx.x / 32] = s"},
    {kernel_part::gather, "slots[warp.meta_group_rank()] = s"},
    {kernel_part::gather, "group_fold(block, s)"},
    {kernel_part::gather, "block_fold(", true},
    {kernel_part::last_warp, "] += values[", true},
    {kernel_part::last_warp, "s = warp_fold(warp_thread <"},
    {kernel_part::last_warp, "return cooperative_groups::reduce("},
    {kernel_part::last_warp, "s = redux(warp_thread <"},
    {kernel_part::last_warp, "group_fold(block, s)"},
    {kernel_part::last_warp, "block_fold(", true},
    {kernel_part::partial, "store_first("},
    {kernel_part::partial, "store_partial("},
    {kernel_part::partial, "finish_in_last_block("},
    {kernel_part::atomic, "add_atomically(a.result"},
    {kernel_part::last_block, "fold_partials<"},
    {kernel_part::last_block, "finish_in_last_block("},
};

}  // namespace

listing listing_of(std::string_view stage) {
  const row_in_source row = find_row(stage);
  const bool of_integers = stage == "warp-redux";  // The only one that has no sums of floats.
  const plain_types types = of_integers ? plain_types{"int", "std::int64_t", "std::int64_t{0}"} : plain_types{};
  listing found{row.file->name, builds_on(row), plain(code_lines(row.file->text), types), {}, {}};
  if (!found.builds_on.empty()) mark_new(found.lines, plain(code_lines(find_row(found.builds_on).file->text), types));
  add_definitions(found, types);
  return found;
}

std::optional<std::size_t> line_of(const listing& kernel, kernel_part part) {
  for (const part_of_text& one : parts) {
    if (one.part != part) continue;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < kernel.lines.size(); ++i) {
      const std::string& text = kernel.lines[i].text;
      if (text.find(one.text) != text.npos && !text.starts_with("///") && (!found || one.last)) found = i;
    }
    if (found) return found;
  }
  return {};
}

}  // namespace fanin::cli
