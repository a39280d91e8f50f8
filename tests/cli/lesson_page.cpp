// SPDX-License-Identifier: Apache-2.0
// Tests of fanin lesson: the page's stages, pictures, stories and times.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "cli/lesson/listing.hpp"
#include "cli/lesson/step_pictures.hpp"
#include "cli/lesson/words.hpp"
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
  const std::size_t at = page.find(fmt::format(" id=\"{}\">", stage));
  REQUIRE(at != page.npos);
  return page.substr(at, page.find("</section>", at) - at);
}

json ladder_row_of(const std::string& stage, const json& seconds, const json& gain) {
  return {{"stage", stage},
          {"builds_on", "the <first>"},
          {"seconds", seconds},
          {"gigabytes_per_second", 64},
          {"share_of_ceiling", 0.125},
          {"gain", gain}};
}

json ladder_of(const std::string& device, const std::vector<json>& rows) {
  return {{"operation", "max"}, {"element_type", "i64"}, {"count", 1000}, {"device", device}, {"rows", rows}};
}

std::string path_of_result(std::string_view machine, std::string_view name) {
  return fmt::format(FANIN_SOURCE "/bench/results/{}/{}.json", machine, name);
}

json result_of(std::string_view machine, std::string_view name) {
  std::ifstream file(path_of_result(machine, name));
  return json::parse(file);
}

TEST_SUITE_BEGIN("lesson_page");

TEST_CASE("every stage has its parts in order, its pictures and its times, and a numbered link") {
  const scratch_folder here;
  const std::string page = page_with(here, "");
  std::size_t last = 0;
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const std::size_t begin = page.find(fmt::format("<section class=\"stage\" id=\"{}\">", stage.name));
    REQUIRE(begin != page.npos);
    CHECK(begin > last);
    last = begin;
    const std::string section = section_of(page, stage.name);
    const std::string heading = section.substr(section.find("<h2>") + 4, 3 + stage.name.size());
    CHECK(heading.ends_with(fmt::format(" {}", stage.name)));
    CHECK(contains(page, fmt::format("<a href=\"#{}\">{}</a>\n", stage.name, heading)));
    std::size_t before = 0;
    for (const auto* part :
         {"<p><strong>Problem.", "<p><strong>Idea.", "<p><strong>Kernel.", "<figure", "<p><strong>Expect.",
          "<p><strong>Measured.", "<p><strong>Question.", "<details><summary>Answer</summary><p>"}) {
      CAPTURE(part);
      CHECK(section.find(part) != section.npos);
      CHECK(section.find(part) > before);
      before = section.find(part);
    }
    const bool first = stage.name == "global-neighbored", of_integers = stage.name == "warp-redux";
    CHECK(count_of(">gain over ", section) == (first ? 0 : 1));
    CHECK(count_of("<td>H100</td><td>2^", section) == (of_integers ? 2 : 4));
    CHECK(count_of("<td>H200</td><td>2^", section) == (of_integers ? 2 : 4));
    CHECK(count_of("&#160;&#215;</td>", section) == (first ? 8 : of_integers ? 8 : 16));
    const std::size_t steps = make_trace(stage, readable_shape(stage, 0, 0)).steps.size();
    CHECK(count_of("<figure", section) == steps);
    CHECK(count_of("<svg ", section) == steps);
  }
  CHECK(contains(section_of(page, "shared-strided"), "(bench/results/h100).</p>"));
}

TEST_CASE("the counters that a stage names have their values there, and before it") {
  const scratch_folder here;
  const std::string section = section_of(page_with(here, ""), "shared-strided");
  CHECK(contains(section, "<th>measured with</th><th>shared-mask</th><th>shared-strided</th></tr>\n"));
  for (const char* machine : {"h200", "h100"}) {
    for (const json profile = result_of(machine, "profile-ladder"); const json& row : profile["rows"]) {
      if (row["stage"] != "shared-strided") continue;
      const double conflicts = row["counters"]["bank conflicts"].get<double>() / 1e6;
      CHECK(contains(section, fmt::format("<td>{:.1f} million</td></tr>", conflicts)));
    }
  }
}

