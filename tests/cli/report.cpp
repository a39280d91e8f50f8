// SPDX-License-Identifier: Apache-2.0
// Tests of fanin report: the page, the files that it reads and writes, and its errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tests/cli/report_files.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

TEST_SUITE_BEGIN("report");

TEST_CASE("the page: every kind of chart, each with a text alternative and a table, and nothing from elsewhere") {
  const scratch_folder here;
  const std::string page = drawn(here, write_all_kinds(here));
  for (const std::string kind :
       {"ladder", "latency", "throughput", "families", "compare", "accuracy", "samples", "history"}) {
    CAPTURE(kind);
    CHECK(page.find("<h2 id=\"" + kind + "\">") != std::string::npos);
  }
  const auto ids = found(page, "id=\"([^\"]*)\"");
  const std::set<std::string> unique(ids.begin(), ids.end());
  CHECK(unique.size() == ids.size());
  const auto labels = found(page, "<svg[^>]*aria-labelledby=\"([^\"]*)\"");
  CHECK(labels.size() == found(page, "(<svg)").size());
  for (const std::string& both : labels) {
    CHECK(unique.contains(both.substr(0, both.find(' '))));
    CHECK(unique.contains(both.substr(both.find(' ') + 1)));
  }
  CHECK(found(page, "(<section)").size() + 1 == found(page, "(<table)").size());  // The sources are one more table.
  CHECK(found(page, "(<title[^>]*></title>|<desc[^>]*></desc>)").empty());
  CHECK(found(page, "(<script|<link|<img|@import|url\\(|src=)").empty());
  for (const std::string& address : found(page, "(https?://[^\"]*)")) CHECK(address == "http://www.w3.org/2000/svg");
  CHECK(page.find("prefers-color-scheme:dark") != std::string::npos);
  CHECK(page.find("@media print") != std::string::npos);
}

TEST_CASE("names that look like markup are text") {
  const scratch_folder here;
  here.write("ladder.json", ladder_file("<b onload=\"x\">&amp;\x01"));
  for (const std::string format : {"html", "svg"}) {
    const std::string text = drawn(here, "ladder.json --chart ladder --format " + format);
    CHECK(text.find("<b ") == std::string::npos);
    CHECK(text.find('\x01') == std::string::npos);
    CHECK(text.find("&lt;b onload=&quot;x&quot;&gt;&amp;amp;?") != std::string::npos);
  }
}

TEST_CASE("control characters in names become question marks") {
  const scratch_folder here;
  here.write("ladder.json", ladder_file("a\x1b[2J\xc2\x9b\x7f\n, é"));
  here.write("bench.json", bench_file("", "", {bench_row("b\x1b[2J\xc2\x9b", "fast", 1024, 1)}));
  const std::string page = drawn(here, "ladder.json bench.json");
  CHECK(page.find("a?[2J???, é") != std::string::npos);
  CHECK(page.find("b?[2J?/simd") != std::string::npos);
  const std::string table = drawn(here, "bench.json --chart throughput --format csv");
  CHECK(table == "GB/s at n,b?[2J?/simd,one-thread read ceiling\n1024,1,100\n");
}

TEST_CASE("a drawing is XML: no character that XML forbids, and no half of a commit's last character") {
  const scratch_folder here;
  here.write("old.json", bench_file("aaaaaa\u00e9", "2026-01-01", {bench_row("serial", "fast", 1024, 10)}));
  here.write("new.json", bench_file("b\uffff", "2026-02-01", {bench_row("serial", "fast", 1024, 10)}));
  const std::string svg = drawn(here, "--history old.json new.json --format svg");
  CHECK(svg.find(">aaaaaa</text>") != std::string::npos);
  CHECK(svg.find(">b?</text>") != std::string::npos);
}

