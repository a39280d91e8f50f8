// SPDX-License-Identifier: Apache-2.0
// fanin check compiles a puzzle, runs it on the CPU, and says what is wrong with it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/kit/child.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/puzzles/texts.hpp"

namespace fanin::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view compiler_failed = "the compiler failed\n", word_of_right = "right:";

std::string_view puzzle_file(const std::string& name) {
  return std::ranges::find(puzzle_texts(), name, &source_text::name)->text;
}

std::string solution_name(int number) { return fmt::format("puzzles/solutions/{:02}.cu", number); }

std::string_view solution_of(int number) { return puzzle_file(solution_name(number)); }

/// The number with which the name of the file begins.
int puzzle_number(const fs::path& file) {
  const std::string name = file.filename().string();
  const int number = std::atoi(name.substr(0, 2).c_str());
  if (number >= 1 && number <= puzzle_count) return number;
  throw usage_error(fmt::format("'{}': the name has to begin with the number of a puzzle, 01 to {:02}",
                                printable(name), puzzle_count));
}

/// The kernel that the solution defines.
std::string kernel_name(std::string_view solution) {
  constexpr std::string_view before = "__global__ void ";
  const std::size_t begin = solution.find(before) + before.size();
  return std::string(solution.substr(begin, solution.find('(', begin) - begin));
}

struct host_compiler {
  std::string path;
  /// clang has another name for gcc's -fsanitize=bounds.
  std::string bounds() const { return path.find("clang") == path.npos ? "bounds" : "array-bounds"; }
};

host_compiler find_compiler() {
  const char* const wanted = std::getenv("CXX");
  for (const std::string name : {wanted != nullptr ? wanted : "", "g++", "clang++"}) {
    if (const auto found = find_program(name)) return {*found};
  }
  throw bad_data("no C++ compiler was found: install g++ or clang++, or name one in the variable CXX");
}

void write_text(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw bad_data(fmt::format("{}: cannot be written", file.string()));
}

/// Runs the compiler, and returns what it printed if it failed.
std::string compile(const host_compiler& by, std::vector<std::string> arguments) {
  const std::string script =
      fmt::format("\"$0\" \"$@\" 2>&1 || echo '{}'", compiler_failed.substr(0, compiler_failed.size() - 1));
  arguments.insert(arguments.begin(), {"-c", script, by.path});
  const std::string said = run_child({.program = "/bin/sh", .arguments = arguments, .limits = {.seconds = 120}}).out;
  return said.ends_with(compiler_failed) ? said.substr(0, said.size() - compiler_failed.size()) : "";
}

/// Compiles the checker, unless the folder has it from an earlier check. Returns the object file.
fs::path checker_object(const fs::path& folder, const host_compiler& by) {
  std::string all = by.path + std::to_string(fs::last_write_time(by.path).time_since_epoch().count());
  for (const source_text& one : puzzle_texts()) all += one.text;
  const fs::path object = folder / fmt::format("checker-{:016x}.o", std::hash<std::string>()(all));
  if (fs::exists(object)) return object;
  for (const source_text& one : puzzle_texts()) write_text(folder / one.name, one.text);
  const fs::path unfinished = object.string() + fmt::format(".{}", ::getpid());
  const std::string said =
      compile(by, {"-std=c++20", "-O1", "-DFANIN_EMULATE_SANITIZED=1", "-I" + folder.string(), "-c",
                   (folder / "cli/puzzles/checker.cpp").string(), "-o", unfinished.string()});
  if (!said.empty()) throw bad_data(fmt::format("{} cannot compile the checker:\n{}", by.path, said));
  fs::rename(unfinished, object);
  return object;
}

/// Headers of CUDA that a kernel may include. On the CPU they are empty, because fanin/emulate.hpp declares all.
constexpr std::string_view cuda_headers[] = {"cooperative_groups.h", "cooperative_groups/reduce.h", "cuda_runtime.h"};

/// A program that checks the learner's kernel. What it defines is declared in checker.cpp.
std::string program_text(int number, const fs::path& learner) {
  return fmt::format(R"(#include <fanin/emulate.hpp>
#include "cli/puzzles/kernel_types.hpp"
#include "{0}"
namespace solution {{
#include "{1}"
}}
namespace {{
fanin::puzzle::kernel_of<{2}>::type* const learner_kernel = {3};
fanin::puzzle::kernel_of<{2}>::type* const solution_kernel = solution::{3};
}}
extern "C" {{
extern const int fanin_puzzle = {2};
extern void* const fanin_learner = reinterpret_cast<void*>(learner_kernel);
extern void* const fanin_solution = reinterpret_cast<void*>(solution_kernel);
}}
)",
                     learner.string(), solution_name(number), number, kernel_name(solution_of(number)));
}

