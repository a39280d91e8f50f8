// SPDX-License-Identifier: Apache-2.0
// fanin check compiles a puzzle, runs it on the CPU, and says what is wrong with it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/kit/child.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/interrupt.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/temporary.hpp"
#include "cli/kit/text.hpp"
#include "cli/puzzles/texts.hpp"

namespace fanin::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view compiler_failed = "the compiler failed", word_of_right = "right:";
constexpr std::string_view before_name = "__global__ void ";

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

/// The kernel that the solution defines, with its parameters.
std::string kernel_head(std::string_view solution) {
  const std::size_t begin = solution.find(before_name);
  return std::string(solution.substr(begin, solution.find(')', begin) + 1 - begin));
}

std::string kernel_name(std::string_view solution) {
  const std::string head = kernel_head(solution);
  return head.substr(before_name.size(), head.find('(') - before_name.size());
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

/// The text of a file. A file that does not exist has none.
std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a compiler printed: errors, or only warnings.
struct compiled {
  bool failed;
  std::string said;
};

compiled compile(const host_compiler& by, std::vector<std::string> arguments) {
  const std::string script = fmt::format("\"$0\" \"$@\" 2>&1 || printf '{}'", compiler_failed);
  arguments.insert(arguments.begin(), {"-c", script, by.path});
  std::string said = run_child({.program = "/bin/sh", .arguments = arguments, .limits = {.seconds = 120}}).out;
  const bool failed = said.ends_with(compiler_failed);
  if (failed) said.erase(said.size() - compiler_failed.size());
  return {failed, said};
}

/// Headers of CUDA that a kernel may include. On the CPU they are empty, because fanin/emulate.hpp declares all.
constexpr std::string_view cuda_headers[] = {"cooperative_groups.h", "cooperative_groups/reduce.h", "cuda_runtime.h"};

/// A program that checks the learner's kernel. What it defines is declared in checker.cpp.
std::string program_text(int number, const fs::path& learner) {
  return fmt::format(R"(#include <fanin/emulate.hpp>
#include "cli/puzzles/kernel_types.hpp"
#include "{0}"
namespace {{
fanin::puzzle::kernel_type<{2}>::type* const learner_kernel = {3};
}}
namespace solution {{
#include "{1}"
}}
namespace {{
fanin::puzzle::kernel_type<{2}>::type* const solution_kernel = solution::{3};
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
int main(int, char** arguments) {{
  fanin::puzzle::report_file = arguments[1];
  fanin::puzzle::check_on_gpu([](auto& now, auto kernel) {{ fanin::puzzle::run_trials<{1}>(now, kernel); }}, {2});
}}
)",
                     learner.string(), number, kernel_name(solution_of(number)));
}

/// The report of a check, after what the kernel printed.
struct finding {
  std::string printed, report;
};

finding run_checker(const fs::path& program) {
  const std::string file = program.string() + ".report";
  const std::string printed =
      run_child({.program = program.string(), .arguments = {file}, .limits = {.seconds = 60}}).out;
  const finding found = {printed, read_text(file)};
  fs::remove(file);
  return found;
}

/// The report on a kernel that is right on the CPU: with a line about the GPU, if there are a GPU's driver and nvcc.
finding with_gpu(const finding& on_cpu, int number, const fs::path& learner, const fs::path& program) {
  const auto nvcc = find_program("nvcc");
  if (!nvcc || !find_program("nvidia-smi")) return on_cpu;
  const fs::path source = program.string() + ".cu";
  write_text(source, gpu_program_text(number, learner));
  const compiled built = compile({*nvcc}, {"-std=c++20", "-O3", "-arch=native", "-w",
                                           "-I" + program.parent_path().string(), source, "-o", program.string()});
  if (built.failed) return {on_cpu.printed, "does not compile by nvcc:\n" + built.said};
  finding found = run_checker(program);
  if (found.report.starts_with("  ")) found.report.insert(0, on_cpu.report);
  found.printed.insert(0, on_cpu.printed);
  return found;
}

/// Why the program with the learner's kernel does not compile: errors of the learner's file alone if it has some.
std::string compiler_errors(const host_compiler& by, const compiled& program, int number, const fs::path& learner,
                            const std::vector<std::string>& headers) {
  std::vector<std::string> arguments = {"-std=c++20", "-w", "-fsyntax-only", "-include", "fanin/emulate.hpp"};
  arguments.insert(arguments.end(), headers.begin(), headers.end());
  arguments.insert(arguments.end(), {"-x", "c++", learner.string()});
  const compiled alone = compile(by, arguments);
  if (alone.failed) return "does not compile:\n" + alone.said;
  return fmt::format("does not compile: the check calls the kernel {}\n{}", kernel_head(solution_of(number)),
                     program.said);
}

/// Why the program cannot be linked. The compiler of the checker may be newer than the learner's.
std::string linker_errors(const compiled& program, const fs::path& checker) {
  const auto names = [&](const std::string& text) { return program.said.find(text) != program.said.npos; };
  return "does not compile:\n" + program.said +
         (names("undefined") && names(checker.string()) ? "This compiler lacks functions that the checker calls. The "
                                                          "compiler of the checker has the version " __VERSION__
                                                          ": name a newer compiler in the variable CXX.\n"
                                                        : "");
}

finding check_kernel(const fs::path& file) {
  const int number = puzzle_number(file);
  const host_compiler by = find_compiler();
  const interrupt_watch watch;  // After a SIGINT the folder is removed.
  const temporary_folder made;
  const fs::path learner = fs::absolute(file), folder = made.path(), cuda = folder / "cpu";
  const fs::path source = folder / "puzzle.cpp", object = folder / "puzzle.o", checker = folder / "checker.o";
  const fs::path program = folder / "puzzle";
  for (const source_text& one : puzzle_texts()) write_text(folder / one.name, one.text);
  for (const std::string_view name : cuda_headers) write_text(cuda / name, "");
  write_text(checker, checker_object());
  write_text(source, program_text(number, learner));
  const std::vector<std::string> headers = {"-I" + cuda.string(), "-I" + folder.string()};
  std::vector<std::string> arguments = {"-std=c++20", "-O1", "-g1", "-fwrapv", "-fsanitize=thread," + by.bounds()};
  arguments.insert(arguments.end(), headers.begin(), headers.end());
  arguments.insert(arguments.end(), {"-Wuninitialized", "-Wunused-value", "-c", source, "-o", object});
  const compiled kernel = compile(by, arguments);
  if (kernel.failed) return {"", compiler_errors(by, kernel, number, learner, headers)};
  const compiled all = compile(by, {"-no-pie", object, checker, "-o", program});
  if (all.failed) return {"", linker_errors(all, checker)};
  finding found = run_checker(program);
  if (found.report.starts_with(word_of_right)) found = with_gpu(found, number, learner, program);
  if (!found.report.starts_with(word_of_right)) found.report += kernel.said;
  return found;
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
nvcc and no GPU. It runs the kernel on short, odd and hard inputs, one a trial, and watches every access to memory. A
kernel that is right also runs on the GPU, if nvcc and nvidia-smi are in the PATH: the report has its time, and its share
of the fastest read. A kernel may include cuda_runtime.h, cooperative_groups.h and cooperative_groups/reduce.h. A kernel
may print by printf; the text comes before the report.
The report begins with one of these words:
  right             every value is right; below are the costs, beside those of the solution
  slow              the values are right, and a cost that the puzzle is about is above the solution's
  wrong             the first wrong element, which threads have touched it, and what they have read
  other bits        the result depends on the order of the blocks
  race              two threads use one address, no barrier is between them, and one of them writes
  barrier           some threads of a block or a warp do not reach a barrier or a shuffle
  out of bounds     an index is not in its array
  uninitialised     a value is read that no thread has written
  endless           the kernel does not end
  crash             the kernel divides by 0
  does not compile  what the compiler says
Exit status 0 means right, and 1 means any other word. Compiled files are in a folder in /tmp until the check ends. The
variable TMPDIR names another place than /tmp.

Examples:
  fanin lesson --puzzles puzzles
  fanin check puzzles/01.cu)");
  return {parser, [file] {
            if (!fs::exists(*file)) throw bad_data(fmt::format("{}: there is no such file", printable(*file)));
            const finding found = check_kernel(*file);
            write_stdout(found.printed + found.report);
            if (!found.report.starts_with(word_of_right))
              throw bad_data(fmt::format("{}: not right yet", printable(*file)));
          }};
}

}  // namespace fanin::cli
