// SPDX-License-Identifier: Apache-2.0
// Tests of --explain, --trace and --svg, of the pictures in docs/ladder.md, of kernels as text, and of what a page is
// not written for.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "cli/lesson/page.hpp"
#include "cli/lesson/plain_kernel.hpp"
#include "cli/lesson/story.hpp"
#include "cli/lesson/trace.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Standard output is a terminal of `columns` while this object exists.
class pseudo_terminal {
 public:
  explicit pseudo_terminal(unsigned short columns)
      : stdout_(::dup(STDOUT_FILENO)), main_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(::grantpt(main_) == 0);
    REQUIRE(::unlockpt(main_) == 0);
    const int end = ::open(::ptsname(main_), O_RDWR | O_NOCTTY);
    const struct winsize size = {24, columns, 0, 0};
    REQUIRE(::ioctl(end, TIOCSWINSZ, &size) == 0);
    ::dup2(end, STDOUT_FILENO);
    ::close(end);
  }
  ~pseudo_terminal() {
    ::dup2(stdout_, STDOUT_FILENO);
    ::close(stdout_);
    ::close(main_);
  }
  pseudo_terminal(const pseudo_terminal&) = delete;
  pseudo_terminal& operator=(const pseudo_terminal&) = delete;

 private:
  int stdout_, main_;
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST_SUITE_BEGIN("lesson");

TEST_CASE("the pictures are those that the traces draw, and there are no others" * doctest::test_suite("pictures")) {
  const std::filesystem::path folder = std::filesystem::path(FANIN_DOCS) / "ladder";
  const auto& stages = traced_stages();
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    CHECK(std::ranges::find(stages, file.path().stem().string(), &traced_stage::name) != stages.end());
  }
  for (const traced_stage& stage : stages) {
    CAPTURE(stage.name);
    const std::filesystem::path picture = folder / (std::string(stage.name) + ".svg");
    REQUIRE(std::filesystem::exists(picture));
    // CHECK(a == b) would print both pictures.
    const bool same = content_of(picture) == as_svg(make_trace(stage, readable_shape(stage, 0, 0)));
    CHECK_MESSAGE(same, "draw it again: fanin ladder --trace ", stage.name, " --svg > docs/ladder/", stage.name,
                  ".svg");
  }
}

TEST_CASE("every stage has its page, in the ladder's order, with its parts in theirs") {
  CHECK(lesson == content_of(std::filesystem::path(FANIN_DOCS) / "ladder.md"));
  std::size_t last = 0;
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const std::string_view page = page_of(stage.name);
    REQUIRE_FALSE(page.empty());
    const auto at = static_cast<std::size_t>(page.data() - lesson.data());
    CHECK(at > last);
    last = at;
    std::size_t before = 0;
    for (const std::string& part :
         {std::string("**Problem.**"), std::string("**Idea.**"), std::string("**Kernel.** ["),
          "](ladder/" + std::string(stage.name) + ".svg)", std::string("**Expect.**"), std::string("**Measured.**"),
          std::string("**Question.**"), std::string("<details><summary>Answer</summary>\n\n")}) {
      CAPTURE(part);
      const std::size_t found = page.find(part);
      REQUIRE(found != page.npos);
      CHECK(found > before);
      before = found;
    }
  }
  CHECK(page_of("reading").empty());
}

TEST_CASE("--explain prints a page, then the trace instead of the picture") {
  const scratch_folder here;
  const finished run = here.fanin("ladder --explain shared-strided");
  CHECK(run.status == 0);
  CHECK(run.out.starts_with("08 shared-strided\n\nProblem. "));
  for (const std::string device : {"H200", "H100"}) {
    const std::regex time("\n   " + device + " +2\\^24 f32 +[0-9.]+ +[0-9]+ +[0-9.]+% +[0-9.]+ +[0-9.]+\n");
    CHECK(std::regex_search(run.out, time));
    const std::regex counter("\n   bank conflicts +" + device + ", 2\\^24 f32 +[0-9]+ +[0-9.]+ million\n");
    CHECK(std::regex_search(run.out, counter));
  }
  CHECK(has(run.out, "\nAnswer. At strides 4, 8 and 16"));
  CHECK(has(run.out, "up to 4 threads of a warp wait for one bank"));
  CHECK(has(run.out, "total 528\n"));
  CHECK_FALSE(has(run.out, "!["));
  CHECK_FALSE(has(run.out, "<!--"));
  CHECK_FALSE(has(run.out, "shared-sequential\n"));
}