/// A program that runs the learner's kernel on a GPU.
std::string gpu_program_text(int number, const fs::path& learner) {
  return fmt::format(R"(#include "cli/puzzles/gpu_check.hpp"
#include "cli/puzzles/trials.hpp"
#include "{0}"
int main() {{
  fanin::puzzle::check_on_gpu([](auto& now, auto kernel) {{ fanin::puzzle::run_trials<{1}>(now, kernel); }}, {2});
}}
)",
                     learner.string(), number, kernel_name(solution_of(number)));
}

std::string output_of(const fs::path& program) {
  return run_child({.program = program.string(), .arguments = {}, .limits = {.seconds = 60}}).out;
}

/// The report on a kernel that is right on the CPU: with a line about the GPU, if there are a GPU's driver and nvcc.
std::string with_gpu(const std::string& report, int number, const fs::path& learner, const fs::path& program) {
  const auto nvcc = find_program("nvcc");
  if (!nvcc || !find_program("nvidia-smi")) return report;
  const fs::path source = program.string() + ".cu";
  write_text(source, gpu_program_text(number, learner));
  const std::string said = compile({*nvcc}, {"-std=c++20", "-O3", "-arch=native", "-w",
                                             "-I" + program.parent_path().string(), source, "-o", program.string()});
  const std::string found = said.empty() ? output_of(program) : "does not compile by nvcc:\n" + said;
  fs::remove(source);
  return found.starts_with("  ") ? report + found : found;
}

/// The report of the checker.
std::string report_on(const fs::path& file) {
  const int number = puzzle_number(file);
  const host_compiler by = find_compiler();
  const fs::path learner = fs::absolute(file), folder = learner.parent_path() / ".check";
  const fs::path program = folder / fmt::format("{}-{}", file.stem().string(), ::getpid());
  const std::string source = program.string() + ".cpp", object = program.string() + ".o";
  const fs::path checker = checker_object(folder, by), headers = folder / "cpu";
  for (const std::string_view name : cuda_headers) write_text(headers / name, "");
  write_text(source, program_text(number, learner));
  std::string said = compile(by, {"-std=c++20", "-O1", "-g1", "-w", "-fwrapv", "-fsanitize=thread," + by.bounds(),
                                  "-I" + headers.string(), "-I" + folder.string(), "-c", source, "-o", object});
  if (said.empty()) said = compile(by, {"-no-pie", object, checker.string(), "-o", program.string()});
  std::string report = said.empty() ? output_of(program) : "does not compile:\n" + said;
  if (report.starts_with(word_of_right)) report = with_gpu(report, number, learner, program);
  for (const fs::path& one : {fs::path(source), fs::path(object), program}) fs::remove(one);
  return report;
}

}  // namespace

command add_check(CLI::App& root) {
  auto file = std::make_shared<std::string>();
  CLI::App* parser = root.add_subcommand("check", "Check the answer to a puzzle of CUDA on the CPU");
  parser->add_option("FILE", *file, "the puzzle, whose name begins with its number, as in 03.cu")
      ->type_name("")
      ->required();
  parser->footer(
      R"('fanin lesson --puzzles DIR' writes the puzzles. The check needs a C++ compiler (the variable CXX, g++ or clang++), no
nvcc and no GPU. It runs the kernel on short, odd and hard inputs, and watches every access to memory. A kernel that is
right also runs on the GPU, if nvcc and nvidia-smi are in the PATH: the report has its time, and its share of the
fastest read. A kernel may include cuda_runtime.h, cooperative_groups.h and cooperative_groups/reduce.h.
The report begins with one of these words:
  right             every value is right; below are the costs, beside those of the solution
  slow              the values are right, and a cost that the puzzle is about is above the solution's
  wrong             the first wrong element, and which threads have touched it
  other bits        the result depends on the order of the blocks
  race              two threads use one address, no barrier is between them, and one of them writes
  barrier           some threads of a block or a warp do not reach a barrier or a shuffle
  out of bounds     an index is not in its array
  uninitialised     a value is read that no thread has written
  endless           the kernel does not end
  does not compile  what the compiler says
Exit status 0 means right, and 1 means any other word. Compiled files are kept in the folder .check beside FILE.

Examples:
  fanin lesson --puzzles puzzles
  fanin check puzzles/01.cu)");
  return {parser, [file] {
            if (!fs::exists(*file)) throw bad_data(fmt::format("{}: there is no such file", printable(*file)));
            const std::string report = report_on(*file);
            write_stdout(report);
            if (!report.starts_with(word_of_right))
              throw bad_data(fmt::format("{}: not right yet", printable(*file)));
          }};
}

}  // namespace fanin::cli
