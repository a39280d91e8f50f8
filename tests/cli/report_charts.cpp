// SPDX-License-Identifier: Apache-2.0
// Tests of the charts and tables that fanin report draws of each kind of result.
#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "tests/cli/report_files.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

TEST_SUITE_BEGIN("report");

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
    std::vector<std::size_t> points;  // The points of each line; the first line is in the legend.
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
  for (json& one_input : unbounded) {
    for (json& row : one_input["rows"]) row["bound_ulps"] = nullptr;
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
  check_failure(here.fanin("report other --history old.json"), 1,
                "these results have nothing for the chart 'history'");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
