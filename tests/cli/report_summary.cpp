// SPDX-License-Identifier: Apache-2.0
// Compares the numbers on top of a report, and their verdicts, with the rows of the result files, which this test
// reads by itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/report/scale.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using nlohmann::json;

using charts::count_text;
using charts::number_text;
using lines = std::vector<std::string>;

const std::string h200 = FANIN_SOURCE "/bench/results/h200/";

json content_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  return json::parse(file);
}

std::string page_of(const scratch_folder& here, const std::string& files) {
  const finished run = here.fanin("report page.html --force " + files);
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  return std::regex_replace(here.read("page.html"), std::regex("&#160;"), " ");
}

/// The lines of the summary: the sentence above the numbers, and "VALUE | NAME | DETAIL | VERDICT" for each number.
lines summary_of(const std::string& page) {
  lines all;
  std::smatch lead;
  if (std::regex_search(page, lead, std::regex("<p class=\"lead\">([^<]*)</p>"))) all.push_back(lead[1]);
  const std::regex number(
      "<li class=\"(good|bad|doubtful)\"><strong>([^<]*)</strong><span class=\"what\">(?:<a "
      "href=\"#[a-z]*\">)?([^<]*)(?:</a>)?"
      "</span><span class=\"muted\">([^<]*)</span><em>(✓|✗|\\?) ([^<]*)</em></li>");
  for (std::sregex_iterator one(page.begin(), page.end(), number), end; one != end; ++one) {
    CHECK(((*one)[1] == "good") == ((*one)[5] == "✓"));
    all.push_back(fmt::format("{} | {} | {} | {} {}", (*one)[2].str(), (*one)[3].str(), (*one)[4].str(),
                              (*one)[5].str(), (*one)[6].str()));
  }
  return all;
}

void check_summary(const std::string& page, const lines& expected) {
  CHECK(fmt::format("{}", fmt::join(summary_of(page), "\n")) == fmt::format("{}", fmt::join(expected, "\n")));
}

/// A row of 'fanin bench' for 2^20 floats, with a read ceiling of 100 GB/s.
json case_row(const std::string& method, double rate) {
  const double bytes = 4 << 20;
  return {{"name", method},
          {"run_type", "iteration"},
          {"real_time", 1},
          {"time_unit", "ns"},
          {"threads", 2},
          {"backend", "tbb"},
          {"variant", method},
          {"operation", "sum"},
          {"type", "f32"},
          {"method", method},
          {"count", 1 << 20},
          {"bytes", bytes},
          {"memory", "host"},
          {"verified", true},
          {"noise", 0.01},
          {"disturbed", false},
          {"seconds", bytes / rate * 1e-9},
          {"ceiling_seconds", bytes / 100 * 1e-9}};
}

std::string bench_of(const std::vector<json>& rows, const std::vector<json>& not_timed = {}) {
  return json({{"context", {{"machine", "a machine"}}}, {"benchmarks", rows}, {"not_timed", not_timed}}).dump();
}

TEST_SUITE_BEGIN("report");