TEST_CASE("the overview has a map of all stages, a chart and a table of their gains") {
  const scratch_folder here;
  const std::string overview = section_of(page_with(here, ""), "overview");
  const std::string map = overview.substr(overview.find("class=\"chart map\""), overview.find("</svg>"));
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    CHECK(contains(map, fmt::format("<a href=\"#{}\"><title>", stage.name)));
    CHECK(count_of(fmt::format("<th scope=\"row\"><a href=\"#{}\">", stage.name), overview) == 2);
  }
  // Each stage but the first is joined with another one, and only 06, 14, 15, 19 and 22 begin a row.
  CHECK(count_of("<path d=\"M", map) == traced_stages().size() - 1);
  std::set<std::string> heights;
  const std::regex place("<rect x=\"[0-9]+\" y=\"([0-9]+)\"");
  for (std::sregex_iterator one(map.begin(), map.end(), place), end; one != end; ++one) heights.insert((*one)[1]);
  CHECK(heights.size() == 6);
  for (const char* machine : {"h200", "h100"}) {
    const json ceiling = result_of(machine, "ladder-f32-28")["ceiling_gigabytes_per_second"];
    CHECK(contains(overview, fmt::format("read ceiling, {:.0f} GB/s", ceiling.get<double>())));
  }
  CHECK(contains(overview, "<th scope=\"col\">gain since 01</th>"));
  CHECK(contains(overview, "<a class=\"word\" href=\"#word-ceiling\""));
  CHECK(contains(overview, "<pre>fanin lesson --puzzles puzzles\nfanin check puzzles/01.cu</pre>"));
}

TEST_CASE("the kernel of several stages is shown with the template's argument of each") {
  const scratch_folder here;
  const std::string page = page_with(here, "");
  for (const int tiles : {2, 4, 8}) {
    CHECK(contains(section_of(page, fmt::format("global-unroll-{}", tiles)),
                   fmt::format("04_global_unroll.cuh</code>, with Tiles = {}", tiles)));
  }
  CHECK(contains(section_of(page, "global-unroll-4"), "with Tiles = 4. 04 global-unroll-2 has the same lines.</p>"));
  CHECK(contains(section_of(page, "shared-mask"), "07_shared_mask.cuh</code>. Marked lines"));
}

TEST_CASE("each device has a table of gains of its own") {
  const scratch_folder here;
  for (const std::string device : {"one", "two"}) {
    here.write(device + ".json", ladder_of(device, {ladder_row_of("global-neighbored", 0.004, nullptr)}).dump());
  }
  const std::string overview = section_of(page_with(here, "one.json two.json"), "overview");
  CHECK(contains(overview, "<th scope=\"col\">one, 1000 i64, max</th>"));
  CHECK(contains(overview, "<th scope=\"col\">two, 1000 i64, max</th>"));
  CHECK(count_of("<th scope=\"col\">", overview) == 2 * 7);
  CHECK(count_of("<th scope=\"row\"><a href=\"#global-neighbored\">", overview) == 2);
}

TEST_CASE("words and counters are links where they first occur, to an explanation on the page") {
  const scratch_folder here;
  const std::string page = page_with(here, "");
  for (const explained_word& one : explained_words()) {
    CAPTURE(one.id);
    CHECK(count_of(fmt::format("<dt id=\"{}\">", one.id), page) == 1);
    CHECK(contains(page, fmt::format("<a class=\"word\" href=\"#{}\" title=\"", one.id)));
  }
  word_links links;
  const auto html = [&](text_style style, const char* text) { return links({style, text}); };
  CHECK(html(text_style::plain, "Warps, 2 warps, a warp-shuffle") ==
        "<a class=\"word\" href=\"#word-warp\" title=\"A warp is 32 threads of a block that run the same instruction "
        "together.\">Warps</a>, 2 warps, a warp-shuffle");
  CHECK(html(text_style::plain, "<blockDim>") == "&lt;blockDim&gt;");
  CHECK(html(text_style::plain, "bank conflicts").starts_with("<a class=\"word\" href=\"#word-bank\""));
  CHECK(html(text_style::code, "bank conflicts").starts_with("<a class=\"word\" href=\"#counter-bank-conflicts\""));
  CHECK(html(text_style::code, "block") == "block");
}

