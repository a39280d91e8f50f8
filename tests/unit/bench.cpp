// SPDX-License-Identifier: Apache-2.0
// Tests of the cases and measurements of fanin bench, and of its check of values.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include <fanin/error.hpp>
#include <fanin/fanin.hpp>

#include "cli/bench/bench.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

constexpr measure::stopping_rule shortly{.budget_seconds = 0.001};

bench_axes everything(const std::string& count) {
  bench_axes axes;
  for (const operation what : all_operations) axes.operations.emplace_back(to_string(what));
  for (const element_type type : all_element_types) axes.types.emplace_back(to_string(type));
  for (const backend* one : backends()) {
    for (const variant_info& variant : one->variants()) axes.variants.emplace_back(variant.name);
  }
  axes.counts = {count};
  return axes;
}

/// A value that is further from `value` than every error bound for a thousand elements.
scalar spoilt(const scalar& value) {
  return fanin::visit(
      []<class R>(R x) -> scalar {
        const auto spoil = [](auto& number) {
          using T = std::decay_t<decltype(number)>;
          if constexpr (floating<T>) {
            constexpr computed_as<T> apart = 1024 * 1024;
            number = static_cast<T>(number == 0 ? apart : number * (1 + apart * std::numeric_limits<T>::epsilon()));
          } else if constexpr (complex_number<T>) {
            number += 1024 * 1024 * (1 + std::abs(number));
          } else {
            ++number;
          }
        };
        if constexpr (result_traits<R>::form == result_form::indexed) spoil(x.index);
        if constexpr (result_traits<R>::form == result_form::extremes) spoil(x.max);
        if constexpr (result_traits<R>::form == result_form::number) spoil(x);
        return x;
      },
      value);
}

bench_result no_rows_of(std::size_t cases) {
  return {.date = "", .command = "", .machine = "", .threads = 1, .budget_seconds = 1, .cases = cases, .rows = {}};
}

TEST_SUITE_BEGIN("bench");

TEST_CASE("every combination keeps its promise, and none does with a spoilt value") {
  const std::vector<bench_case> cases = sweep(everything("1000"));
  CHECK(cases.size() > 100);
  std::unique_ptr<bench_input> input;
  std::set<std::string> names;
  for (const bench_case& one : cases) {
    CAPTURE(one.name());
    CHECK(names.insert(one.name()).second);
    if (!input || !input->fits(one)) input = std::make_unique<bench_input>(one.what, one.type, one.count, 2);
    const reduction right = reduction_of(one, 2);
    const bench_row row = measure_case(one, right, *input, 2, shortly);
    CHECK(row.verified == oracle::promise::kept);
    REQUIRE(row.timing);
    CHECK(row.timing->seconds() > 0);
    CHECK(row.ceiling_seconds > 0);

    const auto wrong = [&](const array_view& x) {
      result<scalar> reached = right(x);
      reached.value = spoilt(reached.value);
      return reached;
    };
    const bench_row broken = measure_case(one, wrong, *input, 2, shortly);
    CHECK(broken.verified == oracle::promise::broken);
    CHECK(!broken.timing);
  }
}

TEST_CASE("exact results may not be off by one unit in the last place") {
  for (const bench_case& one : sweep({.backends = {"serial"},
                               .operations = {"sum", "mean", "sum_of_squares", "norm2", "variance", "dot"},
                               .methods = {"exact"},
                               .counts = {"999"}})) {
    CAPTURE(one.name());
    bench_input input(one.what, one.type, one.count, 1);
    const auto next_to = [&](const array_view& x) {
      result<scalar> reached = reduction_of(one, 1)(x);
      reached.value = fanin::visit(
          []<class T>(T v) -> scalar {
            if constexpr (floating<T>) return std::nextafter(v, std::numeric_limits<T>::infinity());
            return v;
          },
          reached.value);
      return reached;
    };
    CHECK(measure_case(one, next_to, input, 1, shortly).verified == oracle::promise::broken);
  }
}

