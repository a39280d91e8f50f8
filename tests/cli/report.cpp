// SPDX-License-Identifier: Apache-2.0
// Tests of fanin report: the charts and tables of each kind of result, and its errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

/// A row of 'fanin bench' with `rate` GB/s and a read ceiling of 100 GB/s.
json bench_row(const std::string& backend, const std::string& method, double count, double rate) {
  const double seconds = 4 * count / rate * 1e-9;
  return {{"name", backend},
          {"run_type", "iteration"},
          {"real_time", 1e9 * seconds},
          {"time_unit", "ns"},
          {"threads", 1},
          {"backend", backend},
          {"variant", "simd"},
          {"operation", "sum"},
          {"type", "f32"},
          {"method", method},
          {"count", count},
          {"bytes", 4 * count},
          {"memory", "host"},
          {"seconds", seconds},
          {"ceiling_seconds", 4 * count / 100 * 1e-9}};
}

std::string bench_file(const std::string& commit, const std::string& date, std::vector<json> rows) {
  return json({{"context", {{"machine", "a machine"}, {"commit", commit}, {"date", date}}}, {"benchmarks", rows}})
      .dump();
}

std::string ladder_file(const std::string& device) {
  const auto rung = [](const json& number, const std::string& stage, const json& rate) {
    return json{{"number", number}, {"stage", stage}, {"seconds", rate}, {"gigabytes_per_second", rate}};
  };
  return json({{"operation", "sum"},
               {"element_type", "f32"},
               {"count", 1 << 24},
               {"device", device},
               {"ceiling_gigabytes_per_second", 1000},
               {"rows", {rung(1, "first", 250), rung(2, "broken", nullptr), rung(nullptr, "cuda", 1000)}}})
      .dump();
}

std::string latency_file() {
  const auto row = [](double warps, const json& with_1, const json& with_2) {
    return json{{"instruction", "load"},
                {"unit", "GB/s"},
                {"warps_per_multiprocessor", warps},
                {"with_1_chain", with_1},
                {"with_2_chains", with_2}};
  };
  return json({{"experiment", "latency"},
               {"commit", "ccccccc"},
               {"device", "a device"},
               {"rows", {row(1, 10, 19), row(2, 20, 36), row(4, nullptr, nullptr)}}})
      .dump();
}

/// A row of a program in bench/, whose name is family/type/backend/variant/count.
json program_row(const std::string& name, double microseconds) {
  return {{"name", name}, {"run_type", "iteration"}, {"real_time", microseconds}, {"time_unit", "us"}};
}

std::string regress_file() {
  return json({{"a", "old/fanin"},
               {"b", "new/fanin"},
               {"from", "pairs"},
               {"threshold", 0.03},
               {"cases",
                {{{"name", "serial/simd/sum"},
                  {"verdict", "SLOWER"},
                  {"reason", "it is"},
                  {"a_seconds", {1.0, 2.0}},
                  {"b_seconds", {1.1, 2.4}}}}}})
      .dump();
}

std::string compare_file() {
  const auto row = [](const std::string& backend, const std::string& variant, const std::string& method, double rate,
                      double error) {
    return json{{"backend", backend},           {"variant", variant},  {"method", method}, {"memory", "host"},
                {"gigabytes_per_second", rate}, {"error_ulps", error}, {"bound_ok", true}};
  };
  return json({{"input", "ones"},
               {"element_type", "f32"},
               {"count", 1000},
               {"ceiling_gigabytes_per_second", 30},
               {"rows",
                {row("tbb", "simd", "fast", 28, 2.5), row("serial", "simd", "fast", 14, 2.5),
                 row("serial", "naive", "fast", 4, 1e6), row("tbb", "exact", "exact", 24, 0)}},
               {"not_usable", json::array()}})
      .dump();
}

/// Writes a result file of each kind, and returns the names of the files.
std::string write_all_kinds(const scratch_folder& here) {
  here.write("old.json", bench_file("aaaaaaa", "2026-01-01", {bench_row("serial", "fast", 1024, 10)}));
  here.write("new.json", bench_file("bbbbbbb", "2026-02-01",
                                    {bench_row("serial", "fast", 1024, 20), bench_row("tbb", "fast", 1 << 20, 50)}));
  here.write("ladder.json", ladder_file("a device"));
  here.write("latency.json", latency_file());
  here.write("families.json",
             json({{"benchmarks",
                    {program_row("wide/f64/serial/simd/4096", 2), program_row("wide/f64/serial/exact/4096", 8)}}})
                 .dump());
  here.write("regress.json", regress_file());
  here.write("compare.json", compare_file());
  REQUIRE(here.fanin("accuracy uniform --count 100 --json > accuracy.json").status == 0);
  return "new.json old.json ladder.json latency.json families.json regress.json accuracy.json compare.json";
}