TEST_CASE("the summary of an H200's results agrees with their rows") {
  const scratch_folder here;
  const std::string page = page_of(here, "'" + h200 + "'*.json");
  double count = 0;
  std::map<std::string, double> rates;  // Plain sums of f32, at the largest n.
  const json sums = content_of(h200 + "gpu-sums.json");
  for (const json& one : sums["benchmarks"]) {
    const std::string name = one["name"];
    std::smatch part;
    if (one["misaligned"] == true || !std::regex_match(name, part, std::regex("sum/f32/(.*)/([0-9]+)"))) continue;
    if (std::stod(part[2]) > count) rates.clear();
    count = std::max(count, std::stod(part[2]));
    if (std::stod(part[2]) == count) rates[part[1]] = 4 * count / one["real_time"].get<double>() / 1000;
  }
  const double share = rates["cuda/fast"] / rates["ceiling/read"];
  const double extra = rates["cuda/fast"] / rates["cuda/exact"] - 1;
  REQUIRE(rates["cub/fast"] > rates["thrust/fast"]);
  REQUIRE(share >= 0.9);
  REQUIRE(extra <= 0.25);

  const json ladder = content_of(h200 + "ladder-f32-28.json");
  std::map<double, json> stages;
  for (const json& one : ladder["rows"]) {
    if (!one["number"].is_null()) stages[one["number"]] = one;
  }
  const json &first = stages.begin()->second, &last = stages.rbegin()->second;
  const double end = last["gigabytes_per_second"].get<double>();

  std::size_t cases = 0, right = 0, judged = 0;
  double noise = 0;
  for (const char* file : {"exact-operations", "gpu-sums", "ladder-f32-24", "ladder-f32-28", "ladder-i32-24",
                           "ladder-i32-28", "lab-latency"}) {
    const json whole = content_of(h200 + file + ".json");
    for (const json& one : whole.contains("rows") ? whole["rows"] : whole["benchmarks"]) {
      judged += one.contains("verified");
      right += one.value("verified", false);
      if (!one.contains("noise")) continue;
      ++cases;
      noise = std::max(noise, one["noise"].get<double>());
      REQUIRE_FALSE(one.value("disturbed", false));
      REQUIRE_FALSE(one.value("ceiling_too_low", false));
      REQUIRE(one["throttled"] == 0);
    }
  }
  REQUIRE(right == judged);
  check_summary(
      page,
      {"All 5 numbers meet the mark.",
       fmt::format(
           "{:.0f} % | the plain sum's share of the read ceiling | cuda reads {} GB/s, sum of f32, n = {}, NVIDIA "
           "H200; cub reads {} GB/s | ✓ memory is the limit: 90 % or more",
           100 * share, number_text(rates["cuda/fast"]), count_text(count), number_text(rates["cub/fast"])),
       fmt::format("{:+.1f} % | the exact sum's time over the plain sum's, uniform data | cuda reads {} GB/s, plain "
                   "{} GB/s, sum of "
                   "f32, n = {}, NVIDIA H200 | ✓ at most 25 % longer",
                   100 * extra, number_text(rates["cuda/exact"]), number_text(rates["cuda/fast"]), count_text(count)),
       fmt::format(
           "{0} of {0} | checked values are right | each within its proven bound, or with the bits of the exact "
           "result | ✓ no value is wrong",
           judged),
       fmt::format(
           "{:.0f} % | the last ladder stage's share of the read ceiling | {} {} reads {:.1f} times as fast as {} "
           "{}, sum of f32, n = {}, NVIDIA H200 | ✓ memory is the limit: 90 % or more",
           100 * end / ladder["ceiling_gigabytes_per_second"].get<double>(), last["number"].get<int>(),
           last["stage"].get<std::string>(), end / first["gigabytes_per_second"].get<double>(),
           first["number"].get<int>(), first["stage"].get<std::string>(), count_text(ladder["count"])),
       fmt::format(
           "0 of {} | timed cases were disturbed | by other load, throttling or a read ceiling measured too low; "
           "noise at most {:.1f} % | ✓ a quiet machine",
           cases, 100 * noise)});
  CHECK(page.find("<h1>Intel(R) Xeon(R) Processor, NVIDIA H200</h1>") != std::string::npos);
  CHECK(page.find(">Measured 2026-11-22 · commit 63b165f-dirty, 4213438 · fanin version 0.1.0 · 7 results<") !=
        std::string::npos);
}

TEST_CASE("the title names a machine once, whether results name its device or not") {
  const scratch_folder here;
  const std::vector<json> rows = {case_row("fast", 89)};
  const std::string names[] = {"a machine", "a machine, a device", "a device"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const json context = {{"machine", names[i]}};
    here.write(fmt::format("{}.json", i), json({{"context", context}, {"benchmarks", rows}}).dump());
  }
  CHECK(page_of(here, "*.json").find("<h1>a machine, a device</h1>") != std::string::npos);
}

TEST_CASE("a number that misses its mark says so") {
  const scratch_folder here;
  std::vector<json> rows = {case_row("fast", 89), case_row("exact", 70)};
  rows[1]["disturbed"] = true;
  rows[1]["noise"] = 0.25;
  json wrong = case_row("compensated", 1);
  wrong["verified"] = false;
  here.write("bench.json", bench_of(rows, {wrong}));
  const std::string at_end = "sum of f32, n = 2²⁰, a machine | ";
  const std::string slow = "89 % | the plain sum's share of the read ceiling | tbb reads 89 GB/s, " + at_end +
                           "✗ memory is not the limit: below 90 %";
  const std::string dear =
      "+27.1 % | the exact sum's time over the plain sum's, uniform data | tbb reads 70 GB/s, plain 89 GB/s, " +
      at_end + "? measured on a disturbed machine; more than 25 % longer";
  const std::string false_value =
      "2 of 3 | checked values are right | each within its proven bound, or with the bits of the exact result | ✗ 1 "
      "wrong";
  const std::string loud =
      "1 of 2 | timed cases were disturbed | by other load, throttling or a read ceiling measured too low; noise at "
      "most "
      "25.0 % | ✗ read these times with care";
  const std::string page = page_of(here, "bench.json");
  check_summary(page, {"0 of 4 numbers meet the mark.", slow, dear, false_value, loud});
  // The number that disturbed times do not decide is grey.
  CHECK(page.find("<li class=\"doubtful\"><strong>+27.1 %") != std::string::npos);
  CHECK(page.find(".numbers .doubtful em{color:var(--muted)}") != std::string::npos);

  here.write("even.json", bench_of({case_row("fast", 95), case_row("exact", 95.01)}));
  CHECK(summary_of(page_of(here, "even.json"))[2].starts_with("0.0 % | the exact sum's time"));

  // Five other numbers leave no room: the disturbed cases of the first file still show, and a number that holds does
  // not.
  const std::string h200 = " " FANIN_SOURCE "/bench/results/h200/",
                    others = h200 + "ladder-f32-28.json" + h200 + "gpu-sums.json" +
                             " " FANIN_SOURCE "/bench/results/h100/host/compare.json";
  const lines crowded = summary_of(page_of(here, "bench.json" + others));
  REQUIRE(crowded.size() == 6);
  CHECK(std::ranges::any_of(crowded,
                            [](const std::string& line) { return line.ends_with("read these times with care"); }));
  CHECK(crowded[1].find("n = 2³⁰") != std::string::npos);  // the longest input, whatever came last

  here.write("bench.json", bench_of({case_row("fast", 106)}));
  const lines found = summary_of(page_of(here, "bench.json"));
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "2 of 3 numbers meet the mark.");
  CHECK(found[1].starts_with("106 % | "));
  CHECK(found[1].ends_with(" | ✗ the ceiling was measured too low"));
}