TEST_CASE("a wrong value is shown and not timed; so is a lack of memory") {
  const bench_case one =
      sweep({.backends = {"serial"}, .types = {"f32"}, .methods = {"fast"}, .counts = {"2^18"}})[0];
  CHECK(one.name() == "serial/simd/sum/f32/fast/262144");
  bench_input input(one.what, one.type, one.count, 1);
  int calls = 0;
  const auto drops_a_sixth = [&](const array_view& x) {
    ++calls;
    array_view part = x;
    part.count = x.count / 6 * 5;
    return reduction_of(one, 1)(part);
  };
  const auto no_memory = [](const array_view&) -> result<scalar> { throw out_of_memory("not that much"); };
  bench_result all = no_rows_of(4);
  all.rows.push_back(measure_case(one, drops_a_sixth, input, 1, shortly));
  CHECK(calls == 1);
  all.rows.push_back(measure_case(one, no_memory, input, 1, shortly));
  all.rows.push_back(measure_case(one, reduction_of(one, 1), input, 1, shortly));

  const json whole = as_json(all);
  CHECK(whole["context"]["complete"] == false);
  const json &rows = whole["benchmarks"], &others = whole["not_timed"];
  REQUIRE(rows.size() == 1);
  REQUIRE(others.size() == 2);
  CHECK(others[0]["verified"] == false);
  CHECK(others[1]["verified"].is_null());
  CHECK(others[1]["error_message"] == "not that much");
  for (const json& other : others) CHECK(!other.contains("real_time"));
  CHECK(rows[0]["verified"] == true);
  CHECK(rows[0]["warm"] == false);
  CHECK_THROWS_WITH_AS(check_results(all), doctest::Contains("wrong results, so not timed: serial/simd"), bad_data);
  const std::string text = as_text(all);
  CHECK(text.find("WRONG") != std::string::npos);
  CHECK(text.find(one.name() + ": not timed: gave ") != std::string::npos);
}

TEST_CASE("one wrong result of many is found, and named") {
  for (const std::string layout : {"axis0", "axis1", "segments", "groups"}) {
    CAPTURE(layout);
    for (const std::string what : {"sum", "argmax"}) {
      const bench_case one = sweep({.backends = {"serial"},
                                    .operations = {what},
                                    .types = {"f32"},
                                    .methods = {"fast"},
                                    .counts = {"1000"},
                                    .layouts = {layout},
                                    .lengths = {"8"}})[0];
      CHECK(one.results() == 125);
      bench_input input(one, 1);
      const batch many = input.batch_of(input.first(memory::host));
      value_list values(one.what, element_type::f32, one.results());
      const report how = reduce(one.what, many, values.view(), {.method = method::fast});
      bench_row row{.which = one, .threads = 1};
      check_each(row, many, values, how);
      CHECK(row.verified == oracle::promise::kept);
      CHECK(row.problem.empty());
      const std::size_t wrong = 77;
      auto* const bytes = static_cast<std::byte*>(values.view().data);
      const std::size_t width = what == "sum" ? sizeof(float) : sizeof(indexed<float>);
      bytes[wrong * width + (what == "sum" ? 3 : width - sizeof(std::uint64_t))] ^= std::byte{1};
      check_each(row, many, values, how);
      CHECK(row.verified == oracle::promise::broken);
      CHECK(row.problem.starts_with("result 77 is "));
    }
  }
}

TEST_CASE("a device that fails part way costs its own case only, and the exit status") {
  const auto cases = sweep({.backends = {"serial"}, .types = {"f32"}, .counts = {"1000"}});
  bench_input input(operation::sum, element_type::f32, 1000, 1);
  bench_result all = no_rows_of(cases.size());
  for (const bench_case& one : cases) {
    const auto fails_once_timed = [&, calls = 0](const array_view& x) mutable {
      if (one.variant.method == method::compensated && ++calls > 5) throw device_error("cudaLaunchKernel: lost");
      return reduction_of(one, 1)(x);
    };
    all.rows.push_back(measure_case(one, fails_once_timed, input, 1, shortly));
  }
  const json whole = as_json(all);
  CHECK(whole["benchmarks"].size() == 2);
  REQUIRE(whole["not_timed"].size() == 1);
  CHECK(whole["not_timed"][0]["verified"].is_null());
  CHECK(whole["not_timed"][0]["error_message"] == "cudaLaunchKernel: lost");
  CHECK_THROWS_WITH_AS(check_results(all), "the device failed: serial/compensated/sum/f32/compensated/1000",
                       bad_data);
}

