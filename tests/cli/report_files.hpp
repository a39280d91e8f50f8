// SPDX-License-Identifier: Apache-2.0
// Result files of every kind, small ones, and what fanin report makes of them.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace fanin::cli {

/// A row of 'fanin bench' with `rate` GB/s and a read ceiling of 100 GB/s.
inline nlohmann::json bench_row(const std::string& backend, const std::string& method, double count, double rate) {
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

inline std::string bench_file(const std::string& commit, const std::string& date, std::vector<nlohmann::json> rows) {
  return nlohmann::json(
             {{"context", {{"machine", "a machine"}, {"commit", commit}, {"date", date}}}, {"benchmarks", rows}})
      .dump();
}

inline std::string ladder_file(const std::string& device) {
  const auto rung = [](const nlohmann::json& number, const std::string& stage, const nlohmann::json& rate) {
    return nlohmann::json{{"number", number}, {"stage", stage}, {"seconds", rate}, {"gigabytes_per_second", rate}};
  };
  return nlohmann::json({{"operation", "sum"},
                         {"element_type", "f32"},
                         {"count", 1 << 24},
                         {"device", device},
                         {"ceiling_gigabytes_per_second", 1000},
                         {"rows", {rung(1, "first", 250), rung(2, "broken", nullptr), rung(nullptr, "cuda", 1000)}}})
      .dump();
}

inline std::string latency_file() {
  const auto row = [](double warps, const nlohmann::json& with_1, const nlohmann::json& with_2) {
    return nlohmann::json{{"instruction", "load"},
                          {"unit", "GB/s"},
                          {"warps_per_multiprocessor", warps},
                          {"with_1_chain", with_1},
                          {"with_2_chains", with_2}};
  };
  return nlohmann::json({{"experiment", "latency"},
                         {"commit", "ccccccc"},
                         {"device", "a device"},
                         {"rows", {row(1, 10, 19), row(2, 20, 36), row(4, nullptr, nullptr)}}})
      .dump();
}

/// A row of a program in bench/, whose name is family/type/backend/variant/count.
inline nlohmann::json program_row(const std::string& name, double microseconds) {
  return {{"name", name}, {"run_type", "iteration"}, {"real_time", microseconds}, {"time_unit", "us"}};
}

inline std::string regress_file() {
  return nlohmann::json({{"a", "old/fanin"},
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

inline std::string compare_file() {
  const auto row = [](const std::string& backend, const std::string& variant, const std::string& method, double rate,
                      double error) {
    return nlohmann::json{{"backend", backend}, {"variant", variant},           {"method", method},
                          {"memory", "host"},   {"gigabytes_per_second", rate}, {"error_ulps", error},
                          {"bound_ok", true}};
  };
  return nlohmann::json({{"input", "ones"},
                         {"element_type", "f32"},
                         {"count", 1000},
                         {"ceiling_gigabytes_per_second", 30},
                         {"rows",
                          {row("tbb", "simd", "fast", 28, 2.5), row("serial", "simd", "fast", 14, 2.5),
                           row("serial", "naive", "fast", 4, 1e6), row("tbb", "exact", "exact", 24, 0)}},
                         {"not_usable", nlohmann::json::array()}})
      .dump();
}

/// Writes a result file of each kind, and returns the names of the files.
inline std::string write_all_kinds(const scratch_folder& here) {
  here.write("old.json", bench_file("aaaaaaa", "2026-01-01", {bench_row("serial", "fast", 1024, 10)}));
  here.write("new.json", bench_file("bbbbbbb", "2026-02-01",
                                    {bench_row("serial", "fast", 1024, 20), bench_row("tbb", "fast", 1 << 20, 50)}));
  here.write("ladder.json", ladder_file("a device"));
  here.write("latency.json", latency_file());
  here.write(
      "families.json",
      nlohmann::json({{"benchmarks",
                       {program_row("wide/f64/serial/simd/4096", 2), program_row("wide/f64/serial/exact/4096", 8)}}})
          .dump());
  here.write("regress.json", regress_file());
  here.write("compare.json", compare_file());
  REQUIRE(here.fanin("accuracy uniform --count 100 --json > accuracy.json").status == 0);
  return "new.json old.json ladder.json latency.json families.json regress.json accuracy.json compare.json";
}

inline std::vector<std::string> found(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator one(text.begin(), text.end(), expression), end; one != end; ++one)
    all.push_back((*one)[1]);
  return all;
}

using texts = std::vector<std::string>;

inline std::string drawn(const scratch_folder& here, const std::string& arguments) {
  const finished run = here.fanin("report out --force " + arguments);
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  CHECK(run.out.empty());
  return here.read("out");
}

}  // namespace fanin::cli
