// SPDX-License-Identifier: Apache-2.0
// Tests of fanin bench: its output and its exit status.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <fanin/request.hpp>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

constexpr auto quick = "bench --backend serial --type f32 --count 2^10,1000 --budget 0.01 ";

/// The words in code style in the first cells of the tables of docs/benchmarking.md.
std::set<std::string> documented_keys() {
  std::ifstream file(FANIN_SOURCE "/docs/benchmarking.md");
  std::set<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cell(line.substr(1, line.find('|', 1) - 1));
    for (std::string word; std::getline(cell, word, '`') && std::getline(cell, word, '`');) keys.insert(word);
  }
  keys.erase("+");
  return keys;
}

TEST_SUITE_BEGIN("bench");

TEST_CASE("bench --list names the cases and runs nothing") {
  const finished run = scratch_folder().fanin(
      "bench --list --backend serial --variant simd,kahan,simd --operation sum,min --type f64,i32 --count "
      "2^10,1000,1024");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(run.out ==
        "serial/simd/sum/f64/fast/1024\nserial/kahan/sum/f64/compensated/1024\nserial/simd/sum/f64/fast/1000\n"
        "serial/kahan/sum/f64/compensated/1000\nserial/simd/min/f64/fast/1024\nserial/simd/min/f64/fast/1000\n"
        "serial/simd/sum/i32/fast/1024\nserial/simd/sum/i32/fast/1000\nserial/simd/min/i32/fast/1024\n"
        "serial/simd/min/i32/fast/1000\n");
}

TEST_CASE("all stands for every operation and every type that the backend offers") {
  const finished run =
      scratch_folder().fanin("bench --list --backend serial --operation all --type all --method fast --count 64");
  CHECK(run.status == 0);
  for (const operation what : all_operations) {
    for (const element_type type : all_element_types) {
      const std::string name = fmt::format("/{}/{}/fast/64\n", to_string(what), to_string(type));
      CHECK((run.out.find(name) != std::string::npos) == is_offered(what, type, method::fast));
    }
  }
}