TEST_CASE("gains are over the first stage") { CHECK(traced_stages().front().name == first_stage); }

TEST_CASE("a line of a kernel is written as for floats") {
  const auto plain = [](const char* line) { return plain_line(line, {}).value_or("nothing"); };
  CHECK(plain("    if (t < n) A::merge(values[f(t, 1)], values[t + 1]);") ==
        "    if (t < n) values[f(t, 1)] += values[t + 1];");
  CHECK(plain("__global__ void __launch_bounds__(most_threads, 1) k_kernel(stage_arguments<A> a) {") ==
        "__global__ void k_kernel(stage_arguments a) {");
  CHECK(plain("  store_first<A>(a, watch, values, size);") == "  store_first(a, values, size);");
  CHECK(plain("      A::merge(total, i < size ? values[i] : A::identity());") ==
        "      total += i < size ? values[i] : 0.0f;");
  CHECK(plain("template <class A, unsigned Tiles>") == "template <unsigned Tiles>");
  for (const auto* line : {"template <class A>", "  const stopwatch watch(a.cycles);", "    watch.stop();"}) {
    CHECK(plain(line) == "nothing");
  }
}

TEST_CASE("no page has Markdown left in its text, or lines that are too long") {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const std::string text = story_text(stage.name, terminal(false, 90));
    for (const std::string_view mark : {"**", "`", "](", "<!--", "|", "##", "\033"}) CHECK_FALSE(has(text, mark));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 90);
    CHECK(std::ranges::count(text, '\n') > 12);
  }
}

TEST_CASE("verdicts are in colour on a terminal, as whole words") {
  const std::string_view line = "x  SLOWER\nFASTER, SLOWERS UNDECIDED";
  CHECK(terminal(true, 80).with_verdicts(line) ==
        "x  \033[31mSLOWER\033[0m\n\033[32mFASTER\033[0m, SLOWERS \033[90mUNDECIDED\033[0m");
  CHECK(terminal(false, 80).with_verdicts(line) == line);
}

TEST_CASE("a terminal shows headings and labels bold and code in colour, in lines of its width") {
  const terminal screen(true, 40);
  const auto blocks =
      markdown::parse("## 1 a `b`\n![x](y)\n**Bold.** plain\nand `c **d` [text](address)\n\n10. one\n  two\n");
  REQUIRE(blocks.size() == 3);
  CHECK(markdown::as_text(blocks[0], screen) == "\033[1m1\033[0m \033[1ma\033[0m \033[1m\033[0m\033[1mb\033[0m\n");
  CHECK(markdown::as_text(blocks[1], screen) ==
        "\033[1mBold.\033[0m plain and \033[36mc\033[0m \033[36m**d\033[0m text\n");
  CHECK(markdown::as_text(blocks[1], terminal(false, 12)) == "Bold. plain\nand c **d\ntext\n");
  CHECK(markdown::as_text(blocks[2], terminal(false, 8)) == "10. one\n    two\n");
  CHECK(markdown::as_html(blocks[1]) == "<p><strong>Bold.</strong> plain and <code>c **d</code> text</p>\n");
}

TEST_CASE("tables, code and answers are read, and become HTML and text") {
  using kind = markdown::block::kind;
  const auto blocks = markdown::parse(
      "| a | `b | c` |\n|---|---|\n| 1 |  |\n\n| d |\n|---|\n\n```\nx = "
      "**y\n\nz\n```\n<details><summary>Answer</summary>\n\n"
      "Yes, `a`\nis <b.\n\n</details>\n\nplain\n");
  const std::vector<kind> kinds = {kind::header, kind::row, kind::header, kind::code, kind::answer, kind::paragraph};
  REQUIRE(blocks.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(blocks[i].is == kinds[i]);
  CHECK(
      markdown::as_html(blocks) ==
      "<div class=\"scroll\"><table>\n<tr><th>a</th><th><code>b</code></th><th><code>c</code></th></tr>\n"
      "<tr><td>1</td><td></td></tr>\n</table></div>\n<div "
      "class=\"scroll\"><table>\n<tr><th>d</th></tr>\n</table></div>\n"
      "<pre>x = **y\n\nz\n</pre>\n<details><summary>Answer</summary><p>Yes, <code>a</code> is &lt;b.</p></details>\n"
      "<p>plain</p>\n");
  CHECK(markdown::as_text(blocks[4], terminal(false, 80)) == "Answer. Yes, a is <b.\n");
  CHECK(markdown::as_text(blocks[3], terminal(false, 4)) == "x = **y\n\nz\n");
}

TEST_CASE("a terminal is known by its width, and has no styles with NO_COLOR or as a dumb one") {
  const pseudo_terminal at_stdout(72);
  const auto bold = [] { return terminal::of_stdout().begin(text_style::bold); };
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "xterm", 1);
  CHECK(bold() == "\033[1m");
  CHECK(terminal::of_stdout().width() == 72);
  ::setenv("NO_COLOR", "1", 1);
  CHECK(bold().empty());
  ::setenv("NO_COLOR", "", 1);
  CHECK(bold() == "\033[1m");
  ::setenv("TERM", "dumb", 1);
  CHECK(bold().empty());
}

