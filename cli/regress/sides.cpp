// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/sides.hpp"

#include <sys/stat.h>
#include <wordexp.h>

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

namespace fanin::cli {

namespace {

/// The name of a case of fanin is made of its values on these axes, in this order.
constexpr std::array<std::string_view, 6> case_axes = {"--backend", "--variant", "--operation",
                                                       "--type",    "--method",  "--count"};

measured read_output(program_kind kind, const std::string& from, const std::string& text) {
  return kind == program_kind::fanin ? read_fanin_result(from, text) : read_benchmark_result(from, text);
}

/// The words of a command, by the rules of the shell: quotes, variables, patterns of file names.
std::vector<std::string> split_words(const std::string& command) {
  wordexp_t found = {};
  const int problem = ::wordexp(command.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF);
  if (problem == 0) {
    std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
    ::wordfree(&found);
    if (!words.empty()) return words;
  }
  const std::string shown = printable(command);
  switch (problem) {
    case WRDE_BADCHAR:
    case WRDE_CMDSUB:
      throw usage_error(fmt::format("'{}' needs a shell: write it into a script, or as sh -c '...'", shown));
    case WRDE_BADVAL:
      throw usage_error(fmt::format("'{}' has a variable that is not set", shown));
    case WRDE_SYNTAX:
      throw usage_error(fmt::format("'{}' has a quote without its end", shown));
    default:
      throw usage_error(fmt::format("'{}' is no command", shown));
  }
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

side find_side(program_kind kind, const std::string& word) {
  if (std::optional<measured> result = result_in(kind, word)) return {word, word, {}, std::move(result)};
  std::vector<std::string> words = kind == program_kind::fanin ? std::vector{word} : split_words(word);
  if (const std::optional<std::string> path = find_program(words.front())) {
    return {word, *path, {words.begin() + 1, words.end()}, {}};
  }
  throw bad_data(fmt::format("{}: neither a program, here or in PATH, nor a result", bounded_quote(words.front())));
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
  if (asked.kind != program_kind::google_benchmark) return {{all_cases(asked), {}}};
  std::vector<process_cases> all;
  for (const std::string& name : cases) {
    all.push_back({all_cases(asked), {{name}}});
    all.back().arguments.push_back(google_filter(name));
  }
  return all;
}

measured run_side(const process_request& asked, const side& which, const arguments_list& arguments) {
  arguments_list all = which.arguments;
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (asked.kind == program_kind::command) {
    const finished_child done = run_child({which.path, all, asked.limits, false});
    amounts found = {{quantity::wall_time, done.seconds}};
    if (done.cpu_seconds > 0) found[quantity::cpu_time] = done.cpu_seconds;
    return {.names = {"command"}, .values = {{"command", found}}, .problems = {}, .machine = {}};
  }
  return read_output(asked.kind, which.path, run_child({which.path, all, asked.limits}).out);
}

}  // namespace fanin::cli
