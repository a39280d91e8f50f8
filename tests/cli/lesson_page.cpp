// SPDX-License-Identifier: Apache-2.0
// Tests of fanin lesson: the page's stages, pictures, stories and times, and its errors.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "cli/lesson/listing.hpp"
#include "cli/lesson/step_pictures.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string page_with(const scratch_folder& here, const std::string& results) {
  const finished run = here.fanin("lesson page.html --force " + results);
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  CHECK(run.out.empty());
  return here.read("page.html");
}

/// The part of the page about a stage.
std::string section_of(const std::string& page, std::string_view stage) {
  const std::size_t at = page.find(fmt::format("<section id=\"{}\">", stage));
  REQUIRE(at != page.npos);
  return page.substr(at, page.find("</section>", at) - at);
}

json ladder_row_of(const std::string& stage, const json& seconds, const json& gain) {
  return {{"stage", stage},
          {"builds_on", "the <first>"},
          {"seconds", seconds},
          {"share_of_ceiling", 0.125},
          {"gain", gain}};
}

json ladder_of(const std::string& device, const std::vector<json>& rows) {
  return {{"operation", "max"}, {"element_type", "i64"}, {"count", 1000}, {"device", device}, {"rows", rows}};
}

TEST_SUITE_BEGIN("lesson_page");

TEST_CASE("every stage has its pictures, its story, what its counter tells and its time") {
  const scratch_folder here;
  const std::string page = page_with(here, "");
  std::size_t last = 0;
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    CHECK(contains(page, fmt::format("<a href=\"#{0}\">{0}</a>", stage.name)));
    CHECK(page.find(fmt::format("<section id=\"{}\">", stage.name)) > last);
    last = page.find(fmt::format("<section id=\"{}\">", stage.name));
    const std::string section = section_of(page, stage.name);
    for (const auto* label : {"Fault.", "Idea.", "Kernel.", "Counter.", "Measured.", "Exercises."}) {
      CHECK(count_of(fmt::format("<p><strong>{}</strong>", label), section) == 1);
    }
    CHECK(count_of("<th scope=\"col\">speed</th>", section) == (stage.name == "global-neighbored" ? 0 : 1));
    CHECK(count_of("&#160;us</td>", section) == (stage.name == "warp-redux" ? 2 : 4));
    const bool traced = stage.untraced.empty();
    const std::size_t steps = traced ? make_trace(stage, readable_shape(stage, 0, 0)).steps.size() : 0;
    CHECK(count_of("<figure>", section) == steps);
    CHECK(count_of("<svg ", section) == steps);
  }
  const std::string strided = section_of(page, "shared-strided");
  CHECK(contains(strided,
                 "<dt><code>l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum</code></dt>"
                 "<dd>turns lost because lanes of a warp wanted different words of one bank</dd>"));
  CHECK(contains(strided, "(bench/results/h200).</p>"));
}

TEST_CASE("every stage shows the kernel of its source file, and marks what is new") {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const listing found = listing_of(stage.name);
    std::ifstream file(fmt::format(FANIN_SOURCE "/{}", found.file));
    const std::string source(std::istreambuf_iterator<char>(file), {});
    std::string text;
    std::size_t kernels = 0, marks = 0;
    for (const listed_line& one : found.lines) {
      text += fmt::format("{}\n", one.text);
      kernels += one.text.starts_with("__global__") ? 1 : 0;
      marks += one.is_new ? 1 : 0;
    }
    CHECK(source.find(text) != source.npos);
    CHECK(kernels == 1);
    CHECK(text.ends_with("}\n"));
    CHECK(source.find(fmt::format("\"{}\", \"{}\"", stage.name, found.builds_on)) != source.npos);
    // One file has the kernel of 2, 4 and 8 tiles.
    const bool has_own_kernel = stage.name != "global-unroll-4" && stage.name != "global-unroll-8";
    CHECK((marks > 0) == (has_own_kernel && !found.builds_on.empty()));
    CHECK(marks < found.lines.size());
  }
}

TEST_CASE("a marked line is one that the stage before does not have") {
  const listing found = listing_of("shared-dynamic");
  CHECK(found.builds_on == "shared-sequential");
  std::vector<std::string_view> marked;
  for (const listed_line& one : found.lines) {
    if (one.is_new) marked.push_back(one.text);
  }
  CHECK(marked == std::vector<std::string_view>{"  auto* values = dynamic_shared<typename A::state>();"});
  const scratch_folder here;
  CHECK(contains(section_of(page_with(here, ""), "shared-dynamic"),
                 "<mark>  auto* values = dynamic_shared&lt;typename A::state&gt;();</mark>\n"
                 "  const unsigned thread = threadIdx.x;\n"));
}

TEST_CASE("the page needs nothing but itself") {
  const scratch_folder here;
  std::string page = page_with(here, "");
  // C++ in the kernels has marks of Markdown.
  for (std::size_t at = page.find("<pre>"); at != page.npos; at = page.find("<pre>")) {
    page.erase(at, page.find("</pre>", at) - at);
  }
  for (const auto* part : {"http", "src=", "<link", "url(", "@import", "**", "](", "<!--"}) {
    CAPTURE(part);
    CHECK_FALSE(contains(page, part));
  }
  CHECK(contains(page, "prefers-color-scheme:dark"));
  CHECK_FALSE(contains(page, "class=\"lead\""));  // The report's style sheet, which comes first, has bold leads.
  CHECK(contains(page, "0 0/3rem 100% local"));   // Shades at the ends of the list of stages show that it scrolls.
}