TEST_CASE("every stage shows the kernel of its source file, without the template's names, and marks what is new") {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const listing found = listing_of(stage.name);
    std::ifstream file(fmt::format(FANIN_SOURCE "/{}", found.file));
    const std::string source(std::istreambuf_iterator<char>(file), {});
    std::size_t kernels = 0, marks = 0, at = 0;
    for (const listed_line& one : found.lines) {
      const std::size_t next = source.find(fmt::format("{}\n", one.source), at);
      REQUIRE(next != source.npos);
      at = next + one.source.size();
      kernels += one.text.starts_with("__global__") ? 1 : 0;
      marks += one.is_new ? 1 : 0;
      for (const auto* part : {"A::", "<A", "class A", "watch", "__launch_bounds__"})
        CHECK_FALSE(contains(one.text, part));
    }
    CHECK(kernels == 1);
    CHECK(found.lines.back().text == "}");
    CHECK(source.find(fmt::format("\"{}\", \"{}\"", stage.name, found.builds_on)) != source.npos);
    // One file has the kernel of 2, 4 and 8 tiles.
    const bool has_own_kernel = stage.name != "global-unroll-4" && stage.name != "global-unroll-8";
    CHECK((marks > 0) == (has_own_kernel && !found.builds_on.empty()));
    CHECK(marks < found.lines.size());
    const auto is_code = [](const listed_line& one) { return !one.text.empty() && !one.text.starts_with("///"); };
    CHECK(std::ranges::count_if(found.lines, is_code) <= 25);
  }
}

TEST_CASE("a listing has the functions that it calls, and those that they call") {
  const listing found = listing_of("grid-stride");
  CHECK(found.called == std::vector<std::string>{"block_fold", "store_partial", "warp_fold"});
  std::string text;
  for (const listed_line& one : found.definitions) text += fmt::format("{}\n", one.text);
  CHECK(contains(text, "__device__ float block_fold(float s) {\n"));
  CHECK(contains(text, "distance /= 2) s += shuffle_down(s, distance);\n"));
  CHECK(listing_of("warp-shuffle").called == std::vector<std::string>{"load_two", "store_partial", "load"});
}

TEST_CASE("every step tells its line of the kernel, unless it is in another kernel") {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const listing kernel = listing_of(stage.name);
    std::set<std::size_t> lines;
    for (const trace_step& step : make_trace(stage, readable_shape(stage, 0, 0)).steps) {
      CAPTURE(step.what);
      const auto line = line_of(kernel, step.part);
      CHECK(line.has_value() == (step.part != kernel_part::next_kernel));
      if (line) lines.insert(*line);
    }
    CHECK(lines.size() >= 2);
  }
  const auto text = [](const char* stage, kernel_part part) {
    const listing kernel = listing_of(stage);
    return kernel.lines.at(line_of(kernel, part).value()).text;
  };
  CHECK(text("sync-warp", kernel_part::tree) ==
        "    if (warp_thread < stride) values[thread] += values[thread + stride];");
  CHECK(contains(text("sync-warp", kernel_part::last_warp), "values[warp_thread] += values[warp_thread + stride];"));
  CHECK(contains(text("single-pass", kernel_part::tree), "block_fold(fold_vectors(a))"));
  CHECK(contains(text("single-pass", kernel_part::last_block), "block_fold(fold_partials<4>("));
}

TEST_CASE("warps of one picture have colours of their own") {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    const trace all = make_trace(stage, readable_shape(stage, 0, 0));
    for (const trace_step& step : all.steps) {
      CHECK(step.threads * step.blocks / all.shape.warp_size <= warp_colours);
    }
  }
  const scratch_folder here;
  const std::string page = page_with(here, "");
  for (unsigned i = 0; i < warp_colours; ++i) CHECK(contains(page, fmt::format(".w{0}{{--c:var(--c{0})}}", i)));
}