std::vector<std::string> found(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator one(text.begin(), text.end(), expression), end; one != end; ++one)
    all.push_back((*one)[1]);
  return all;
}

using texts = std::vector<std::string>;

std::string drawn(const scratch_folder& here, const std::string& arguments) {
  const finished run = here.fanin("report out --force " + arguments);
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  CHECK(run.out.empty());
  return here.read("out");
}

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

TEST_CASE("tables say what the results say, and the latest commit is the one drawn") {
  const scratch_folder here;
  const std::string files = write_all_kinds(here) + " --format csv --chart ";
  CHECK(drawn(here, files + "ladder") ==
        "number,stage,GB/s,% of the ceiling\n1,first,250.0,25.0\n2,broken,,\n,cuda,1000.0,100.0\n");
  CHECK(drawn(here, files + "latency") == "warps,with 1 chain,with 2 chains\n1,10,19\n2,20,36\n");
  CHECK(drawn(here, files + "families") ==
        "data,backend,n,\"exact, GB/s\",plain sum,\"exact, % of plain\"\nwide,serial,4096,4.096,serial/simd,25\n");
  CHECK(drawn(here, files + "throughput") ==
        "GB/s at n,serial/simd,tbb/simd,one-thread read ceiling\n1024,20,,100\n1048576,,50,100\n");
  CHECK(drawn(here, files + "samples") ==
        "case,verdict,pair,\"A, seconds\",\"B, seconds\",\"B against A, %\",reason\n"
        "serial/simd/sum,SLOWER,1,1,1.1,10.00,it is\nserial/simd/sum,SLOWER,2,2,2.4,20.00,it is\n");
  CHECK(drawn(here, files + "history-a-machine-sum-f32-fast-1024") ==
        "GB/s at commit,serial/simd,one-thread read ceiling\naaaaaaa,10,100\nbbbbbbb,20,100\n");
  CHECK(drawn(here, files + "compare") ==
        "backend,variant,method,GB/s,\"error, ulp\"\ntbb,simd,fast,28,2.5\nserial,simd,fast,14,2.5\n"
        "serial,naive,fast,4,1e+06\ntbb,exact,exact,24,0\n");
  const std::string accuracy = drawn(here, files + "accuracy");
  CHECK(accuracy.starts_with("data,condition,variant,method,type,n,\"error, ulp\",\"bound, ulp\"\n"));
  CHECK(accuracy.find("\nuniform,1,serial/exact,exact,f32,100,0,0.") != std::string::npos);
}

TEST_CASE("bars are as long as their values, and logarithmic lines as high as their logarithms") {
  const scratch_folder here;
  here.write("ladder.json", ladder_file("a device"));
  const auto bars =
      found(drawn(here, "ladder.json --format svg --chart ladder"), "width=\"([0-9.]+)\" height=\"16.0\"");
  REQUIRE(bars.size() == 2);  // The wrong stage has no bar.
  CHECK(std::stod(bars[1]) == doctest::Approx(4 * std::stod(bars[0])).epsilon(0.001));
  here.write("bench.json", bench_file("", "",
                                      {bench_row("serial", "fast", 1024, 1), bench_row("serial", "fast", 4096, 10),
                                       bench_row("serial", "fast", 16384, 100)}));
  const std::string svg = drawn(here, "bench.json --format svg --chart throughput");
  const auto places = found(svg, "translate\\([0-9.]+ ([0-9.]+)\\)\" class=\"c0\"");
  REQUIRE(places.size() == 4);  // The first marker is in the legend.
  const double low = std::stod(places[1]), middle = std::stod(places[2]), high = std::stod(places[3]);
  CHECK(low - middle > 50);
  CHECK(low - middle == doctest::Approx(middle - high).epsilon(0.002));
}

TEST_CASE("a line joins only points measured the same way: in a cache, and from memory") {
  const scratch_folder here;
  const auto lines = [&](const std::string& warm) {
    std::vector<json> rows;
    for (int i = 0; i < 4 && warm[static_cast<std::size_t>(i)] != '-'; ++i) {
      rows.push_back(bench_row("serial", "fast", 1024 << (2 * i), 10 + i));
      rows.back()["warm"] = warm[static_cast<std::size_t>(i)] == 'w';
    }
    here.write("bench.json", bench_file("", "", rows));
    const std::string svg = drawn(here, "bench.json --format svg --chart throughput");
    std::vector<std::size_t> points;  // Of each line of the backend; the first one is the legend's.
    for (const std::string& line : found(svg, "<polyline points=\"([^\"]*)\" class=\"c0\""))
      points.push_back(found(line, "(,)").size());
    return std::tuple(points, found(svg, ">(in a cache)<").size(), found(svg, ">(serial/simd[^<]*)<"));
  };
  using sizes = std::vector<std::size_t>;
  const std::string name = "serial/simd";
  CHECK(lines("wm--") == std::tuple(sizes{}, 0u, texts{name, name}));  // Bars: nothing can be joined.
  CHECK(lines("mmmm") == std::tuple(sizes{2, 4}, 0u, texts{name}));
  CHECK(lines("wwmm") == std::tuple(sizes{2, 2, 2}, 1u, texts{name}));
  CHECK(lines("wwww") == std::tuple(sizes{2, 4}, 1u, texts{name}));
  CHECK(lines("wmwm") == std::tuple(sizes{2, 2, 2, 2}, 0u, texts{name + ", in a cache", name + ", from memory"}));
  CHECK(drawn(here, "bench.json --format csv --chart throughput").find(name + ", in a cache\",") !=
        std::string::npos);
}

