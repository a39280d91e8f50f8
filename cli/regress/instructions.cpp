// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/instructions.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cli/kit/errors.hpp"
#include "cli/kit/temporary.hpp"

namespace fanin::cli {

namespace {

/// Runs the program under another one.
void run_under(const std::string& tool, std::vector<std::string> arguments, child_request wanted) {
  arguments.push_back(wanted.program);
  arguments.insert(arguments.end(), wanted.arguments.begin(), wanted.arguments.end());
  wanted.program = tool;
  wanted.arguments = std::move(arguments);
  run_child(wanted);
}

/// The sum of the numbers that follow `label` in the files of the folder. An empty label stands for the begin.
double sum_of_numbers(const std::string& folder, std::string_view label) {
  double sum = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(label);
    if (at != std::string::npos) sum += std::strtod(text.c_str() + at + label.size(), nullptr);
  }
  return sum;
}

/// The number that perf counts, or 0 if perf cannot.
double counted_by_perf(const std::string& perf, const child_request& wanted) {
  const temporary_folder folder;
  run_under(perf, {"stat", "-x,", "-o", folder.path() + "/count", "-e", "instructions:u", "--"}, wanted);
  return sum_of_numbers(folder.path(), "\n\n");
}

bool perf_counts(const std::string& perf) {
  try {
    return counted_by_perf(perf, {.program = "/bin/true", .arguments = {}}) > 0;
  } catch (const bad_data&) {
    return false;
  }
}

}  // namespace

double instructions_of(const child_request& wanted) {
  static const std::optional<std::string> perf = find_program("perf"), valgrind = find_program("valgrind");
  static const bool has_counter = perf && perf_counts(*perf);
  if (has_counter) return counted_by_perf(*perf, wanted);
  if (!valgrind) throw bad_data("--instructions: perf cannot count here, and there is no valgrind");
  const temporary_folder folder;
  run_under(*valgrind,
            {"--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes",
             "--log-file=" + folder.path() + "/%p"},
            wanted);
  return sum_of_numbers(folder.path(), "Collected :");
}

}  // namespace fanin::cli
