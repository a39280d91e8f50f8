// SPDX-License-Identifier: Apache-2.0
// Tests of fanin lab: its output, its errors, and on a device the results of the experiments.
#include "cli/lab/lab.hpp"

#include <doctest/doctest.h>

#include <vector>

#include <fanin/backend.hpp>

#include "cli/kit/commit.hpp"
#include "cli/lab/residency.hpp"
#include "tests/cli/process.hpp"
#include "tests/support/usable.hpp"

namespace fanin::cli {
namespace {

lab_page made_up_page() {
  lab_page page{experiment::divergence, {{"device", "a device"}, {"memory", 1024, unit::bytes}}, {}};
  page.columns = {{"name", "name"}, {"verified", "check"}, {"seconds", "us", 1, 1e6}};
  page.rows.push_back({{"name", "slow"}, {"verified", true}, {"seconds", 2.5e-6}, {"says", "it waits"}});
  page.rows.push_back({{"name", "bad"}, {"verified", false}, {"seconds", nullptr}, {"says", nullptr}});
  page.rows.push_back({{"name", "lazy"}, {"verified", true}, {"seconds", 3e-6}, {"says", "it waits"}});
  return page;
}

TEST_SUITE_BEGIN("lab");

TEST_CASE("JSON: the facts, then the rows") {
  const json all = as_json(made_up_page());
  CHECK(all["experiment"] == "divergence");
  CHECK(all["commit"] == source_commit);
  CHECK(all["device"] == "a device");
  CHECK(all["memory_bytes"] == 1024);
  REQUIRE(all["rows"].size() == 3);
  CHECK(all["rows"][0]["seconds"] == 2.5e-6);
  CHECK(all["rows"][1]["verified"] == false);
}

TEST_CASE("text: the facts, the table, and once each sentence that there is") {
  CHECK(as_text(made_up_page()) ==
        "  device  a device\n"
        "  memory  1 KiB\n"
        "\n"
        "name  check   us\n"
        "slow     ok  2.5\n"
        "bad   WRONG    -\n"
        "lazy     ok  3.0\n"
        "\n"
        "slow, lazy: it waits.\n");
}

TEST_CASE("residency: what limits a kernel, by the bytes that it has under way") {
  constexpr double wanted = 11400;
  CHECK(
      lab::sentence({64, 64, "threads", 128, wanted, 1, true}) ==
      "all 64 warps fit, and together ask for 72 % of the bytes that hide the latency of memory; they ask once, and "
      "memory rests while their blocks fold and end");
  CHECK(lab::sentence({16, 64, "registers", 128, wanted, 1, false}) ==
        "16 of 64 warps fit (limited by registers), and together ask for 18 % of the bytes that hide the latency of "
        "memory");
  CHECK(lab::sentence({64, 64, "threads", 256, wanted, 1, true}) ==
        "all 64 warps fit where 44.5 would hide the latency of memory, but a block asks once: starting, folding and "
        "ending blocks is the limit");
  CHECK(
      lab::sentence({40, 64, "registers", 2048, wanted, 1, false}) ==
      "40 of 64 warps fit (limited by registers) where 5.6 would hide the latency of memory, and each asks again and "
      "again: the bandwidth of memory is the limit");
  CHECK(lab::sentence({16, 64, "shared memory", 12288, wanted, 6, false}) ==
        "16 of 64 warps fit (limited by shared memory); copies into shared memory run 6 tiles ahead of them, so that "
        "0.9 would hide the latency of memory, whose bandwidth is the limit");
}

TEST_CASE("what is not there is refused before anything runs") {
  const scratch_folder here;
  check_failure(here.fanin("lab"), 2, "EXPERIMENT is missing: write 'fanin lab EXPERIMENT'");
  check_failure(here.fanin("lab divergense"), 2, "unknown experiment 'divergense'; did you mean 'divergence'?");
  check_failure(here.fanin("lab divergence --jsn"), 2, "unknown option '--jsn'; did you mean '--json'?");
  check_failure(here.fanin("lab divergence --device -1"), 2, "--device is a whole number of at least 0");
}

TEST_CASE("help names every experiment") {
  const scratch_folder here;
  const finished run = here.fanin("lab --help");
  CHECK(run.status == 0);
  for (const experiment one : all_experiments) {
    CHECK(run.out.find("\n" + std::string(to_string(one)) + " ") != std::string::npos);
  }
}

TEST_CASE("without a device it says so and exits 5") {
  const availability& state = find_backend("cuda").probe();
  if (state.usable()) return;
  const scratch_folder here;
  for (const experiment one : all_experiments) {
    for (const std::string option : {"", " --json"}) {
      check_failure(here.fanin("lab " + std::string(to_string(one)) + option), 5, to_string(state.why));
    }
  }
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("lab_on_device");

json measured(const scratch_folder& here, experiment which) {
  return parsed(here.fanin("lab --json " + std::string(to_string(which))));
}

TEST_CASE("divergence: a branch inside warps costs up to both its sides") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json rows = measured(here, experiment::divergence)["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["sides"] == "constants");
  CHECK(rows[1]["sides"] == "chains");
  for (const json& row : rows) {
    CAPTURE(row.dump());
    CHECK(row["verified"] == true);
    CHECK(row["by_thread_seconds"].get<double>() > 0);
    CHECK(row["by_warp_seconds"].get<double>() > 0);
    CHECK(row["says"].is_string());
  }
  CHECK(rows[1]["ratio"].get<double>() > 1.2);
}

TEST_CASE("occupancy: of every stage, and no more than fits") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json all = measured(here, experiment::occupancy);
  CHECK(all["verified"] == true);
  CHECK(all["memory_latency_in_cycles"].get<double>() > 100);
  CHECK(all["memory_latency_in_cycles"].get<double>() < 10000);
  CHECK(all["rows"].size() >= 22);
  CHECK(all["rows"][0]["element_type"] == "f32");
  for (const json& row : all["rows"]) {
    CAPTURE(row.dump());
    CHECK(row["registers"].get<int>() > 0);
    CHECK(row["local_bytes"].get<int>() >= 0);
    CHECK(row["suggested_block_size"].get<int>() >= 32);
    CHECK(row["active_warps"] == row["active_blocks"].get<int>() * row["block_size"].get<int>() / 32);
    CHECK(row["occupancy"].get<double>() > 0);
    CHECK(row["occupancy"].get<double>() <= 1);
    CHECK(row["warps_needed"].get<double>() > 0);
    CHECK(row["says"].is_string());
  }
}

TEST_CASE("shapes: the named ones first, then all others, each right") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json rows = measured(here, experiment::shapes)["rows"];
  REQUIRE(rows.size() == 1 + 7 + 8 + 9 + 10 + 11);
  CHECK(rows[0]["block"] == "vector add");
  CHECK(rows[1]["block"] == "(32, 32)");
  CHECK(rows[4]["block"] == "(16, 16)");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& row = rows[i];
    CAPTURE(row.dump());
    CHECK(row["verified"] == true);
    CHECK(row["sum_gigabytes_per_second"].get<double>() > 0);
    if (i > 0) CHECK(row["total_gigabytes_per_second"].get<double>() > 0);
  }
}

