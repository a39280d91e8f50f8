// SPDX-License-Identifier: Apache-2.0
// Tests of the puzzles: each skeleton fails, each solution passes, and each planted fault gets its message. The
// folder fake_gpu takes the place of a GPU.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/puzzles/texts.hpp"
#include "tests/cli/process.hpp"
#include "tests/support/skip.hpp"

namespace fanin::cli {
namespace {

/// A change to a solution, and how the report on it begins.
struct planted_fault {
  const char *puzzle, *right, *wrong, *report;
};

constexpr planted_fault planted_faults[] = {
    {"01", "blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x", "race: threads of two blocks use y[0]"},
    {"01", "2 * i + 1 < n", "2 * i < n", "out of bounds: line 7: thread 32 of block 0 reads x[65]"},
    {"01", "    y[i] = x[2 * i];", "", "wrong: y[32] has no value"},
    {"01", "x[2 * i] + x[2 * i + 1]", "x[2 * i] + x[2 * i]", "wrong: y[0] is"},
    {"01", "y[i] = x[2 * i];", "y[i] += x[2 * i];", "uninitialised: line 9: thread 32 of block 0 reads y[32]"},
    {"02", "i = t", "i = threadIdx.x", "wrong: sums[32] is"},
    {"02", "i < n", "i <= n", "out of bounds: line 7: thread 1 of block 0 reads x[65]"},
    {"02", "int sum = 0", "int sum = sums[t]", "uninitialised: line 6: thread 0 of block 0 reads sums[0]"},
    {"02", "sums[t] = sum", "sums[t / 2] = sum", "race: two threads use sums[0]"},
    {"02", "i += gridDim.x * blockDim.x", "i += 0", "endless: "},
    {"03", "  __syncthreads();\n  for", "  for", "race: two threads use s["},
    {"03", "i < n ? x[i] : 0", "x[i]", "out of bounds: line 7: thread 1 of block 1 reads x[65]"},
    {"03", "s[t] = i < n ? x[i] : 0;", "if (i < n) s[t] = x[i];",
     "uninitialised: line 10: thread 0 of block 1 reads s["},
    {"03", "s[t] += s[t + stride];\n    __syncthreads();", "{ s[t] += s[t + stride]; __syncthreads(); }",
     "barrier: block 0 has a barrier that not all threads reach"},
    {"03", "stride < 64", "stride < 32", "wrong: sums[0] is"},
    {"04", "t < stride", "t <= stride", "out of bounds: line 10: thread 32 of block 0 uses index 64"},
    {"04", "stride = 32", "stride = 16", "wrong: sums[0] is"},
    {"04", "    __syncthreads();\n  }", "  }", "race: two threads use s["},
    {"04", "s[t] += s[t + stride];\n    __syncthreads();", "{ s[t] += s[t + stride]; __syncthreads(); }",
     "barrier: block 0 has"},
    {"04", "s[t] = i < n ? x[i] : 0;", "if (i < n) s[t] = x[i];", "uninitialised: line 10"},
    {"05", "      s[t] = sum;\n      __syncwarp();", "      s[t] = sum;", "race: two threads use s["},
    {"05", "if (t < 64) s[t] +=", "s[t] +=", "out of bounds: line 9: thread 64 of block 0 uses index 128"},
    {"05", "h = 32", "h = 16", "wrong: sums[0] is"},
    {"05", "      __syncwarp();\n      s", "      __syncthreads();\n      s",
     "barrier: block 0 has a barrier that not all threads reach: threads 0 to 31 wait"},
    {"05", "  if (t < 32) {", "  __syncthreads();\n  if (t < 32) {",
     "slow: the values are right, and this puzzle asks for fewer barriers"},
    {"06", "int sum = i < n ? x[i] : 0;", "if (i >= n) return;\n  int sum = x[i];",
     "barrier: block 1 has a warp's barrier or shuffle that not all of its threads reach: thread 0 waits for "
     "threads"},
    {"06", "i < n ? x[i] : 0", "x[i]", "out of bounds: line 6: thread 1 of block 1 reads x[65]"},
    {"06", "d = 16", "d = 8", "wrong: sums[0] is"},
    {"06", "if (threadIdx.x % 32 == 0) sums", "sums", "race: two threads use sums[0]"},
    {"06", "0xffffffff", "0xffff", "barrier: thread 16 of block 0 is not in the mask"},
    {"07", "  __syncthreads();", "", "race: two threads use of_warp[1]"},
    {"07", "of_warp[t / 32]", "of_warp[t]", "out of bounds: line 13: thread 32 of block 0 uses index 32"},
    {"07", "of_warp[2] + of_warp[3]", "of_warp[2]", "wrong: sums[0] is"},
    {"07", "(t % 32 == 0)", "(t % 64 == 0)", "uninitialised: line 15: thread 0 of block 0 reads of_warp[1]"},
    {"07", "  __syncthreads();", "  __syncthreads();\n  __syncthreads();", "slow: the values are right"},
    {"08", "    __threadfence();", "", "race: threads of two blocks use partials[0]"},
    {"08", "== gridDim.x - 1", "== 0", "race: threads of two blocks use partials[1]"},
    {"08", "b < gridDim.x", "b <= gridDim.x", "out of bounds: line 20: thread 0 of block 1 reads partials[2]"},
    {"08", "b = 0", "b = 1", "wrong: result[0] is"},
    {"08", "gridDim.x - 1", "gridDim.x", "wrong: result[0] has no value"},
    {"09", "threadIdx.x / 32, warp_thread", "threadIdx.x / 64, warp_thread", "race: two threads use sums[0]"},
    {"09", "c < columns", "c <= columns", "out of bounds: line 8: thread 1 of block 1 reads x[99]"},
    {"09", "  if (row >= rows) return;", "", "out of bounds: line 8: thread 32 of block 1 reads x[99]"},
    {"09", "int sum = 0", "int sum = sums[row]", "uninitialised: line 7: thread 0 of block 0 reads sums[0]"},
    {"09", "c += 32", "c += 0", "endless: "},
    {"10", "i < begins[s + 1]", "i <= begins[s + 1]", "out of bounds: line 8: thread 32 of block 0 reads x[65]"},
    {"10", "i += 32", "i += 64", "wrong: sums[0] is"},
    {"10", "  if (s >= segments) return;", "", "out of bounds: line 8: thread 32 of block 1 reads begins[4]"},
    {"10", "if (warp_thread == 0) sums", "sums", "race: two threads use sums[0]"},
    {"10", "int sum = 0", "int sum = sums[s]", "uninitialised: line 7"},
    {"11", "    __threadfence();", "", "race: threads of two blocks use partials[0]"},
    {"11", "b = 0", "b = 1", "wrong: result[0] is"},
    {"11", "b < gridDim.x", "b <= gridDim.x", "out of bounds: line 20: thread 0 of block 1 reads partials[2]"},
    {"11", "partials[blockIdx.x] =", "partials[atomicAdd(arrived, 0)] =", "other bits: n = "},
    {"11", "== gridDim.x - 1", "== 0", "race: threads of two blocks use partials[1]"},
    {"12", "i < n ? (long long)(x[i] * 1048576.0f) : 0", "(long long)(x[i] * 1048576.0f)",
     "out of bounds: line 6: thread 1 of block 1 reads x[65]"},
    {"12", "(long long)(x[i] * 1048576.0f)", "(int)(x[i] * 1048576.0f)", "wrong: units[0] is"},
    {"12", "d = 16", "d = 8", "wrong: units[0] is"},
    {"12", "atomicAdd(units, (unsigned long long)sum)", "units[0] += sum", "race: two threads use units[0]"},
    {"12", "if (threadIdx.x % 32 == 0) atomicAdd", "atomicAdd", "wrong: units[0] is"}};

/// How the report on each skeleton begins.
constexpr const char* skeleton_reports[puzzle_count] = {
    "out of bounds: line 18: thread 32 of block 0 reads x[65]",
    "wrong: sums[0] is",
    "race: two threads use s[",
    "slow: the values are right, and this puzzle asks for fewer bank conflicts",
    "race: two threads use s[",
    "barrier: block 1 has a warp's barrier or shuffle that not all of its threads reach",
    "race: two threads use of_warp[0]",
    "race: threads of two blocks use partials[0]",
    "slow: the values are right, and this puzzle asks for fewer memory transactions",
    "out of bounds: line 15: thread 0 of block 1 reads x[65]",
    "other bits: n = ",
    "wrong: units[0] is"};

std::string text_of(const std::string& name) {
  return std::string(std::ranges::find(puzzle_texts(), name, &source_text::name)->text);
}

double seconds_of_children() {
  rusage used;
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& of) {
    return static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void check_report(const finished& run, std::string_view begin) {
  CAPTURE(begin);
  CAPTURE(run.out);
  CAPTURE(run.err);
  CHECK(run.out.starts_with(begin));
  CHECK(run.status == (begin.starts_with("right:") ? 0 : 1));
}

/// The puzzle's skeleton fails, its solution passes, and no check computes for 5 s.
void check_puzzle(int number) {
  const scratch_folder folder;
  folder.fanin("lesson --puzzles .");
  const std::string name = fmt::format("{:02}", number);
  folder.write(name + "_solved.cu", text_of("puzzles/solutions/" + name + ".cu"));
  CAPTURE(name);
  check_report(folder.fanin("check " + name + ".cu"), skeleton_reports[number - 1]);
  const bool has_gpu = folder.shell("command -v nvcc && command -v nvidia-smi").status == 0;
  const double before = seconds_of_children();
  check_report(folder.fanin("check " + name + "_solved.cu"), "right: ");
  CHECK((has_gpu || seconds_of_children() - before < 5));  // nvcc takes longer.
}

/// Checks kernels that differ on a GPU.
void check_on_gpu(const scratch_folder& folder) {
  const std::string solution = text_of("puzzles/solutions/01.cu");
  const auto report_on = [&](const std::string& only_on_gpu) {
    folder.write("01_gpu.cu", fmt::format("#ifdef __NVCC__\n{}\n#endif\n{}", only_on_gpu, solution));
    return folder.shell("PATH=" FANIN_SOURCE "/tests/cli/fake_gpu:$PATH $fanin check 01_gpu.cu");
  };
  const finished right = report_on("");
  check_report(right, "right: all 26 trials\n  memory transactions: ");
  CHECK(
      right.out.ends_with("\n  on emulated GPU: right in 32 trials; the longest one reads 0.1 MB in 1.3 us, 51 GB/s, "
                          "which is 12.4 % of the fastest read\n"));
  check_report(report_on("#define threadIdx blockIdx"), "wrong: on the GPU y[1] is ");
  check_report(report_on("#error"), "does not compile by nvcc:\n");
  check_report(report_on("inline void endless() { for (volatile bool ever = true; ever;) {} }\n"
                         "#define threadIdx (endless(), threadIdx)"),
               "endless: on the GPU the kernel does not end within 20 s\n  in the trial n = 65\n");
}

/// Checks two kernels, of which one rounds more often.
void check_bits(const scratch_folder& folder) {
  std::string text = text_of("puzzles/solutions/11.cu");
  folder.write("11.cu", text);
  CHECK(folder.fanin("check 11.cu").out.find("and those of the exact sum for 3 of 5 inputs\n") != text.npos);
  const std::string rounds = "float total = 0;\n      for (unsigned b = 0; b < gridDim.x; ++b) total += partials[b];";
  const std::size_t at = text.find(rounds);
  REQUIRE(at != text.npos);
  text.replace(at, rounds.size(), "double total = 0;\n      for (int j = 0; j < n; ++j) total += x[j];");
  folder.write("11.cu", text);
  CHECK(folder.fanin("check 11.cu").out.find("and those of the exact sum for 5 of 5 inputs\n") != text.npos);
}

TEST_SUITE_BEGIN("puzzles");

TEST_CASE("each puzzle is short and has three hints, and no file is replaced without --force") {
  const scratch_folder folder;
  CHECK(folder.fanin("lesson --puzzles new/folder").status == 0);
  for (int number = 1; number <= puzzle_count; ++number) {
    const std::string name = fmt::format("{:02}.cu", number), text = folder.read("new/folder/" + name);
    CAPTURE(name);
    CHECK(text == text_of("puzzles/" + name));
    CHECK(std::ranges::count(text, '\n') <= 60);
    for (const char* hint : {"\n// Hint 1. ", "\n// Hint 2. ", "\n// Hint 3. "}) CHECK(text.find(hint) != text.npos);
  }
  check_failure(folder.fanin("lesson --puzzles new/folder"), 1, "01.cu");
  CHECK(folder.fanin("lesson --puzzles new/folder --force").status == 0);
  check_failure(folder.fanin("lesson"), 2, "--puzzles");
}

TEST_CASE("skeletons fail, and solutions pass") {
  for (const int number : {1, 8, 12}) check_puzzle(number);
}

TEST_CASE("what is no puzzle") {
  const scratch_folder folder;
  check_failure(folder.fanin("check 01.cu"), 1, "there is no such file");
  folder.write("13.cu", "");
  check_failure(folder.fanin("check 13.cu"), 2, "01 to 12");
  folder.write("01.cu", "__global__ void two_each(const int* x, int n, int* y) { y[0] = }\n");
  const finished run = folder.fanin("check 01.cu");
  check_report(run, "does not compile:\n");
  CHECK(run.out.find("01.cu:1:") != run.out.npos);
  CHECK(run.out.find("puzzle.cpp") == run.out.npos);
  check_failure(folder.shell("CXX= PATH=/nowhere $fanin check 01.cu"), 1, "g++ or clang++");
}

TEST_CASE(
    "a linker that lacks what the checker calls is named as the cause, and a missing function of the kernel is not") {
  const scratch_folder folder;
  folder.fanin("lesson --puzzles .");
  const std::string advice = "name a newer compiler in the variable CXX.\n";
  folder.write("old_g++", "#!/bin/sh\nexec g++ \"$@\" -nodefaultlibs\n");
  const finished old = folder.shell("chmod +x old_g++; CXX=./old_g++ $fanin check 01.cu");
  check_report(old, "does not compile:\n");
  CHECK(old.out.ends_with(advice));
  folder.write("01.cu", "void missing();\n__global__ void two_each(const int*, int, int*) { missing(); }\n");
  const finished missing = folder.fanin("check 01.cu");
  check_report(missing, "does not compile:\n");
  CHECK(missing.out.find("missing") != missing.out.npos);
  CHECK(missing.out.find(advice) == missing.out.npos);
}

TEST_CASE("clang++ compiles each kind of kernel, also for a checker that g++ has compiled") {
  const scratch_folder folder;
  if (folder.shell("command -v clang++").status != 0) return fanin::test::skip("there is no clang++");
  for (const char* name : {"07", "08", "12"}) {
    folder.write(fmt::format("{}.cu", name), text_of(fmt::format("puzzles/solutions/{}.cu", name)));
    CAPTURE(name);
    check_report(folder.shell(fmt::format("CXX=clang++ $fanin check {}.cu", name)), "right: ");
  }
}

TEST_CASE("checks of one folder at the same time share no file, and leave none, also after an interrupt") {
  const scratch_folder folder;
  folder.fanin("lesson --puzzles .");
  const std::string files = folder.shell("mkdir tmp; ls -A").out, begin = "export TMPDIR=$PWD/tmp; ";
  const finished both =
      folder.shell(begin + "$fanin check 02.cu 2>&1 & wrong=$($fanin check 01.cu 2>&1); wait; echo \"$wrong\"");
  CHECK(both.out.starts_with(skeleton_reports[1]));
  CHECK(both.out.find(skeleton_reports[0]) != both.out.npos);
  folder.write("interrupting", "#!/bin/sh\nkill -INT $(cut -d ' ' -f 4 /proc/$PPID/stat)\nsleep 9\n");
  check_failure(folder.shell("chmod +x interrupting; " + begin + "CXX=./interrupting $fanin check 01.cu"), 1,
                "Killed");
  CHECK(folder.shell("rm interrupting; ls -A").out == files);
  CHECK(folder.shell("ls -A tmp | grep fanin").out.empty());
}

TEST_SUITE_END();

TEST_SUITE("puzzle_reports") {
  /// What a kernel of puzzle 02 does from its line 2 on, how the report on it begins, and another part of the report.
  struct planted_body {
    const char *body, *begin, *part;
  };

  constexpr planted_body planted_bodies[] = {
      {"  sums[0] = n / threadIdx.x;\n", "crash: line 2: thread 0 of block 0 divides by 0\n",
       "\n  in the trial n = 65\n"},
      {"  while (n > 64) sums[threadIdx.x] = x[0];\n",
       "endless: line 2: thread 0 of block 0 does not end within 3 s of computing\n", "\n  in the trial n = 65\n"},
      {"  while (true) __syncthreads();\n", "endless: line 2: thread ", "\n  in the trial n = 65\n"},
      {"  for (volatile int i = 0;; i = 1) {}\n", "endless: thread 0 of block 0 does not end",
       "\n  in the trial n = 65\n"},
      {"  const int t = blockIdx.x * blockDim.x + threadIdx.x;\n  sums[t] = 2 * t + 1 < n ? x[2 * t] + x[2 * t + 1] "
       ": 0;\n",
       "wrong: sums[0] is", "\n  thread 0 of block 0 reads x[0], x[1]\n"},
      {"  int sum;\n  for (int i = 0; i < n; i += 64) sum += x[i];\n  sums[blockIdx.x * blockDim.x + threadIdx.x] = "
       "sum;\n",
       "wrong: sums[", "uninitialized"},
      {"  sums[threadIdx.x] = n;\n",
       "race: threads of two blocks use sums[0]\n  thread 0 of block 0 writes it (line 2)\n  thread 0 of block 1 "
       "writes",
       "\n  each block needs elements of its own, or a fence with an atomic function in between\n"}};

  TEST_CASE("a report says what a reader of C++ has to change") {
    const scratch_folder folder;
    const std::string head = "__global__ void many_each(const int* x, int n, int* sums) {\n";
    const auto report_on = [&](const std::string& text, std::string_view begin, std::string_view part) {
      CAPTURE(text);
      folder.write("02.cu", text);
      const finished run = folder.fanin("check 02.cu");
      check_report(run, begin);
      CHECK(run.out.find(part) != run.out.npos);
      CHECK(run.out.find("solution::") == run.out.npos);
    };
    for (const planted_body& one : planted_bodies) report_on(head + one.body + "}\n", one.begin, one.part);
    report_on(head, "does not compile:\n", "02.cu:1:");
    report_on(
        "__global__ void add(const int*, int, int*) {}\n",
        "does not compile: the check calls the kernel __global__ void many_each(const int* x, int n, int* sums)\n",
        "many_each");
  }

  TEST_CASE("a kernel that is right also runs on a GPU, and the bits of sums that round are compared") {
    const scratch_folder folder;
    check_on_gpu(folder);
    check_bits(folder);
  }

  TEST_CASE("a kernel may include the headers of CUDA, and what it prints comes before the report") {
    const scratch_folder folder;
    folder.write("06.cu", R"(#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void warp_sums(const int* x, int n, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int sum = cg::reduce(warp, i < n ? x[i] : 0, cg::plus<int>());
  if (warp.thread_rank() == 0) sums[i / 32] = sum;
  if (i == 1 && n == 65) std::printf("thread %d\n", i);
}
)");
    const finished run = folder.fanin("check 06.cu");
    CAPTURE(run.out);
    CHECK(run.out.starts_with("thread 1\nthread 1\nright: all 26 trials\n"));
    CHECK(run.status == 0);
  }
}

TEST_SUITE("every_puzzle") {
  TEST_CASE("every skeleton fails, and every solution passes") {
    for (int number = 1; number <= puzzle_count; ++number) check_puzzle(number);
  }
}

TEST_SUITE("puzzle_faults") {
  TEST_CASE("each planted fault gets its message") {
    const scratch_folder folder;
    for (const planted_fault& one : planted_faults) {
      CAPTURE(one.puzzle);
      CAPTURE(one.wrong);
      std::string text = text_of(fmt::format("puzzles/solutions/{}.cu", one.puzzle));
      const std::size_t at = text.find(one.right);
      REQUIRE(at != text.npos);
      folder.write(fmt::format("{}.cu", one.puzzle), text.replace(at, std::string_view(one.right).size(), one.wrong));
      check_report(folder.fanin(fmt::format("check {}.cu", one.puzzle)), one.report);
    }
  }
}

}  // namespace
}  // namespace fanin::cli