TEST_CASE("every row of benchmarks has what Google Benchmark's compare.py reads") {
  const bench_case one = sweep({.backends = {"serial"}, .types = {"f32"}, .counts = {"8"}})[0];
  bench_input input(one.what, one.type, one.count, 1);
  bench_result all = no_rows_of(2);
  all.rows.push_back({.which = one, .threads = 1, .problem = "no memory"});
  all.rows.push_back(measure_case(one, reduction_of(one, 1), input, 1, shortly));
  const json rows = as_json(all)["benchmarks"];
  REQUIRE(rows.size() == 1);  // Google Benchmark's tools compute a geometric mean of all rows.
  CHECK(rows[0]["name"] == one.name());
  CHECK(rows[0]["run_name"] == one.name());
  CHECK(rows[0]["run_type"] == "iteration");
  CHECK(rows[0]["repetition_index"] == 0);
  CHECK(rows[0]["time_unit"] == "ns");
  CHECK(rows[0]["real_time"].get<double>() > 0);
  CHECK(rows[0]["cpu_time"].is_number());
}

TEST_CASE("rows that other load or a low ceiling spoils say so") {
  const bench_case one{&find_backend("serial"), find_backend("serial").variants()[0], operation::sum,
                       element_type::f32, 1000};
  const auto with = [&](double ceiling_seconds, std::optional<double> waited_share) {
    bench_result all = no_rows_of(1);
    all.rows.push_back({.which = one, .threads = 1, .ceiling_seconds = ceiling_seconds});
    all.rows[0].timing = measure::timing{.samples = {1.0}, .throttled = {}, .waited_share = waited_share};
    return all;
  };
  const bench_result fine = with(1.04, 0.09), spoilt_one = with(1.06, 0.11), uncounted = with(1, std::nullopt);
  CHECK(as_json(fine)["benchmarks"][0]["ceiling_too_low"] == false);
  CHECK(as_json(spoilt_one)["benchmarks"][0]["ceiling_too_low"] == true);
  CHECK(as_json(fine)["benchmarks"][0]["disturbed"] == false);
  CHECK(as_json(spoilt_one)["benchmarks"][0]["disturbed"] == true);
  CHECK(as_json(spoilt_one)["benchmarks"][0]["waited_share"] == 0.11);
  CHECK(as_json(uncounted)["benchmarks"][0]["waited_share"].is_null());
  CHECK(as_text(fine).find("the ceiling was measured too low") == std::string::npos);
  CHECK(as_text(spoilt_one).find(one.name() + ": above the ceiling by more than 5 %") != std::string::npos);
  CHECK(as_text(fine).find("104.0 %") != std::string::npos);
  CHECK(as_text(spoilt_one).find("106.0 %") == std::string::npos);
  CHECK(warning_of(fine).empty());
  CHECK(warning_of(uncounted).empty());
  CHECK(warning_of(spoilt_one).starts_with("warning: do not use the times of " + one.name() + ": "));
  CHECK(warning_of(spoilt_one).ends_with("for up to 11 % of the time"));
}

TEST_CASE("the axes: defaults, powers of two, and words that name nothing") {
  CHECK(sweep({.backends = {"serial"}}).size() == 12);
  CHECK(sweep({.backends = {"serial"}, .variants = {"kahan", "exact"}, .types = {"f64"}, .counts = {"7"}}).size() ==
        2);
  CHECK(sweep({.counts = {"2^20"}})[0].count == 1 << 20);
  CHECK(sweep({.counts = {"3e4"}})[0].count == 30000);
  CHECK(sweep({.operations = {"dot"}, .types = {"f64"}, .counts = {"8"}})[0].bytes() == 128);
  CHECK(sweep({.backends = {"auto"}}).size() == sweep({}).size());
  CHECK_THROWS_AS(sweep({.backends = {"serial", "auto"}}), invalid_argument);
  CHECK_THROWS_AS(sweep({.methods = {"exakt"}}), usage_error);
  CHECK_THROWS_AS(sweep({.variants = {"khan"}}), usage_error);
  CHECK_THROWS_AS(sweep({.counts = {"2^64"}}), usage_error);
  CHECK_THROWS_AS(sweep({.counts = {"0"}}), usage_error);
  CHECK_THROWS_AS(sweep({.operations = {"log_sum_exp"}, .types = {"u32"}}), usage_error);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
