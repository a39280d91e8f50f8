// SPDX-License-Identifier: Apache-2.0
// Tests of fanin ladder: its output, its errors, and on a device that every stage is verified and timed.
#include "cli/ladder/ladder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include <fanin/backend.hpp>

#include "tests/cli/process.hpp"
#include "tests/support/usable.hpp"

namespace fanin::cli {
namespace {

constexpr auto kept = oracle::promise::kept, broken = oracle::promise::broken, none = oracle::promise::none;

/// A ladder of 10^9 bytes, so that a time of one millisecond is 1000 GB/s.
ladder made_up_ladder() {
  ladder all{{}, "a device", scalar(0.5f), 1e-3, {}, {}};
  all.question.count = 250'000'000;
  all.question.cycles = true;
  const stage_footprint block{256, 977, 24, 1024, 0.75};
  const auto fixed = reproducibility::run_to_run;
  all.rows = {{1, "slow", "", fixed, kept, kept, kept, block, 8e-3, 5000},
              {2, "fast", "slow", fixed, kept, kept, kept, block, 2e-3, 1000},
              {3, "wrong", "fast", reproducibility::none, broken, kept, broken, block, {}, {}},
              {3, "next", "wrong", fixed, kept, kept, kept, block, 2e-3, 900},
              {{}, "cub", "", fixed, none, kept, kept, {}, 1e-3, {}}};
  all.left_out = {{"integers-only", "stage integers-only has no sum of f32"}};
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_SUITE_BEGIN("ladder");

TEST_CASE("JSON: gains over the stage below, no time for a wrong value") {
  const json all = as_json(made_up_ladder());
  CHECK(all["operation"] == "sum");
  CHECK(all["element_type"] == "f32");
  CHECK(all["count"] == 250'000'000);
  CHECK(all["device"] == "a device");
  CHECK(all["ceiling_gigabytes_per_second"].get<double>() == doctest::Approx(1000));
  CHECK(all["left_out"][0]["stage"] == "integers-only");
  const json& rows = all["rows"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["builds_on"].is_null());
  CHECK(rows[0]["gain"].is_null());
  CHECK(rows[1]["gain"].get<double>() == doctest::Approx(4));
  CHECK(rows[1]["gigabytes_per_second"].get<double>() == doctest::Approx(500));
  CHECK(rows[1]["share_of_ceiling"].get<double>() == doctest::Approx(0.5));
  CHECK(rows[1]["cycles"] == 1000);
  CHECK(rows[1]["verified"] == true);
  CHECK(rows[2]["verified"] == false);
  CHECK(rows[2]["cub_ok"] == true);
  CHECK(rows[2]["thrust_ok"] == false);
  CHECK(rows[2]["seconds"].is_null());
  CHECK(rows[2]["gain"].is_null());
  CHECK(rows[3]["gain"].is_null());
  CHECK(rows[4]["number"].is_null());
  CHECK(rows[4]["registers"].is_null());
  CHECK(rows[4]["verified"].is_null());
}

TEST_CASE("CSV: the JSON rows under one heading") {
  const auto lines = lines_of(as_csv(made_up_ladder()));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].starts_with("number,stage,builds_on,block_size,blocks,seconds,"));
  CHECK(lines[0].ends_with(",verified,exact_ok,cub_ok,thrust_ok,cycles"));
  CHECK(lines[2].starts_with("2,fast,slow,256,977,0.002,"));
  CHECK(lines[5].starts_with(",cub,,,,0.001,"));
  for (const std::string& line : lines) CHECK(std::ranges::count(line, ',') == std::ranges::count(lines[0], ','));
}

TEST_CASE("text: a wrong stage says against what") {
  const auto lines = lines_of(as_text(made_up_ladder()));
  const auto line_with = [&](std::string_view word) {
    const auto found = std::ranges::find_if(lines, [&](const auto& line) { return line.find(word) != line.npos; });
    REQUIRE(found != lines.end());
    return *found;
  };
  const auto has = [](const std::string& line, std::string_view word) { return line.find(word) != line.npos; };
  CHECK(has(lines[0], "sum of 250000000 f32 on a device; the right value is 0.5"));
  CHECK(lines[1] == "read ceiling 1000.0 GB/s");
  CHECK(has(line_with(" 2  fast"), "4.00 x"));
  CHECK(has(line_with(" 2  fast"), "50.0 %"));
  CHECK(has(line_with(" 2  fast"), "  ok "));
  CHECK(has(line_with(" 3  wrong"), "WRONG: not exact, thrust"));
  CHECK(has(line_with(" 1  slow"), "  75 %  "));
  CHECK(has(line_with("    cub "), "none"));
  CHECK(lines.back() == "left out: stage integers-only has no sum of f32");
}

TEST_CASE("text: a stage above the ceiling has a sentence in place of a share") {
  ladder all = made_up_ladder();
  all.ceiling_seconds = 2.2e-3;
  const std::string text = as_text(all);
  CHECK(text.find("fast: above the ceiling by more than 5 %: the ceiling was measured too low\n") !=
        std::string::npos);
  CHECK(text.find("110.0 %") == std::string::npos);
  CHECK(text.find("27.5 %") != std::string::npos);
  CHECK(text.find("slow: above") == std::string::npos);
}

TEST_CASE("what is not there is refused before anything runs") {
  const scratch_folder here;
  const auto refused = [&](const std::string& arguments, std::string_view message) {
    CAPTURE(arguments);
    check_failure(here.fanin("ladder " + arguments), 2, message);
  };
  refused("--type f23", "unknown element type of the ladder 'f23'; did you mean 'f32'?");
  refused("--type i64", "unknown element type of the ladder 'i64'");
  refused("--operation sun", "unknown operation of the ladder 'sun'; did you mean 'sum'?");
  refused("--operation max", "unknown operation of the ladder 'max'");
  refused("--count 0", "--count is a whole number of at least 1, not '0'");
  refused("--block-size -1", "--block-size is a whole number of at least 0");
  refused("--blok-size 64", "unknown option '--blok-size'; did you mean '--block-size'?");
  refused("--json --csv", "excludes --");
  refused("data.npy", "unexpected argument 'data.npy'");
  if (find_backend("cuda").probe().why == reason::not_compiled) return;
  refused("--stage warp-shufle", "unknown stage 'warp-shufle'; did you mean 'warp-shuffle'?");
  refused("--stage vectorized,bulk-cpy", "unknown stage 'bulk-cpy'; did you mean 'bulk-copy'?");
}

TEST_CASE("without a device it says so and exits 5") {
  const availability& state = find_backend("cuda").probe();
  if (state.usable()) return;
  const scratch_folder here;
  for (const std::string arguments : {"", " --json", " --type i32 --operation sum_of_squares --cycles"}) {
    check_failure(here.fanin("ladder" + arguments), 5, to_string(state.why));
  }
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("ladder_on_device");

json climbed(const scratch_folder& here, const std::string& arguments) {
  return parsed(here.fanin("ladder --json " + arguments));
}

TEST_CASE("every stage is verified and timed, for every type, and squares in the stage that has them") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  for (const std::string type : {"f32", "f64", "i32"}) {
    for (const std::string operation : {"sum", "sum_of_squares"}) {
      const json all = climbed(here, "--count 100003 --cycles --type " + type + " --operation " + operation);
      if (operation == "sum") {
        CHECK(all["rows"].size() >= 23);
      } else {
        REQUIRE(all["rows"].size() == 4);
        CHECK(all["rows"][0]["stage"] == "shared-mask");
        CHECK(all["left_out"].empty());
      }
      for (const json& row : all["rows"]) {
        CAPTURE(row.dump());
        CHECK(row["verified"] == true);
        CHECK(row["seconds"].get<double>() > 0);
        if (row["number"].is_null()) continue;
        CHECK(row["cycles"].get<double>() > 0);
        CHECK(row["occupancy"].get<double>() > 0);
        CHECK(row["occupancy"].get<double>() <= 1);
        CHECK(row["registers"].get<int>() > 0);
      }
    }
  }
}

TEST_CASE("a choice of stages, a block size, and CSV") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const std::string choice = "--count 1000 --block-size 64 --stage shared-mask,shared-modulo";
  const json rows = climbed(here, choice)["rows"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["stage"] == "shared-modulo");
  CHECK(rows[0]["gain"].is_null());
  CHECK(rows[0]["block_size"] == 64);
  CHECK(rows[0]["blocks"] == 16);
  CHECK(rows[1]["stage"] == "shared-mask");
  CHECK(rows[1]["gain"].get<double>() > 0);
  const auto lines = lines_of(here.fanin("ladder --csv " + choice).out);
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines) CHECK(std::ranges::count(line, ',') == std::ranges::count(lines[0], ','));
}

TEST_CASE("what the device or a stage cannot do is said by its name") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  check_failure(here.fanin("ladder --count 1000 --stage warp-redux"), 2, "stage warp-redux has no sum of f32");
  check_failure(here.fanin("ladder --count 1000 --stage vectorized --operation sum_of_squares"), 2,
                "stage vectorized has no sum_of_squares of f32");
  check_failure(here.fanin("ladder --count 1000 --block-size 2000"), 2, "a block has at most 1024 threads");
  check_failure(here.fanin("ladder --count 1000 --device 1000"), 2, "there is no device 1000");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
