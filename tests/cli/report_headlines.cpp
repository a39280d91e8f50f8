// SPDX-License-Identifier: Apache-2.0
// Compares the headlines of the charts of fanin report with the rows of the result files, which this test reads by
// itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/report/scale.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

using charts::count_text;
using charts::number_text;

const std::string results = FANIN_SOURCE "/bench/results/";

json result_file(const std::string& name) {
  std::ifstream file(results + name);
  REQUIRE(file.good());
  return json::parse(file);
}

/// The headlines of the charts of one kind, from the page that fanin report makes of the files.
std::set<std::string> headlines(const std::string& kind, const std::vector<std::string>& files) {
  const scratch_folder here;
  std::string arguments = "report page.html --chart " + kind;
  for (const std::string& file : files) arguments += " '" + (file.starts_with('/') ? "" : results) + file + "'";
  const finished run = here.fanin(arguments);
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  const std::string page = here.read("page.html");
  const std::regex heading("<h3>([^<]*)</h3>"), space("&#160;");
  std::set<std::string> all;
  for (std::sregex_iterator one(page.begin(), page.end(), heading), end; one != end; ++one) {
    all.insert(std::regex_replace((*one)[1].str(), space, " "));
  }
  return all;
}

void check_same(const std::set<std::string>& found, const std::set<std::string>& expected) {
  CHECK(fmt::format("{}", fmt::join(found, "\n")) == fmt::format("{}", fmt::join(expected, "\n")));
}

/// A timed row. `call` is the name of a backend, a slash, and the name of its variant if that is not the method's.
struct timed_row {
  std::string data, operation, type, method, call;
  double count, gigabytes_per_second;
};
const std::string ceiling_call = "read ceiling";

