// SPDX-License-Identifier: Apache-2.0
// Tests of fanin compare of rows, segments and groups.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "cli/compare/orders.hpp"
#include "cli/compare/variants.hpp"
#include "cli/input/npy.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("compare_results");

const json& loop_named(const json& all, const std::string& order) {
  return *std::ranges::find_if(all["loops"], [&](const json& one) { return one["order"] == order; });
}

/// Writes keys, or offsets, of i32.
void write_index(const scratch_folder& here, const std::string& name, const std::vector<std::int32_t>& index) {
  const auto bytes = std::as_bytes(std::span(index));
  here.write(name, write_npy_header(element_type::i32, index.size())
                       .append(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST_CASE("rows of every variant have the bits of their elements alone, and loops of other programs do not") {
  const scratch_folder here;
  REQUIRE(here.fanin("generate wide --count 60000 --type f32 -o x.bin").status == 0);
  for (const int axis : {0, 1}) {
    CAPTURE(axis);
    const json all =
        parsed(here.fanin(fmt::format("compare x.bin --type f32 --shape 300,200 --axis {} --json", axis)));
    const int results = axis == 0 ? 200 : 300;
    CHECK(all["layout"] == "rows");
    CHECK(all["results"] == results);
    CHECK(all["shape"] == json{results});
    CHECK(all["rows"].size() >= 3);
    for (const json& row : all["rows"]) {
      CAPTURE(row.dump());
      if (row["memory"] == "host") CHECK(row["alike_alone"] == results);
      CHECK(row["bound_ok"] == true);
      CHECK(row["seconds"] > 0);
      if (row["method"] == "exact") CHECK(row["error_ulps"] == 0);
      if (row["method"] == "fast") CHECK(row["error_ulps"] > 0);
    }
    CHECK(all["loops"].size() == 3);
    CHECK(loop_named(all, "in-order")["alike_alone"] == results);
    CHECK((loop_named(all, "numpy")["alike_alone"] == results) == (axis == 1));
    CHECK(loop_named(all, "any-order")["alike_alone"] < results);
    CHECK(loop_named(all, "in-order")["error_ulps"] > 0);
  }
  const std::string text = here.fanin("compare x.bin --type f32 --shape 300,200 --axis 0 --method exact").out;
  CHECK(text.find("60000 elements of f32; 200 rows, in the shape (200,)\n") != std::string::npos);
  CHECK(text.find("error/ulp") != std::string::npos);
  CHECK(text.find("of 200") != std::string::npos);  // sums in any order with the same bits
  CHECK(text.find("any-order") != std::string::npos);
}

TEST_CASE("segments and groups, also without elements, and integers, whose order does not matter") {
  const scratch_folder here;
  here.write("x.txt", "1e8 1 -1e8 3 0.1 0.2\n");
  write_index(here, "o.npy", {0, 3, 3, 6});
  write_index(here, "k.npy", {2, 0, 2, 0, 2, 7});
  const json segments = parsed(here.fanin("compare x.txt --type f32 --segments o.npy --json"));
  CHECK(segments["layout"] == "segments");
  CHECK(segments["results"] == 3);
  CHECK(segments["loops"].size() == 2);
  CHECK(loop_named(segments, "in-order")["worst_result"] == 0);
  const json groups = parsed(here.fanin("compare x.txt --keys k.npy --groups 4 --drop-others --json"));
  CHECK(groups["layout"] == "groups");
  CHECK(groups["results"] == 4);
  for (const json& row : groups["rows"]) CHECK(row["alike_alone"] == 4);
  check_failure(here.fanin("compare x.txt --keys k.npy --groups 4"), 1, "x.txt by k.npy: key 5 is 7");
  check_failure(here.fanin("compare x.txt --axis 1"), 2, "there is no axis 1 of 1");
  check_failure(here.fanin("compare --axis 0 </dev/null"), 2, "--axis needs FILE");
  check_failure(here.fanin("compare x.txt --axis 0 --missing skip"), 2, "--axis does not go with --missing skip");
  check_failure(here.shell("echo 1 | $fanin compare - --keys -"), 2, "standard input is named twice");
  check_failure(here.fanin("compare x.txt --segments x.txt"), 2,
                "--segments takes an .npy file of i32, i64, u32 or u64");
  const json integers = parsed(here.shell("seq 12 | $fanin compare --type i32 --axis 0 --shape 3,4 --json"));
  CHECK(integers["loops"].empty());
  for (const json& row : integers["rows"]) CHECK(row["error_ulps"] == 0);
  const std::vector<std::size_t> no_rows{0, 4}, empty_rows{3, 0};
  here.write("none.npy", write_npy_header(element_type::f32, no_rows));
  CHECK(parsed(here.fanin("compare none.npy --axis 1 --json"))["results"] == 0);
  here.write("empty.npy", write_npy_header(element_type::f32, empty_rows));
  const json empty = parsed(here.fanin("compare empty.npy --axis 1 --json"));
  CHECK(empty["results"] == 3);
  for (const json& row : empty["rows"]) CHECK(row["alike_alone"] == 3);
}

TEST_CASE("each row has its own ceiling, and a row above the ceiling a warning in place of a share") {
  const double x = 0;  // Only the number of elements is looked at.
  const auto row = [](std::string_view variant, double seconds, double ceiling_seconds) {
    timed_variant one{.place = memory::host, .how = {}, .seconds = seconds, .ceiling_seconds = ceiling_seconds};
    one.how.backend = "serial";
    one.how.variant = variant;
    return one;
  };
  const timed_variants all{.values = array_view(&x, 125'000'000, element_type::f64),
                           .machine = {},
                           .rows = {row("slow", 0.5, 0.25), row("near", 0.2, 0.21), row("above", 0.1, 0.106)},
                           .not_usable = {}};
  CHECK(last_headings(all) == table_row{"s", "GB/s", "ceiling", "of ceiling"});
  CHECK(last_cells(all, all.rows[0]) == table_row{"0.500", "2.0", "4.0", "50 %"});
  CHECK(last_cells(all, all.rows[1]) == table_row{"0.200", "5.0", "4.8", "105 %"});
  CHECK(last_cells(all, all.rows[2]) == table_row{"0.100", "10.0", "9.4", "-"});
  const std::vector<std::string> warnings = warnings_of(all);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == "serial/above: above the ceiling by more than 5 %: the ceiling was measured too low");
  CHECK(last_members(all, all.rows[0])["share_of_ceiling"] == 0.5);
  CHECK(last_members(all, all.rows[0])["ceiling_gigabytes_per_second"] == 4.0);
  CHECK(last_members(all, all.rows[2])["share_of_ceiling"].is_null());
  CHECK(last_members(all, all.rows[2])["ceiling_too_low"] == true);
  const scratch_folder here;
  CHECK(here.shell("seq 9 | $fanin compare --backend serial").out.find("read ceiling") == std::string::npos);
}

TEST_CASE("a report draws the worst errors of results") {
  const scratch_folder here;
  REQUIRE(here.fanin("generate wide --count 6000 --type f32 -o x.bin").status == 0);
  here.write("c.json", here.fanin("compare x.bin --type f32 --shape 30,200 --axis 1 --json").out);
  const finished drawn = here.fanin("report r.html c.json");
  CHECK(drawn.status == 0);
  CHECK(here.read("r.html").find("x.bin, the worst of 30 rows") != std::string::npos);
}

TEST_CASE("the orders of other programs") {
  const std::vector<float> x{1, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f};
  const array_view view{std::span<const float>(x)};
  CHECK(fanin::get<float>(sum_in_order(adding_order::in_order, view, false, 1)) == 1);
  CHECK(fanin::get<float>(sum_in_order(adding_order::numpy, view, true, 1)) == 1);
  CHECK(fanin::get<float>(sum_in_order(adding_order::numpy, view, false, 1)) == 1 + 0x1p-21f);
  bool differs = false;
  for (std::uint64_t call = 0; call < 20; ++call) {
    differs = differs || sum_in_order(adding_order::any_order, view, false, call) !=
                             sum_in_order(adding_order::any_order, view, false, 0);
  }
  CHECK(differs);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