TEST_CASE("a picture shows every addition of its step, and the numbers before and after it") {
  for (const traced_stage& stage : traced_stages()) {
    if (!stage.untraced.empty()) continue;
    CAPTURE(stage.name);
    const trace all = make_trace(stage, readable_shape(stage, 0, 0));
    const std::vector<step_picture> pictures = step_pictures(all);
    REQUIRE(pictures.size() == all.steps.size());
    trace_memory<std::int64_t> memory = numbered_memory(all);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::string& svg = pictures[i].svg;
      const trace_step& step = all.steps[i];
      CAPTURE(step.what);
      CHECK(contains(pictures[i].title, step.what));
      CHECK(contains(pictures[i].notes, count_of_threads(step, all.shape.warp_size)));
      std::set<std::pair<unsigned, place>> sums;
      std::set<place> written;
      for (const addition& one : step.additions) {
        sums.emplace(one.thread, one.into);
        written.insert(one.into);
        CHECK(contains(svg, fmt::format(">{}</text>", memory.at(one.from))));
      }
      memory.run(step);
      for (const place& p : written) CHECK(contains(svg, fmt::format(">{}</text>", memory.at(p))));
      CHECK(count_of("thread ", svg) == step.additions.size());
      CHECK(count_of("<circle ", svg) == sums.size());
      CHECK(count_of("height=\"20\" class=\"on ", svg) == written.size());
      CHECK(count_of("height=\"14\" class=\"on ", svg) == working_threads(step).size());
      CHECK(count_of("height=\"14\" ", svg) == step.threads * step.blocks);
      CHECK(count_of("<line ", svg) >= step.additions.size() + sums.size());
    }
    CHECK(contains(pictures.back().svg, fmt::format(">{}</text>", all.shape.count * (all.shape.count + 1) / 2)));
  }
}

TEST_CASE("lines begin at the number that is read, and end at the circle of the thread") {
  const trace all = make_trace(find_traced_stage("shared-strided"), {16, 8, 4});
  const std::string svg = step_pictures(all)[2].svg;  // At stride 2 thread 1 of block 0 adds value[6] to value[4].
  CHECK(contains(svg, "<circle cx=\"110\" cy=\"80\" r=\"9\" class=\"w0\"/>"));
  CHECK(contains(svg, "<line x1=\"158\" y1=\"36\" x2=\"110\" y2=\"80\" class=\"w0\"/>"));
  CHECK(contains(svg, "<line x1=\"110\" y1=\"36\" x2=\"110\" y2=\"80\" class=\"w0 own\"/>"));
  CHECK(contains(svg, "thread 1: value[4] += value[6]    11 + 15 = 26;"));
  CHECK(contains(step_pictures(all)[2].notes, "The first warp reads banks 2 2; up to 2 lanes of a warp wait"));
}

TEST_CASE("times of results that are given replace the others") {
  const scratch_folder here;
  here.write("a.json", ladder_of("a <device>", {ladder_row_of("shared-mask", 0.002, 1.5),
                                                ladder_row_of("shared-strided", nullptr, nullptr),
                                                ladder_row_of("global-neighbored", 0.004, nullptr)})
                           .dump());
  const std::string page = page_with(here, "a.json");
  const std::string mask = section_of(page, "shared-mask");
  CHECK(contains(mask, "<strong>Measured.</strong> a &lt;device&gt; (a.json)</p>"));
  CHECK(contains(mask, ">1000 i64, max</th><td class=\"number\">2000.0&#160;us</td>"));
  CHECK(
      contains(mask, "--share:12.5%\">12.5&#160;%</td><td><strong>1.50&#160;&#215;</strong> the &lt;first&gt;</td>"));
  CHECK(contains(section_of(page, "global-neighbored"), "12.5&#160;%</td></tr>"));
  CHECK(contains(section_of(page, "shared-strided"), "These results have no time of this stage."));
  CHECK_FALSE(contains(page, "H200"));
}

TEST_CASE("the usual times are those of the results in bench/, as if these were given") {
  const scratch_folder here;
  const std::string usual = page_with(here, "");
  for (const std::string name : {"f32-24", "f32-28", "i32-24", "i32-28"}) {
    const std::string file = FANIN_SOURCE "/bench/results/h200/ladder-" + name + ".json";
    const std::string given = page_with(here, file);
    const json ladder = parsed(here.shell("cat " + file));
    for (const json& row : ladder["rows"]) {
      if (row["number"].is_null()) continue;
      const std::string stage = row["stage"].get<std::string>();
      CAPTURE(stage);
      CHECK(count_of("&#160;us</td>", section_of(given, stage)) == 1);
      const std::string time = fmt::format("{:.1f}&#160;us</td>", 1e6 * row["seconds"].get<double>());
      const std::string share = fmt::format("{:.1f}&#160;%</td>", 100 * row["share_of_ceiling"].get<double>());
      const std::string gain = row["gain"].is_null()
                                   ? "</tr>"
                                   : fmt::format("<td><strong>{:.2f}&#160;&#215;</strong> {}</td>",
                                                 row["gain"].get<double>(), row["builds_on"].get<std::string>());
      for (const std::string& page : {usual, given}) {
        CHECK(contains(section_of(page, stage), time));
        CHECK(contains(section_of(page, stage), share + gain));
      }
    }
  }
}

TEST_CASE("what is no result, or a file that exists, is refused") {
  const scratch_folder here;
  here.write("cut.json", "{\"operation\": ");
  here.write("other.json", "{\"benchmarks\": []}");
  here.write("zero.json", ladder_of("d", {ladder_row_of("shared-mask", 0, nullptr)}).dump());
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