TEST_CASE("a marked line is one that the stage before does not have") {
  const listing found = listing_of("shared-dynamic");
  CHECK(found.builds_on == "shared-sequential");
  std::vector<std::string> marked;
  for (const listed_line& one : found.lines) {
    if (one.is_new) marked.push_back(one.text);
  }
  CHECK(marked == std::vector<std::string>{"  auto* values = dynamic_shared<float>();"});
  const scratch_folder here;
  CHECK(contains(section_of(page_with(here, ""), "shared-dynamic"),
                 "<mark style=\"--indent:2\">  auto* values = dynamic_shared&lt;float&gt;();</mark>\n"
                 "<span style=\"--indent:2\">  const unsigned thread = threadIdx.x;</span>\n"));
}

TEST_CASE("the page needs nothing but itself") {
  const scratch_folder here;
  std::string page = page_with(here, "");
  // C++ in the kernels has marks of Markdown.
  for (const auto& [begin, end] : {std::pair("<pre>", "</pre>"), {"<code class=\"line\">", "</code>"}}) {
    for (std::size_t at = page.find(begin); at != page.npos; at = page.find(begin)) {
      page.erase(at, page.find(end, at) - at);
    }
  }
  const std::string name_of_svg = " xmlns=\"http://www.w3.org/2000/svg\"";  // Nothing is fetched from there.
  for (std::size_t at; (at = page.find(name_of_svg)) != page.npos;) page.erase(at, name_of_svg.size());
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
      CHECK(count_of("thread ", svg.substr(svg.find("<desc>"))) == step.additions.size());
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
  CHECK(contains(step_pictures(all)[2].notes, "The first warp reads banks 2 2; up to 2 threads of a warp wait"));
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
  CHECK(contains(mask, "gain over the &lt;first&gt;</th>"));
  CHECK(
      contains(mask, "<td>a</td><td>1000 i64, max</td><td class=\"number\">2000.0</td><td class=\"number\">64</td>"));
  CHECK(contains(mask,
                 "--share:12.5%\">12.5&#160;%</td><td class=\"number\">1.50&#160;&#215;</td>"
                 "<td class=\"number\">2.00&#160;&#215;</td></tr>"));
  CHECK(contains(section_of(page, "global-neighbored"),
                 "<td class=\"number\"></td><td class=\"number\">1.00&#160;&#215;</td>"));
  CHECK(contains(section_of(page, "shared-strided"), "These results have no time of this stage."));
  CHECK_FALSE(contains(page, "bench/results"));
  const std::string overview = section_of(page, "overview");
  const std::string chart = overview.substr(overview.find("class=\"speeds\""), overview.find("</figure>"));
  CHECK(contains(chart, ">07 shared-mask</text>"));
  CHECK_FALSE(contains(chart.substr(0, chart.find("</figure>")), "08 shared-strided"));  // It has no time.
  CHECK(contains(overview, "Measured: a &lt;device&gt; (a.json)</p>"));
}

TEST_CASE("the default times are those of the results in bench/, as if these were given") {
  const scratch_folder here;
  const std::string by_default = page_with(here, "");
  for (const std::string name : {"ladder-f32-24", "ladder-f32-28", "ladder-i32-24", "ladder-i32-28"}) {
    const std::string given = page_with(here, path_of_result("h200", name) + " " + path_of_result("h100", name));
    for (const std::string machine : {"h200", "h100"}) {
      for (const json ladder = result_of(machine, name); const json& row : ladder["rows"]) {
        if (row["number"].is_null()) continue;
        const std::string stage = row["stage"].get<std::string>();
        CAPTURE(stage);
        CHECK(count_of("<td>H", section_of(given, stage)) == 2);
        const std::string time =
            fmt::format("<td class=\"number\">{:.1f}</td><td class=\"number\">{:.0f}</td>",
                        1e6 * row["seconds"].get<double>(), row["gigabytes_per_second"].get<double>());
        const std::string share = fmt::format("{:.1f}&#160;%</td>", 100 * row["share_of_ceiling"].get<double>());
        const std::string gain =
            row["gain"].is_null() ? "" : fmt::format("{:.2f}&#160;&#215;", row["gain"].get<double>());
        for (const std::string& page : {by_default, given}) {
          CHECK(contains(section_of(page, stage), time));
          CHECK(contains(section_of(page, stage), share + "<td class=\"number\">" + gain + "</td>"));
        }
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