TEST_CASE("--trace tells who adds what to what, who rests and which banks meet") {
  const scratch_folder here;
  const finished run = here.fanin("ladder --trace shared-strided --count 16 --block-size 8");
  CHECK(run.status == 0);
  for (const auto* line : {
           "shared-strided: 16 elements x[i] = i + 1, 2 blocks of 8 threads, warps of 4 threads and as many banks",
           "\nstride 1, in shared memory\n  8 of 16 threads work; no warp is partly idle\n",
           "\nstride 2, in shared memory\n  4 of 16 threads work; 2 warps are partly idle\n  block 0   [##..] "
           "[....]\n",
           "  the first warp reads banks 2 2; up to 2 threads of a warp wait for one bank\n",
           "  thread 1    value[4] += value[6]    11 + 15 = 26\n",
           "  then a block barrier\n",
           "\ntotal 136\n",
       }) {
    CAPTURE(line);
    CHECK(has(run.out, line));
  }
  CHECK(has(here.fanin("ladder --trace warp-shuffle --count 100 --block-size 33").out, "1 block of 64 threads"));
  CHECK(has(here.fanin("ladder --trace unroll-complete --block-size 96").out, "1 block of 64 threads"));
  CHECK(run.err.empty());
  CHECK(here.fanin("ladder --trace shared-mask --block-size 3").err ==
        "fanin: the stage shared-mask cannot have blocks of 3 threads; the traced blocks have 4\n");
}

TEST_CASE("what the lesson cannot do is refused") {
  const scratch_folder here;
  const auto refused = [&](const std::string& arguments, std::string_view message) {
    CAPTURE(arguments);
    check_failure(here.fanin("ladder " + arguments), 2, message);
  };
  refused("--explain shared-stridet", "unknown stage 'shared-stridet'; did you mean 'shared-strided'?");
  refused("--trace ''", "--trace: the value is empty");
  refused("--trace shared-mask --count 4097", "a trace has at most 4096 elements");
  refused("--trace shared-mask --block-size 1025", "a block has at most 1024 threads");
  refused("--trace shared-mask --json", "--json does not go with --trace");
  refused("--trace shared-mask --type i32", "--type does not go with --trace");
  refused("--trace shared-mask --explain shared-mask", "excludes --");
  refused("--explain shared-mask --count 16", "--count does not go with --explain");
  refused("--svg", "--svg requires --trace");
}

TEST_CASE("a page of what is no result, or in a file that exists, is refused") {
  const scratch_folder here;
  here.write("cut.json", "{\"operation\": ");
  here.write("other.json", "{\"benchmarks\": []}");
  here.write("zero.json", R"({"operation": "max", "element_type": "i64", "count": 1000, "device": "d", "rows": [
      {"stage": "shared-mask", "builds_on": "shared-modulo", "seconds": 0, "gigabytes_per_second": 64,
       "share_of_ceiling": 0.125, "gain": null}]})");
  here.write("old.html", "old");
  check_failure(here.fanin("lesson page.html cut.json"), 1, "cut.json: not JSON, or cut short");
  check_failure(here.fanin("lesson page.html other.json"), 1, "other.json: not a result of 'fanin ladder --json'");
  check_failure(here.fanin("lesson page.html zero.json"), 1, "zero.json: seconds is 0, not above 0");
  check_failure(here.fanin("lesson page.html none.json"), 1, "none.json: cannot be opened");
  check_failure(here.fanin("lesson other.json --force"), 2, "'other.json' looks like a result");
  check_failure(here.fanin("lesson old.html"), 1, "old.html: exists; --force replaces it");
  CHECK(here.read("old.html") == "old");
  CHECK(here.shell("ls").out == "cut.json\nold.html\nother.json\nzero.json\n");
  CHECK(here.fanin("lesson - | tail -c 8").out == "</html>\n");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