TEST_CASE("what the results do not hold is left out of the summary") {
  const scratch_folder here;
  std::vector<json> rows = {case_row("exact", 70)};
  for (const char* key : {"noise", "verified"}) rows[0].erase(key);
  here.write("bench.json", bench_of(rows));
  const std::string page = page_of(here, "bench.json");
  check_summary(page, {});
  CHECK(page.find(">Date unknown · commit unknown · fanin version unknown · 1 result<") != std::string::npos);
  rows[0] = case_row("fast", 50);
  for (const char* key : {"noise", "verified"}) rows[0].erase(key);
  for (const char* other : {"cub", "peer"}) {
    rows[0]["backend"] = other;
    here.write("bench.json", bench_of(rows));
    check_summary(page_of(here, "bench.json"), {});
  }
}

TEST_CASE("the largest error of exact sums, and the cases of two builds, are those of the rows") {
  const scratch_folder here;
  REQUIRE(here.fanin("accuracy condition:1e6 uniform --count 1000 --json > accuracy.json").status == 0);
  json inputs = json::parse(here.read("accuracy.json"));
  std::size_t exact = 0, bounded = 0;
  double worst_of_others = 0;
  for (const json& one_input : inputs) {
    for (const json& one : one_input["rows"]) {
      exact += one["method"] == "exact";
      bounded += one["bound_ulps"].is_number();
      if (one["method"] != "exact") worst_of_others = std::max(worst_of_others, one["error_ulps"].get<double>());
    }
  }
  const std::string error = fmt::format(
      " ulp | the largest error of an exact sum | of {} exact sums; of the others: {} "
      "ulp | ",
      exact, number_text(worst_of_others));
  const std::string checked =
      " | checked values are right | each within its proven bound, or with the bits of the exact result | ";
  check_summary(page_of(here, "accuracy.json"),
                {"Both numbers meet the mark.", "0" + error + "✓ 0: correctly rounded",
                 fmt::format("{0} of {0}{1}✓ no value is wrong", bounded, checked)});
  for (json& one : inputs[0]["rows"]) {
    if (one["method"] == "exact") one["error_ulps"] = 3;
  }
  here.write("accuracy.json", inputs.dump());
  check_summary(page_of(here, "accuracy.json"),
                {"0 of 2 numbers meet the mark.", "3" + error + "✗ not correctly rounded",
                 fmt::format("{} of {}{}✗ 1 wrong", bounded - 1, bounded, checked)});

  json builds = {{"a", "a"}, {"b", "b"}, {"from", "pairs"}, {"threshold", 0.03}};
  for (const char* verdict : {"SAME", "UNDECIDED", "FASTER"}) {
    builds["cases"].push_back(
        {{"name", verdict}, {"verdict", verdict}, {"reason", ""}, {"a_seconds", {1.0}}, {"b_seconds", {1.0}}});
  }
  const std::string cases = " | cases are slower in build B than in build A | 1 undecided | ";
  here.write("builds.json", builds.dump());
  check_summary(page_of(here, "builds.json"),
                {"0 of 1 numbers meet the mark.", "0 of 3" + cases + "? undecided: B may be slower"});
  CHECK(page_of(here, "builds.json").find("<li class=\"doubtful\">") != std::string::npos);
  builds["cases"][0]["verdict"] = "SLOWER";
  here.write("builds.json", builds.dump());
  check_summary(page_of(here, "builds.json"), {"0 of 1 numbers meet the mark.", "1 of 3" + cases + "✗ B is slower"});
}

TEST_CASE("of each kind the first chart is open, the others fold, and print opens all") {
  const scratch_folder here;
  const std::string page = page_of(here, "'" + h200 + "'*.json");
  const auto count = [&](const std::string& pattern) {
    const std::regex expression(pattern);
    return std::distance(std::sregex_iterator(page.begin(), page.end(), expression), std::sregex_iterator());
  };
  CHECK(count("<details class=\"kind\" open=\"\">") == 4);
  CHECK(count("<details class=\"kind\">") == 1);  // The sources.
  CHECK(count("<details class=\"one\" open=\"\">") == 4);
  CHECK(count("<details class=\"one\">") == 29);
  CHECK(count("<details class=\"table\">") == 33);
  CHECK(page.find("details::details-content{content-visibility:visible") != std::string::npos);
  CHECK(count("<a href=\"#([a-z]+)\">") >= 8);
  for (const std::string kind : {"throughput", "ladder", "sources"}) {
    CHECK(page.find("<a href=\"#" + kind + "\">") != std::string::npos);
    CHECK(page.find("<h2 id=\"" + kind + "\">") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
