// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/sides.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/regress/commands.hpp"

namespace fanin::cli {

namespace {

/// The name of a case of fanin is made of its values on these axes, in this order.
constexpr std::array<std::string_view, 6> case_axes = {"--backend", "--variant", "--operation",
                                                       "--type",    "--method",  "--count"};

measured read_output(program_kind kind, const std::string& from, const std::string& text) {
  return kind == program_kind::fanin ? read_fanin_result(from, text) : read_benchmark_result(from, text);
}

/// A path in the folder, if the name has a slash and is relative.
std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.empty() || name.starts_with('/') || name.find('/') == std::string::npos ? name : folder + "/" + name;
}

/// The result in the file, or nothing if the file is none. The file is read once, because it may be a pipe.
std::optional<measured> result_in(program_kind kind, const std::string& path) {
  struct stat about = {};
  if (kind == program_kind::command || ::stat(path.c_str(), &about) != 0 || S_ISDIR(about.st_mode)) return {};
  std::ifstream file(path, std::ios::binary);
  if ((file >> std::ws).peek() != '{') return {};
  return read_output(kind, path, {std::istreambuf_iterator<char>(file), {}});
}

arguments_list fanin_arguments(const process_request& asked) {
  return {"bench", "--json", "--budget", fmt::format("{}", asked.budget_seconds)};
}

/// The arguments for cases whose values on each axis are `values`.
arguments_list box_arguments(const process_request& asked, std::span<const std::vector<std::string>> values) {
  arguments_list all = fanin_arguments(asked);
  for (const auto& [axis, value] : asked.axes) {
    if (std::ranges::find(case_axes, axis) == case_axes.end()) all.insert(all.end(), {axis, value});
  }
  for (std::size_t i = 0; i < case_axes.size(); ++i) {
    all.insert(all.end(), {std::string(case_axes[i]), fmt::format("{}", fmt::join(values[i], ","))});
  }
  return all;
}

std::vector<process_cases> fanin_boxes(const process_request& asked, std::span<const std::string> cases) {
  struct box {
    std::array<std::vector<std::string>, case_axes.size()> values;
    std::vector<std::string> names;
  };
  std::map<std::array<std::string, 3>, box> boxes;
  for (const std::string& name : cases) {
    const std::vector<std::string> values = split(name, '/');
    if (values.size() != case_axes.size()) return {{all_cases(asked), {}}};
    box& shared = boxes[{values[2], values[3], values[5]}];
    shared.names.push_back(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<std::string>& known = shared.values[i];
      if (std::ranges::find(known, values[i]) == known.end()) known.push_back(values[i]);
    }
  }
  std::vector<process_cases> all;
  all.reserve(boxes.size());
  for (const auto& [input, shared] : boxes) all.push_back({box_arguments(asked, shared.values), shared.names});
  return all;
}

/// The option of Google Benchmark that selects the case.
std::string google_filter(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return fmt::format("--benchmark_filter=^{}$", pattern);
}

}  // namespace

program_kind kind_of(const std::string& word, const std::string& folder) {
  std::optional<std::string> path = find_program(in_folder(folder, word));
  if (!path && ::access(word.c_str(), F_OK) != 0) path = find_program(in_folder(folder, command_words(word).front()));
  if (!path) return program_kind::fanin;
  // This program must not contain the words that it looks for.
  const std::string words[] = {fmt::format("{}_list_tests", "benchmark"), fmt::format("lib{}.so", "benchmark")};
  constexpr std::size_t overlap = 32;  // more than a word is long
  std::ifstream file(*path, std::ios::binary);
  std::string block(std::size_t{1} << 20, '\0');
  for (std::size_t kept = 0;
       file.read(block.data() + kept, static_cast<std::streamsize>(block.size() - kept)) || file.gcount() > 0;) {
    const std::string_view text(block.data(), kept + static_cast<std::size_t>(file.gcount()));
    for (const std::string& word_of_library : words) {
      if (text.find(word_of_library) != std::string_view::npos) return program_kind::google_benchmark;
    }
    kept = std::min(overlap, text.size());
    std::copy_n(text.end() - static_cast<std::ptrdiff_t>(kept), kept, block.begin());
  }
  return program_kind::fanin;
}

side find_side(program_kind kind, const std::string& word, const std::string& folder) {
  if (std::optional<measured> result = result_in(kind, word)) return {word, folder, word, {}, std::move(result)};
  const std::vector<std::string> words = kind == program_kind::fanin ? std::vector{word} : command_words(word);
  if (const std::optional<std::string> path = find_program(in_folder(folder, words.front()))) {
    return {word, folder, *path, {words.begin() + 1, words.end()}, {}};
  }
  throw bad_data(
      fmt::format("{}: there is no such program, here or in PATH, and no such result", bounded_quote(words.front())));
}

child_request child_for(const process_request& asked, const side& which) {
  return {.program = which.path,
          .arguments = which.arguments,
          .limits = asked.limits,
          .folder = which.folder,
          .variables = asked.variables};
}

arguments_list all_cases(const process_request& asked) {
  switch (asked.kind) {
    case program_kind::fanin: {
      arguments_list all = fanin_arguments(asked);
      for (const auto& [axis, value] : asked.axes) all.insert(all.end(), {axis, value});
      return all;
    }
    case program_kind::google_benchmark:
      return {"--benchmark_format=json"};
    case program_kind::nvbench:
      return {"--json", "stdout"};
    case program_kind::command:
      return {};
  }
  return {};
}

std::vector<process_cases> processes_for(const process_request& asked, std::span<const std::string> cases) {
  if (asked.kind == program_kind::fanin) return fanin_boxes(asked, cases);
  if (asked.kind == program_kind::nvbench) return {{all_cases(asked), {}}};
  std::vector<process_cases> all;
  for (const std::string& name : cases) {
    all.push_back({all_cases(asked), {{name}}});
    if (asked.kind == program_kind::google_benchmark) all.back().arguments.push_back(google_filter(name));
  }
  return all;
}

measured run_side(const process_request& asked, const side& which, const process_cases& wanted) {
  if (asked.kind == program_kind::command) {
    measured all;
    for (const command_case& one : command_cases(asked)) {
      if (wanted.cases && std::ranges::find(*wanted.cases, one.name) == wanted.cases->end()) continue;
      all.names.push_back(one.name);
      all.values[one.name] = measure_command(asked, which, one);
    }
    return all;
  }
  run_shell(asked.prepare, {}, asked);
  child_request child = child_for(asked, which);
  child.arguments.insert(child.arguments.end(), wanted.arguments.begin(), wanted.arguments.end());
  return read_output(asked.kind, which.path, run_child(child).out);
}

}  // namespace fanin::cli
