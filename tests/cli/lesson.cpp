// SPDX-License-Identifier: Apache-2.0
// Tests of --explain, --trace and --svg, and of the pictures in docs/ladder.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/lesson/page.hpp"
#include "cli/lesson/trace.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST_SUITE_BEGIN("lesson");

TEST_CASE("the pictures are those that the traces draw, and there are no others") {
  const std::filesystem::path folder = std::filesystem::path(FANIN_DOCS) / "ladder";
  const auto& stages = traced_stages();
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    CHECK(std::ranges::find(stages, file.path().stem().string(), &traced_stage::name) != stages.end());
  }
  for (const traced_stage& stage : stages) {
    CAPTURE(stage.name);
    const std::filesystem::path picture = folder / (std::string(stage.name) + ".svg");
    CHECK(std::filesystem::exists(picture) == stage.untraced.empty());
    if (!stage.untraced.empty()) continue;
    // CHECK(a == b) would print both pictures.
    const bool same = content_of(picture) == as_svg(make_trace(stage, readable_shape(stage, 0, 0)));
    CHECK_MESSAGE(same, "draw it again: fanin ladder --trace ", stage.name, " --svg > docs/ladder/", stage.name,
                  ".svg");
  }
}

TEST_CASE("every stage has its page, in the ladder's order, with its picture if it has a trace") {
  CHECK(lesson == content_of(std::filesystem::path(FANIN_DOCS) / "ladder.md"));
  std::size_t last = 0;
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const std::string_view page = page_of(stage.name);
    REQUIRE_FALSE(page.empty());
    const auto at = static_cast<std::size_t>(page.data() - lesson.data());
    CHECK(at > last);
    last = at;
    for (const auto* part : {"**Fault.**", "**Idea.**", "**Counter.**", "**Measured.**", "**Exercises.**\n1. "}) {
      CHECK(has(page, part));
    }
    CHECK(has(page, "](ladder/" + std::string(stage.name) + ".svg)") == stage.untraced.empty());
  }
  CHECK(page_of("reading").empty());
}

TEST_CASE("--explain prints a page, then the trace instead of the picture") {
  const scratch_folder here;
  const finished run = here.fanin("ladder --explain shared-strided");
  CHECK(run.status == 0);
  CHECK(run.out.starts_with("## 08 shared-strided\n"));
  CHECK(has(run.out, "up to 4 lanes of a warp wait for one bank"));
  CHECK(has(run.out, "total 528\n"));
  CHECK_FALSE(has(run.out, "!["));
  CHECK_FALSE(has(run.out, "<!--"));
  CHECK_FALSE(has(run.out, "shared-sequential\n"));
  CHECK(has(here.fanin("ladder --explain grid-sync").out, "There is no picture: "));
}

TEST_CASE("--trace tells who adds what to what, who rests and which banks meet") {
  const scratch_folder here;
  const finished run = here.fanin("ladder --trace shared-strided --count 16 --block-size 8");
  CHECK(run.status == 0);
  for (const auto* line : {
           "shared-strided: 16 elements x[i] = i + 1, 2 blocks of 8 threads, warps of 4 lanes and as many banks",
           "\nstride 2, in shared memory\n  4 of 16 threads work; warps that work in part: 2\n  block 0   [##..] "
           "[....]\n",
           "  the first warp reads banks 2 2; up to 2 lanes of a warp wait for one bank\n",
           "  thread 1    value[4] += value[6]    11 + 15 = 26\n",
           "  then a block barrier\n",
           "\ntotal 136\n",
       }) {
    CAPTURE(line);
    CHECK(has(run.out, line));
  }
  CHECK(has(here.fanin("ladder --trace warp-shuffle --count 100 --block-size 33").out, "1 block of 64 threads"));
  CHECK(has(here.fanin("ladder --trace unroll-complete --block-size 96").out, "1 block of 64 threads"));
}

TEST_CASE("what the lesson cannot do is refused") {
  const scratch_folder here;
  const auto refused = [&](const std::string& arguments, std::string_view message) {
    CAPTURE(arguments);
    check_failure(here.fanin("ladder " + arguments), 2, message);
  };
  refused("--explain shared-stridet", "unknown stage 'shared-stridet'; did you mean 'shared-strided'?");
  refused("--trace ''", "unknown stage ''");
  refused("--trace grid-sync", "stage grid-sync has no trace: its story is the barrier over the grid");
  refused("--trace shared-mask --count 4097", "a trace has at most 4096 elements");
  refused("--trace shared-mask --block-size 1025", "a block has at most 1024 threads");
  refused("--trace shared-mask --json", "--json does not go with --trace");
  refused("--trace shared-mask --type i32", "--type does not go with --trace");
  refused("--trace shared-mask --explain shared-mask", "excludes --");
  refused("--explain shared-mask --count 16", "--count does not go with --explain");
  refused("--svg", "--svg requires --trace");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