TEST_CASE("bench --json has the keys that docs/benchmarking.md lists, and rows that agree with themselves") {
  const finished run = scratch_folder().fanin(std::string(quick) + "--json");
  REQUIRE(run.status == 0);
  const json all = json::parse(run.out);
  CHECK(all["context"]["command"] == std::string("fanin ") + quick + "--json");
  CHECK(all["context"]["complete"] == true);
  CHECK(all["benchmarks"].size() == 6);
  std::set<std::string> keys;
  for (const auto& [key, value] : all["context"].items()) keys.insert(key);
  for (const json& row : all["benchmarks"]) {
    CAPTURE(row.dump());
    for (const auto& [key, value] : row.items()) keys.insert(key);
    std::vector<double> samples = row["samples"];
    std::ranges::sort(samples);
    REQUIRE(!samples.empty());
    CHECK(row["seconds"] == (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2);
    CHECK(row["real_time"].get<double>() == doctest::Approx(1e9 * row["seconds"].get<double>()));
    CHECK(row["iterations"] ==
          (samples.size() + row["discarded"].get<std::size_t>()) * row["calls_per_sample"].get<std::size_t>());
    CHECK(row["verified"] == true);
    CHECK(row["warm"] == true);
    CHECK(row["bytes"] == 4 * row["count"].get<int>());
    const double share = row["ceiling_seconds"].get<double>() / row["seconds"].get<double>();
    CHECK(row["share_of_ceiling"].get<double>() == doctest::Approx(share));
    if (row["method"] == "exact") CHECK(row["error_ulps"] == 0);
  }
  CHECK(keys == documented_keys());
  const bool disturbed =
      std::ranges::any_of(all["benchmarks"], [](const json& row) { return row["disturbed"] == true; });
  CHECK(run.err.empty() != disturbed);
}

TEST_CASE("bench of many results: layouts and lengths, each result checked") {
  const scratch_folder here;
  CHECK(here.fanin("bench --list --backend serial --method fast --type f32 --count 64,100 --layout all --length 4,64")
            .out ==
        "serial/simd/sum/f32/fast/64\nserial/simd/sum/f32/fast/64/axis0/4\nserial/simd/sum/f32/fast/64/axis0/64\n"
        "serial/simd/sum/f32/fast/64/axis1/4\nserial/simd/sum/f32/fast/64/axis1/64\n"
        "serial/simd/sum/f32/fast/64/segments/4\nserial/simd/sum/f32/fast/64/segments/64\n"
        "serial/simd/sum/f32/fast/64/groups/4\nserial/simd/sum/f32/fast/64/groups/64\n"
        "serial/simd/sum/f32/fast/100\nserial/simd/sum/f32/fast/100/axis0/4\nserial/simd/sum/f32/fast/100/axis1/4\n"
        "serial/simd/sum/f32/fast/100/segments/4\nserial/simd/sum/f32/fast/100/groups/4\n");
  const finished run = here.fanin(
      "bench --backend serial --operation sum,argmax,dot,sample_variance --type f32,i32 --count 1000 --layout "
      "axis0,axis1,segments,groups --length 8 --budget 0.005 --json");
  REQUIRE(run.status == 0);
  const json all = json::parse(run.out);
  CHECK(all["benchmarks"].size() >= 4 * 8);
  for (const json& row : all["benchmarks"]) {
    CAPTURE(row.dump());
    CHECK(row["verified"] == true);
    CHECK(row["results"] == 125);
    CHECK(row["length"] == 8);
    CHECK(row["bytes"] == (row["operation"] == "dot" ? 8000 : 4000));
    if (row["method"] == "exact" && row["operation"] == "sum" && row["type"] == "f32") CHECK(row["error_ulps"] == 0);
  }
  check_failure(here.fanin("bench --layout row"), 2, "unknown layout 'row'");
  check_failure(here.fanin("bench --length 8"), 2, "--length requires --layout axis0, axis1, segments or groups");
  check_failure(here.fanin("bench --layout axis0 --length 0"), 2, "--length is a whole number of at least 1");
  check_failure(here.fanin("bench --layout axis0 --variant kahan"), 2,
                "no usable backend has this combination of options");
  check_failure(here.fanin("bench --layout axis0 --count 100 --length 7"), 2,
                "no --count is a multiple of a --length");
}

TEST_CASE("bench --csv and the table have a line for each case") {
  const scratch_folder here;
  const std::string csv = here.fanin(std::string(quick) + "--csv").out;
  CHECK(csv.starts_with("name,backend,variant,operation,type,method,count,"));
  CHECK(std::ranges::count(csv, '\n') == 7);
  std::istringstream lines(csv);
  std::set<std::ptrdiff_t> commas;
  for (std::string line; std::getline(lines, line);) commas.insert(std::ranges::count(line, ','));
  CHECK(commas.size() == 1);
  const std::string text = here.fanin(quick).out;
  CHECK(text.find("of ceiling") != std::string::npos);
  CHECK(text.find("serial/exact/sum/f32/exact/1000 ") != std::string::npos);
}

TEST_CASE("bench: an interrupt ends it, with what there is") {
  // No machine measures all these cases in one second.
  const finished run = scratch_folder().shell(
      "timeout --foreground --preserve-status --signal=INT 1 $fanin bench --json --backend serial --type f32 "
      "--method fast "
      "--count $(seq -s, 1000 20000)");
  INFO("stderr: ", run.err);
  CHECK(run.status == 1);
  const json all = json::parse(run.out);
  const std::size_t done = all["benchmarks"].size();
  CHECK(done >= 1);
  CHECK(all["context"]["complete"] == false);
  for (const json& row : all["benchmarks"]) CHECK(row["samples"].size() >= 1);
  CHECK(run.err.ends_with("fanin: interrupted after " + std::to_string(done) + " of 19001 cases\n"));
}

TEST_CASE("bench warns of other load on its core") {
  if (!std::ifstream("/proc/self/schedstat").good()) return;
  // Three programs share one core, so that bench waits about two thirds of the time.
  const finished run = scratch_folder().shell(
      "core=$(taskset -cp $$ | sed 's/.*[^0-9]//'); for i in 1 2; do timeout 30 taskset -c $core sh -c "
      "'while :; do :; done' & rivals=\"$rivals $!\"; done; taskset -c $core $fanin bench --json --backend serial "
      "--type f32 --method fast --count 2^20 --budget 1; kill $rivals");
  CHECK(run.err.starts_with("fanin: warning: do not use the times of "));
  const json row = json::parse(run.out)["benchmarks"][0];
  CHECK(row["disturbed"] == true);
  CHECK(row["waited_share"].get<double>() > 0.1);
}

TEST_CASE("bench that could time nothing for want of memory has failed, and says so behind its output" *
          doctest::skip(!memory_can_be_limited)) {
  const finished run = scratch_folder().fanin("bench --backend serial --type f32 --method fast --count 2^60");
  CHECK(run.status == 1);
  CHECK(run.out.find("not timed: no memory for so many elements") != std::string::npos);
  CHECK(run.err == "fanin: no case was timed: no memory for so many elements\n");
}

TEST_CASE("bench: words that name nothing, and combinations that do not exist") {
  const scratch_folder here;
  check_failure(here.fanin("bench --backend serial,tbbb"), 2, "did you mean 'tbb'?");
  check_failure(here.fanin("bench --operation minn"), 2, "did you mean 'min'?");
  check_failure(here.fanin("bench --type f23"), 2, "did you mean 'f32'?");
  check_failure(here.fanin("bench --method fats"), 2, "did you mean 'fast'?");
  check_failure(here.fanin("bench --variant khan"), 2, "did you mean 'kahan'?");
  check_failure(here.fanin("bench --count 2^"), 2, "--count");
  check_failure(here.fanin("bench --count 1e"), 2, "--count");
  check_failure(here.fanin("bench --budget 0"), 2, "--budget is a number of seconds above 0, not '0'");
  check_failure(here.fanin("bench --budget inf"), 2, "not 'inf'");
  check_failure(here.fanin("bench --budget 1s"), 2, "not '1s'");
  check_failure(here.fanin("bench --json --csv"), 2, "--csv");
  for (const std::string form : {"--json", "--csv"}) {
    check_failure(here.fanin("bench --list " + form), 2, "--list excludes " + form);
  }
  check_failure(here.fanin("bench --operation log_sum_exp --method exact"), 2,
                "no usable backend has this combination of options");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