TEST_CASE("latency: more chains and more warps hide it") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json all = measured(here, experiment::latency);
  CHECK(all["fma_latency_in_cycles"].get<double>() >= 1);
  CHECK(all["load_latency_in_cycles"].get<double>() > all["fma_latency_in_cycles"].get<double>());
  for (const std::string instruction : {"fma", "load"}) {
    std::vector<json> rows;
    for (const json& row : all["rows"]) {
      CAPTURE(row.dump());
      CHECK(row["verified"] == true);
      if (row["instruction"] == instruction) rows.push_back(row);
    }
    REQUIRE(rows.size() >= 6);
    CHECK(rows[0]["warps_per_multiprocessor"] == 1);
    CHECK(rows[0]["with_8_chains"].get<double>() > 2 * rows[0]["with_1_chain"].get<double>());
    CHECK(rows.back()["with_1_chain"].get<double>() > 2 * rows[0]["with_1_chain"].get<double>());
  }
}

TEST_CASE("latency in cycles and in seconds is of the same memory: no clock is faster than the device's") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json clock = parsed(here.fanin("device --json"))["gpu"]["devices"][0]["fastest_clock_hertz"];
  const json memory = measured(here, experiment::occupancy), both = measured(here, experiment::latency);
  const auto check = [&](const json& all, const std::string& name) {
    CAPTURE(all.dump());
    const double seconds = 1e-9 * all[name + "_latency_in_nanoseconds"].get<double>();
    CHECK(all[name + "_latency_in_cycles"].get<double>() <= seconds * clock.get<double>());
  };
  check(memory, "memory");
  check(both, "load");
  check(both, "fma");
}

TEST_CASE("a device that is not there") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  check_failure(here.fanin("lab divergence --device 1000"), 2, "there is no device 1000");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