double middle(std::vector<double> x) {
  std::ranges::sort(x);
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// The rows of a program in bench/, by their names DATA/TYPE/BACKEND/VARIANT/COUNT.
std::vector<timed_row> program_rows(const json& file) {
  std::map<std::string, std::vector<double>> nanoseconds;
  for (const json& one : file["benchmarks"]) {
    if (one["run_type"] != "iteration" || one.value("misaligned", false)) continue;
    const double unit = one["time_unit"] == "us" ? 1000 : 1;
    nanoseconds[one["name"]].push_back(unit * one["real_time"].get<double>());
  }
  std::vector<timed_row> all;
  for (const auto& [name, times] : nanoseconds) {
    std::smatch part;
    REQUIRE(std::regex_match(name, part, std::regex("([^/]*)/([^/]*)/([^/]*)/([^/]*)/([0-9]*)(/.*)?")));
    const std::string backend = part[3], variant = part[4];
    const bool squares = variant == "exact squares";
    const std::string method = squares ? "exact" : variant == "exact" || variant == "compensated" ? variant : "fast";
    const double count = std::stod(part[5]), bytes = count * (part[2].str().ends_with("64") ? 8 : 4);
    all.push_back({part[1], squares ? "sum_of_squares" : "sum", part[2], backend == "ceiling" ? "" : method,
                   backend == "ceiling"           ? ceiling_call
                   : squares || variant == method ? backend
                                                  : backend + "/" + variant,
                   count, bytes / middle(times)});
  }
  return all;
}

std::vector<timed_row> command_rows(const json& file) {
  std::vector<timed_row> all;
  for (const json& one : file["benchmarks"]) {
    const std::string backend = one["backend"], variant = one["variant"];
    timed_row found{"sum",
                    one["operation"],
                    one["type"],
                    one["method"],
                    variant == one["method"].get<std::string>() ? backend : backend + "/" + variant,
                    one["count"],
                    one["bytes"].get<double>() / one["seconds"].get<double>() / 1e9};
    all.push_back(found);
    found.method.clear();
    found.call = ceiling_call;
    found.gigabytes_per_second = one["bytes"].get<double>() / one["ceiling_seconds"].get<double>() / 1e9;
    all.push_back(found);
  }
  return all;
}

/// The headlines of the charts of throughput: for each operation, type and method the fastest call at the largest n.
std::set<std::string> throughput_of(const std::vector<timed_row>& rows, const std::string& machine) {
  std::map<std::tuple<std::string, std::string, std::string>, timed_row> best;
  for (const timed_row& one : rows) {
    if (one.data != "sum" || one.call == ceiling_call) continue;
    const auto rank = [](const timed_row& x) { return std::pair(x.count, x.gigabytes_per_second); };
    const auto [known, is_new] = best.try_emplace({one.operation, one.type, one.method}, one);
    if (!is_new && rank(one) > rank(known->second)) known->second = one;
  }
  std::set<std::string> all;
  for (const auto& [key, one] : best) {
    double most = 0;
    for (const timed_row& other : rows) {
      const bool same =
          std::tie(other.operation, other.type, other.count) == std::tie(one.operation, one.type, one.count);
      if (same && other.call == ceiling_call && other.data == "sum")
        most = std::max(most, other.gigabytes_per_second);
    }
    std::string operation = std::regex_replace(one.operation, std::regex("_"), " ");
    operation.front() = static_cast<char>(std::toupper(operation.front()));
    all.insert(fmt::format(
        "{} of {}, {}, {}: {} reads {} GB/s at n = {}{}", operation, one.type, one.method, machine, one.call,
        number_text(one.gigabytes_per_second), count_text(one.count),
        most == 0
            ? ""
            : fmt::format(", {:.0f} % of the read ceiling{}", 100 * one.gigabytes_per_second / most,
                          one.gigabytes_per_second > 1.05 * most ? " (the ceiling was measured too low)" : "")));
  }
  return all;
}

/// The headlines of the charts of families. The plain sum is from the exact sum's backend, or else the fastest
/// plain sum.
std::set<std::string> families_of(const std::vector<timed_row>& rows, const std::string& machine) {
  std::map<std::string, double> largest;
  const auto is_exact_sum = [](const timed_row& one) {
    return one.data != "sum" && one.operation == "sum" && one.method == "exact";
  };
  for (const timed_row& one : rows) {
    if (is_exact_sum(one)) largest[one.type] = std::max(largest[one.type], one.count);
  }
  std::set<std::string> all;
  for (const auto& [type, count] : largest) {
    double least = INFINITY, most = 0;
    for (const timed_row& exact : rows) {
      if (!is_exact_sum(exact) || exact.type != type || exact.count != count) continue;
      double own = 0, fastest = 0;
      for (const timed_row& plain : rows) {
        if (std::tie(plain.data, plain.type, plain.count) != std::tie(exact.data, type, count)) continue;
        if (plain.operation != "sum" || plain.method != "fast") continue;
        fastest = std::max(fastest, plain.gigabytes_per_second);
        if (plain.call.starts_with(exact.call)) own = plain.gigabytes_per_second;
      }
      const double share = exact.gigabytes_per_second / (own > 0 ? own : fastest);
      least = std::min(least, share);
      most = std::max(most, share);
    }
    all.insert(
        fmt::format("Exact sums of {}, n = {}, {}: from {:.0f} % to {:.0f} % of the plain sum's speed, by data", type,
                    count_text(count), machine, 100 * least, 100 * most));
  }
  return all;
}

/// The headlines of the history of two commits.
std::set<std::string> history_of(const std::vector<timed_row>& before, const std::vector<timed_row>& after,
                                 const std::string& machine) {
  std::map<std::string, std::pair<double, std::string>> changes;
  for (const timed_row& one : before) {
    for (const timed_row& two : after) {
      const auto key = [](const timed_row& x) { return std::tie(x.operation, x.type, x.method, x.count, x.call); };
      if (one.call == ceiling_call || key(one) != key(two)) continue;
      const double change = 100 * (two.gigabytes_per_second / one.gigabytes_per_second - 1);
      auto& largest =
          changes[fmt::format("{} of {}, {}, n = {}", std::regex_replace(one.operation, std::regex("_"), " "),
                              one.type, one.method, count_text(one.count))];
      if (std::abs(change) > std::abs(largest.first)) largest = {change, one.call};
    }
  }
  std::set<std::string> all;
  for (const auto& [what, change] : changes) {
    all.insert(
        fmt::format("History of {}, {}: {} changed most, by {:+.1f} %", what, machine, change.second, change.first));
  }
  return all;
}

TEST_SUITE_BEGIN("report");

TEST_CASE("headlines of throughput and of families agree with their rows") {
  const auto check = [](const std::string& file, const std::vector<timed_row>& rows, const std::string& machine) {
    CAPTURE(file);
    check_same(headlines("throughput", {file}), throughput_of(rows, machine));
    const std::set<std::string> families = families_of(rows, machine);
    if (!families.empty()) check_same(headlines("families", {file}), families);
  };
  for (const std::string folder : {"amd-epyc-2-cores", "intel-r-xeon-r-processor-2-cores"}) {
    check(folder + "/cpu-sums.json", program_rows(result_file(folder + "/cpu-sums.json")), folder);
  }
  const json gpu = result_file("h200/gpu-sums.json");
  check("h200/gpu-sums.json", program_rows(gpu), gpu["context"]["device"]);
  for (const std::string file : {"h200/exact-operations.json", "intel-r-xeon-r-processor-2-cores/c18489f.json"}) {
    const json content = result_file(file);
    check(file, command_rows(content), content["context"]["machine"]);
  }
}

TEST_CASE("headlines of the history agree with the rows of the commits") {
  const std::string folder = "intel-r-xeon-r-processor-2-cores/";
  json before = result_file(folder + "7f599e5.json"), after = result_file(folder + "c18489f.json");
  if (after["context"]["date"] < before["context"]["date"]) std::swap(before, after);
  check_same(headlines("history", {folder + "7f599e5.json", folder + "c18489f.json"}),
             history_of(command_rows(before), command_rows(after), before["context"]["machine"]));
}

TEST_CASE("the headline of a ladder agrees with its rows") {
  const json ladder = result_file("h200/ladder-f32-28.json");
  const json *slowest = nullptr, *fastest = nullptr;
  for (const json& one : ladder["rows"]) {
    if (one["seconds"].is_null()) continue;
    if (slowest == nullptr || one["gigabytes_per_second"] < (*slowest)["gigabytes_per_second"]) slowest = &one;
    if (fastest == nullptr || one["gigabytes_per_second"] > (*fastest)["gigabytes_per_second"]) fastest = &one;
  }
  const auto share = [&](const json& one) {
    return fmt::format("{:.0f} %", 100 * one["gigabytes_per_second"].get<double>() /
                                       ladder["ceiling_gigabytes_per_second"].get<double>());
  };
  const std::string device = ladder["device"], slow = (*slowest)["stage"], fast = (*fastest)["stage"];
  check_same(
      headlines("ladder", {"h200/ladder-f32-28.json"}),
      std::set{fmt::format("Ladder for sum of f32, n = {}, {}: {} reads at {} of the ceiling, {} at {}",
                           count_text(ladder["count"]), device, slow, share(*slowest), fast, share(*fastest))});
}

TEST_CASE("headlines of latencies agree with their rows") {
  const json latency = result_file("h200/lab-latency.json");
  const std::string device = latency["device"];
  std::map<std::string, std::string> units;
  std::map<std::string, std::map<double, std::string>> rates;  // The keys are the instruction and the rate.
  for (const json& one : latency["rows"]) {
    const std::string instruction = one["instruction"];
    const bool counts_operations = one["unit"] == "10^9 operations/s";
    units[instruction] = counts_operations ? std::string("TFLOP/s") : one["unit"].get<std::string>();
    for (const auto& [key, value] : one.items()) {
      if (!key.starts_with("with_") || value.is_null()) continue;
      const double flops = 2;  // An fma has two.
      rates[instruction][value.get<double>() * (counts_operations ? flops / 1000 : 1)] =
          fmt::format("{}, warps = {}", std::regex_replace(key, std::regex("_"), " "),
                      one["warps_per_multiprocessor"].get<int>());
    }
  }
  std::set<std::string> expected;
  for (const auto& [instruction, all] : rates) {
    const auto &least = *all.begin(), &most = *all.rbegin();
    expected.insert(fmt::format("Latency of {}, {}: {} {} {}; {} {}", instruction, device, number_text(least.first),
                                units[instruction], least.second, number_text(most.first), most.second));
  }
  check_same(headlines("latency", {"h200/lab-latency.json"}), expected);
}

TEST_CASE("the headline of two builds counts the verdicts") {
  const auto judged = [](const std::string& verdict) {
    return json{{"name", verdict}, {"verdict", verdict}, {"reason", ""}, {"a_seconds", {1.0}}, {"b_seconds", {1.0}}};
  };
  const scratch_folder here;
  here.write("builds.json", json({{"a", "a"},
                                  {"b", "b"},
                                  {"from", "pairs"},
                                  {"threshold", 0.03},
                                  {"cases",
                                   {judged("SLOWER"), judged("SAME"), judged("SAME"), judged("UNDECIDED"),
                                    judged("SAME"), judged("UNDECIDED")}}})
                                .dump());
  check_same(headlines("samples", {here.path() + "/builds.json"}),
             std::set<std::string>{"Is B slower than A? Of 6 cases 1 slower, 0 faster, 3 the same, 2 undecided"});
}

/// The relative errors of the worst plain sums, by the input, the element type and `key`.
using worst_errors = std::map<std::string, std::map<std::string, std::map<double, double>>>;
worst_errors worst_plain_sums(const json& inputs, const std::string& key) {
  worst_errors worst;
  for (const json& one_input : inputs) {
    const double exact = std::stod(one_input["exact"]["value_hex"].get<std::string>());
    const int digits = one_input["element_type"] == "f32" ? 24 : 53;
    for (const json& one : one_input["rows"]) {
      if (one["method"] != "fast" || exact == 0) continue;
      const double ulp = std::ldexp(1, std::ilogb(exact) - digits + 1);
      double& most = worst[one_input["input"]][one_input["element_type"]][one_input[key]];
      most = std::max(most, one["error_ulps"].get<double>() * ulp / std::abs(exact));
    }
  }
  return worst;
}

std::string digits_kept(double error, const std::string& type) {
  const double digits = error == 0 ? 0 : std::max(0.0, std::floor(-std::log10(error)));
  return (error == 0    ? "all digits"
          : digits == 0 ? "no digit"
          : digits == 1 ? "1 digit"
                        : fmt::format("{} digits", digits)) +
         " in " + type;
}

TEST_CASE("headlines of accuracy over n agree with the values of the worst plain sums") {
  const scratch_folder here;
  for (const char* count : {"100", "1000"}) {
    REQUIRE(here.fanin(fmt::format("accuracy uniform condition:1e10 --count {0} --json > {0}.json", count)).status ==
            0);
  }
  std::set<std::string> expected;
  for (const auto& [input, types] : worst_plain_sums(json::parse(here.read("1000.json")), "count")) {
    std::string kept;
    for (const auto& [type, errors] : types) {
      kept += (kept.empty() ? "" : ", ") + digits_kept(errors.rbegin()->second, type);
    }
    expected.insert(fmt::format("Errors for data '{}': at n = 1000 the worst plain sum keeps {}", input, kept));
  }
  check_same(headlines("accuracy", {here.path() + "/100.json", here.path() + "/1000.json"}), expected);
}

TEST_CASE("the headline of accuracy over the condition number agrees with the values of the worst plain sums") {
  const scratch_folder here;
  REQUIRE(here.fanin("accuracy condition:1e10 condition:1e2 condition:1e14 --count 1000 --json > a.json").status ==
          0);
  std::map<std::string, std::map<double, double>> by_type;
  for (const auto& [input, types] : worst_plain_sums(json::parse(here.read("a.json")), "condition")) {
    for (const auto& [type, errors] : types) by_type[type].insert(errors.begin(), errors.end());
  }
  std::string kept;
  for (const auto& [type, errors] : by_type) {
    double lost_from = INFINITY, worst = 0;
    for (auto one = errors.rbegin(); one != errors.rend() && one->second > 0.1; ++one) lost_from = one->first;
    for (const auto& [condition, error] : errors) worst = std::max(worst, error);
    kept += kept.empty() ? "" : ", ";
    kept += lost_from < INFINITY ? fmt::format("no digit in {} from condition {} on", type, number_text(lost_from))
                                 : "at least " + digits_kept(worst, type);
  }
  CHECK(kept.starts_with("no digit in f32 from condition 10¹⁰ on, at least "));
  check_same(headlines("accuracy", {here.path() + "/a.json"}),
             std::set{"Errors of sums of 1000 elements: the worst plain sum keeps " + kept});
}

TEST_CASE("the headline of error against speed agrees with the rows") {
  const scratch_folder here;
  REQUIRE(here.fanin("generate constant --count 100000 --type f32 -o ones.npy").status == 0);
  REQUIRE(here.fanin("compare ones.npy --json > compare.json").status == 0);
  const json whole = json::parse(here.read("compare.json"));
  const json *best = nullptr, *worst = nullptr;
  for (const json& one : whole["rows"]) {
    if (one["method"] == "exact" && (!best || one["gigabytes_per_second"] > (*best)["gigabytes_per_second"]))
      best = &one;
    const auto rank = [](const json& x) {
      return std::pair(x["error_ulps"].get<double>(), -x["gigabytes_per_second"].get<double>());
    };
    const bool same_variant = worst && one["variant"] == (*worst)["variant"];
    if (!worst || (same_variant ? rank(one) < rank(*worst) : one["error_ulps"] > (*worst)["error_ulps"]))
      worst = &one;
  }
  const auto said = [](const json& one) {
    return fmt::format("{} {} GB/s with an error of {} ulp", one["variant"].get<std::string>(),
                       number_text(one["gigabytes_per_second"]), number_text(one["error_ulps"]));
  };
  REQUIRE((*best)["error_ulps"] == 0);
  REQUIRE((*worst)["variant"] == "naive");
  const std::string machine = whole.value("machine", "");
  check_same(headlines("compare", {here.path() + "/compare.json"}),
             std::set{fmt::format("Error against speed, {}{}: {}; {}", whole["input"].get<std::string>(),
                                  machine.empty() ? "" : ", " + machine, said(*best), said(*worst))});
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