TEST_CASE("ticks are at the lengths that were measured") {
  const scratch_folder here;
  here.write("bench.json", bench_file("", "",
                                      {bench_row("serial", "fast", 1000, 1), bench_row("serial", "fast", 4096, 10),
                                       bench_row("serial", "fast", 1 << 20, 100)}));
  const std::string svg = drawn(here, "bench.json --format svg --chart throughput");
  CHECK(found(svg, "text-anchor=\"middle\" class=\"muted\">([^<]*)<") == texts{"1000", "2¹²", "2²⁰"});
}

TEST_CASE("a legend promises only what is drawn") {
  const scratch_folder here;
  json ladder = json::parse(ladder_file("a device"));
  const std::string files = "ladder.json --format svg --chart ladder";
  const auto has = [&](const std::string& words) { return drawn(here, files).find(words) != std::string::npos; };
  here.write("ladder.json", ladder.dump());
  CHECK(has("what a backend ships"));
  ladder["rows"][2]["seconds"] = nullptr;
  here.write("ladder.json", ladder.dump());
  CHECK_FALSE(has("what a backend ships"));
  CHECK(has("a stage of the ladder"));
}

TEST_CASE("operations are said in TFLOP/s") {
  const scratch_folder here;
  json latency = json::parse(latency_file());
  for (json& row : latency["rows"]) {
    row["instruction"] = "fma";
    row["unit"] = "10^9 operations/s";
    row["with_1_chain"] = 2000;
  }
  here.write("latency.json", latency.dump());
  CHECK(drawn(here, "latency.json --format csv --chart latency").find("\n1,4,0.038\n") != std::string::npos);
  CHECK(drawn(here, "latency.json").find("TFLOP/s (an fma is two operations)") != std::string::npos);
}

TEST_CASE("accuracy at one length is one chart over the condition number; at several, one chart per input") {
  const scratch_folder here;
  for (const char* count : {"100", "1000"}) {
    REQUIRE(here.fanin(fmt::format("accuracy --count {0} --json > {0}.json", count)).status == 0);
  }
  const std::string one = drawn(here, "100.json --chart accuracy");
  CHECK(found(one, "<section id=\"([^\"]*)\"") == texts{"accuracy-condition-100"});
  CHECK(one.find(">condition number, sum |x| / |sum x|<") != std::string::npos);
  const std::string points = drawn(here, "100.json --chart accuracy --format svg");
  CHECK(found(points, "<polyline points=\"[^\"]*\" class=\"(c[0-9])\"").empty());  // Only bounds are lines.
  CHECK(found(points, "(dashed\")").size() == 3);
  const auto both = found(drawn(here, "100.json 1000.json --chart accuracy"), "<section id=\"([^\"]*)\"");
  CHECK(both.size() == json::parse(here.read("100.json")).size() / 2);
  CHECK(std::ranges::find(both, "accuracy-uniform") != both.end());
  json unbounded = json::parse(here.read("100.json"));
  for (json& study : unbounded) {
    for (json& row : study["rows"]) row["bound_ulps"] = nullptr;
  }
  here.write("unbounded.json", unbounded.dump());
  const std::string without = drawn(here, "unbounded.json --chart accuracy --format svg");
  CHECK(without.find(">relative error<") != std::string::npos);
}