TEST_CASE("shells complete the names of charts, and formats that are not those of inputs") {
  const std::string script = scratch_folder().fanin("completion bash").out;
  const std::string mine = script.substr(script.find("    report)\n"));
  CHECK(mine.find("--chart) words=\"samples compare throughput families accuracy ladder latency history\"") <
        mine.find("esac"));
  CHECK(mine.find("--format) words=\"html svg csv\"") < mine.find("esac"));
}

TEST_CASE("what cannot be read or drawn is refused, and nothing is written") {
  const scratch_folder here;
  write_all_kinds(here);
  const auto refused = [&](int status, const std::string& arguments, std::string_view message) {
    CAPTURE(arguments);
    check_failure(here.fanin("report page.html " + arguments), status, message);
    CHECK(here.shell("test ! -e page.html").status == 0);
  };
  here.write("cut.json", ladder_file("a device").substr(0, 100));
  here.write("deep.json",
             R"({"benchmarks": [], "context": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
  here.write("number.json", "17");
  here.write("keys.json", R"({"ceiling_gigabytes_per_second": 5})");
  here.write(
      "kind.json",
      R"({"benchmarks": [{"run_type": "iteration", "real_time": "1", "name": "a/f32/c/d/5", "time_unit": "ns"}]})");
  here.write("name.json",
             R"({"benchmarks": [{"run_type": "iteration", "real_time": 1, "name": "BM_x", "time_unit": "ns"}]})");
  here.write("unit.json",
             json({{"benchmarks",
                    {{{"run_type", "iteration"}, {"real_time", 1}, {"name", "a/f32/c/d/5"}, {"time_unit", "h"}}}}})
                 .dump());
  here.write("zero.json", json({{"benchmarks", {program_row("sum/f32/serial/simd/4096", 0)}}}).dump());
  here.write("none.json", R"({"benchmarks": []})");
  refused(1, "absent.json", "absent.json: cannot be opened");
  refused(1, "cut.json", "cut.json: not JSON, or cut short");
  refused(1, "deep.json", "deep.json: the JSON has more than 64 levels of arrays and objects");
  refused(1, "number.json number.json",
          "number.json: not a result of 'fanin bench', 'regress', 'ladder', 'lab latency', 'accuracy' or 'compare'");
  refused(1, "keys.json", "keys.json: 'operation' is missing");
  refused(1, "kind.json", "kind.json: row 1 of 'benchmarks' ('a/f32/c/d/5'): 'real_time' is not a number");
  refused(1, "name.json",
          "name.json: row 1 of 'benchmarks' ('BM_x'): its name is not DATA/TYPE/BACKEND/VARIANT/COUNT");
  refused(1, "unit.json", "row 1 of 'benchmarks' ('a/f32/c/d/5'): unknown unit of time 'h'");
  refused(1, "zero.json", "row 1 of 'benchmarks' ('sum/f32/serial/simd/4096'): real_time is 0, not above 0");
  here.write("short.json", bench_file("", "", {bench_row("serial", "fast", 1024, 1e305)}));
  refused(1, "short.json", "not from 1e-100 to 1e+100");
  refused(1, "none.json", "these results have nothing to draw");
  refused(1, "ladder.json --chart accuracy", "these results have nothing for the chart 'accuracy'");
  refused(2, "ladder.json --chart lader", "unknown chart 'lader'; did you mean 'ladder'?");
  refused(2, "ladder.json --format pdf", "unknown format 'pdf'");
  refused(2, "new.json ladder.json --format svg",
          "--format svg is for one chart; --chart takes throughput-a-machine-sum-f32-fast, ladder-");
  refused(2, "new.json old.json --history --chart ladder", "excludes");
  refused(2, "--history", "results of several commits");
  check_failure(here.fanin("report ladder.json new.json"), 2, "'ladder.json' looks like a result");
  here.shell("ln ladder.json hard; ln -s ladder.json soft");
  for (const std::string name : {"hard", "soft"}) {
    check_failure(here.fanin("report " + name + " ladder.json --force"), 2, "'" + name + "' is a result");
  }
  here.write("page.html", "mine");
  check_failure(here.fanin("report page.html ladder.json"), 1, "page.html: exists; --force replaces it");
  CHECK(here.read("page.html") == "mine");
}

TEST_CASE("each value that is missing or of another kind is named, with its row and its file") {
  const scratch_folder here;
  write_all_kinds(here);
  // Every value of every kind of result in turn is removed, and replaced by a list of a list.
  std::size_t refusals = 0;
  for (const std::string file :
       {"new.json", "ladder.json", "latency.json", "regress.json", "accuracy.json", "compare.json"}) {
    const json whole = json::parse(here.read(file));
    const json flat = whole.flatten();
    std::set<std::string> seen;
    for (const auto& [path, value] : flat.items()) {
      const std::string pattern = std::regex_replace(path, std::regex("/[0-9]+"), "/0");
      if (!seen.insert(pattern).second) continue;
      const json::json_pointer at(pattern);
      if (!whole.contains(at)) continue;
      for (const bool removed : {true, false}) {
        json broken = whole;
        json& around = broken[at.parent_pointer()];
        if (removed && around.is_array()) continue;
        if (removed) {
          around.erase(at.back());
        } else {
          broken[at] = {{"a"}};
        }
        CAPTURE(file);
        CAPTURE(pattern);
        here.write("broken.json", broken.dump());
        const finished run = here.fanin("report page.html --force broken.json");
        CHECK(run.err.find("[json") == std::string::npos);
        if (run.status == 0) continue;  // The value is not drawn.
        ++refusals;
        CHECK(run.status == 1);
        CHECK(run.err.starts_with("fanin: broken.json: "));
        if (run.err.find("not a result of") != std::string::npos) continue;  // The key tells the kind.
        if (pattern.find("/0/") != std::string::npos) CHECK(run.err.find("row 1 of ") != std::string::npos);
      }
    }
  }
  CHECK(refusals > 60);
}

TEST_CASE("JSON of other kinds is skipped with a warning") {
  const scratch_folder here;
  write_all_kinds(here);
  here.write("device.json", R"({"cpu": {}})");
  here.write("number.json", "17");
  const finished run = here.fanin("report page.html device.json ladder.json number.json");
  CHECK(run.status == 0);
  CHECK(run.err == "fanin: warning: skipped device.json, number.json: there is no chart for such results\n");
  CHECK(here.read("page.html").find("device.json") == std::string::npos);
}

TEST_CASE("the pictures in docs/ are what the results say" * doctest::test_suite("pictures")) {
  const scratch_folder here;
  const std::string results = FANIN_SOURCE "/bench/results/";
  struct entry {
    std::string picture, chart, file;
  };
  for (const entry& one : {entry{"error-and-speed", "compare", "h100/host/compare"},
                           {"gpu-sum", "throughput-nvidia-h200-sum-f32-fast", "h200/gpu-sums"},
                           {"gpu-sum-h100", "throughput-nvidia-h100-80gb-hbm3-sum-f32-fast", "h100/gpu-sums"},
                           {"exact-by-data", "families-nvidia-h200-f32", "h200/gpu-sums"},
                           {"exact-by-data-h100", "families-nvidia-h100-80gb-hbm3-f32", "h100/gpu-sums"},
                           {"ladder", "ladder", "h200/ladder-f32-28"},
                           {"lab-latency", "latency-nvidia-h200-load", "h200/lab-latency"}}) {
    CAPTURE(one.picture);
    drawn(here, "--format svg --chart " + one.chart + " '" + results + one.file + ".json'");
    CHECK(here.shell("cmp out '" FANIN_DOCS "/" + one.picture + ".svg'").status == 0);
  }
}

TEST_SUITE_END();

// The measurements take half a minute.
TEST_SUITE_BEGIN("report_measures");

TEST_CASE("without results it measures first") {
  const scratch_folder here;
  CHECK(here.fanin("report page.html").status == 0);
  const std::string page = here.read("page.html");
  CHECK(page.find("fanin bench --json") != page.npos);
  CHECK(page.find("condition:1e10") != page.npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