TEST_CASE("compare draws a point for each way to sum, the fastest backend's, with its name") {
  const scratch_folder here;
  here.write("compare.json", compare_file());
  const std::string svg = drawn(here, "compare.json --format svg");
  CHECK(found(svg, "class=\"label\">([^<]*)<") == texts{"exact", "fast", "naive"});
  CHECK(found(svg, "translate\\(([0-9.]+)").size() == 5);  // Two methods are in the legend, and three points drawn.
  json with_device = json::parse(compare_file());
  for (const char* variant : {"grid", "shared"}) {
    with_device["rows"].push_back(with_device["rows"][0]);
    with_device["rows"].back().update({{"backend", "cuda"}, {"variant", variant}, {"memory", "device"}});
    with_device["rows"].back()["gigabytes_per_second"] = 4000;
  }
  here.write("compare.json", with_device.dump());
  CHECK(found(drawn(here, "compare.json --format svg"), "class=\"label\">(cuda [^<]*)<") == texts{"cuda grid"});
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

TEST_CASE("a note that is wider than the drawing leaves no bar with a negative width") {
  const scratch_folder here;
  json pairs = json::parse(regress_file());
  pairs["cases"][0]["verdict"] = std::string(200, 'W');
  here.write("pairs.json", pairs.dump());
  CHECK(found(drawn(here, "pairs.json --format svg"), "(width=\"-)").empty());
}

TEST_CASE("a share of the ceiling above 105 % says that the ceiling was measured too low") {
  const scratch_folder here;
  const std::string note = " (the ceiling was measured too low)";
  for (const auto& [rate, noted] : {std::pair(104.0, false), std::pair(106.0, true)}) {
    here.write("bench.json", bench_file("", "", {bench_row("serial", "fast", 1024, rate)}));
    const std::string page = drawn(here, "bench.json");
    CHECK(page.find(fmt::format("{:.0f}&#160;% of the read ceiling{}</h3>", rate, noted ? note : "")) != page.npos);
    json ladder = json::parse(ladder_file("a device"));
    ladder["rows"][2]["gigabytes_per_second"] = 10 * rate;
    here.write("ladder.json", ladder.dump());
    CHECK(drawn(here, "ladder.json").find(fmt::format("cuda at {:.0f}&#160;%{}</h3>", rate, noted ? note : "")) !=
          page.npos);
  }
}

TEST_CASE("history: in the order of dates; without a second commit there is none") {
  const scratch_folder here;
  write_all_kinds(here);
  const std::string page = drawn(here, "--history new.json old.json ladder.json");
  CHECK(found(page, "<h2 id=\"([a-z]*)\"") == std::vector<std::string>{"history", "sources"});
  CHECK(page.find(">aaaaaaa</text>") < page.find(">bbbbbbb</text>"));
  CHECK(page.find("serial/simd changed most, by +100.0 %") != std::string::npos);
  json other = bench_row("cuda", "exact", 1024, 5);
  other["memory"] = "device";
  here.write("other.json", bench_file("ccccccc", "2026-03-01", {other}));
  const std::string three = "--history --format csv new.json old.json other.json";
  CHECK(drawn(here, three) == "GB/s at commit,serial/simd,one-thread read ceiling\naaaaaaa,10,100\nbbbbbbb,20,100\n");
  check_failure(here.fanin("report other --history old.json"), 1, "nothing in these results for the chart 'history'");
}

TEST_CASE("shells complete the names of charts, and formats that are not those of inputs") {
  const std::string script = scratch_folder().fanin("completion bash").out;
  const std::string mine = script.substr(script.find("    report)\n"));
  CHECK(mine.find("--chart) words=\"ladder latency throughput families compare accuracy samples history\"") <
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
  refused(1, "deep.json", "deep.json: JSON with more than 64 arrays and objects in each other");
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
  refused(1, "none.json", "nothing in these results to draw");
  refused(1, "ladder.json --chart accuracy", "nothing in these results for the chart 'accuracy'");
  refused(2, "ladder.json --chart lader", "unknown chart 'lader'; did you mean 'ladder'?");
  refused(2, "ladder.json --format pdf", "unknown format 'pdf'");
  refused(2, "new.json ladder.json --format svg",
          "--format svg is for one chart; --chart takes ladder-sum-f32-16777216, ");
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
  CHECK(run.err ==
        "fanin: warning: skipped, because no charts are drawn of such results: device.json, number.json\n");
  CHECK(here.read("page.html").find("device.json") == std::string::npos);
}

TEST_CASE("the pictures in docs/ are what the results say") {
  const scratch_folder here;
  const std::string results = FANIN_SOURCE "/bench/results/h200/";
  struct entry {
    std::string picture, chart, file;
  };
  for (const entry& one : {entry{"gpu-sum", "throughput-nvidia-h200-sum-f32-fast", "gpu-sums"},
                           {"exact-by-data", "families-nvidia-h200-f32", "gpu-sums"},
                           {"ladder", "ladder", "ladder-f32-28"},
                           {"lab-latency", "latency-nvidia-h200-load", "lab-latency"}}) {
    CAPTURE(one.picture);
    drawn(here, "--format svg --chart " + one.chart + " '" + results + one.file + ".json'");
    CHECK(here.shell("cmp out '" FANIN_DOCS "/" + one.picture + ".svg'").status == 0);
  }
}

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
