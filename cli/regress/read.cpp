// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/read.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "cli/kit/child.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/text.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

/// Reads one result. The messages name the program or file, and quote a bounded part of its text.
class result_reader {
 public:
  result_reader(const std::string& from, std::string_view kind) : from_(from), kind_(kind) {}

  json document(const std::string& text) const {
    try {
      return json::parse(text, check_depth);
    } catch (const json::parse_error& problem) {
      fail(fmt::format("byte {} is not JSON", problem.byte));
    } catch (const json::exception&) {
      fail("a number is too large");
    } catch (const bad_data& problem) {
      throw bad_data(fmt::format("{}: {}", from_, problem.what()));
    }
  }
  /// The elements of a list. None if it is null, as nvbench prints an empty list.
  const json& list(const json& in, const char* key) const {
    const json* found = member(in, key);
    if (found == nullptr || !(found->is_array() || found->is_null())) fail(fmt::format("there is no list '{}'", key));
    return *found;
  }
  std::string text(const json& in, const char* key) const {
    const json* found = member(in, key);
    if (found == nullptr || !found->is_string()) fail(fmt::format("there is no text '{}'", key));
    return found->get<std::string>();
  }
  std::string text_or(const json& in, const char* key, const std::string& otherwise) const {
    return member(in, key) == nullptr ? otherwise : text(in, key);
  }
  bool is_true(const json& in, const char* key) const {
    const json* found = member(in, key);
    return found != nullptr && *found == true;
  }
  /// A number, which nvbench prints as text.
  double number(const json& in, const char* key) const {
    const json* found = member(in, key);
    if (found != nullptr && found->is_number()) return found->get<double>();
    const std::string digits = text(in, key);
    double value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc() || end != digits.data() + digits.size()) {
      fail(fmt::format("'{}' is '{}', which is not a number", key, printable(digits)));
    }
    return value;
  }

  /// A CPU time of 0 is not measured.
  void add_times(const std::string& name, double wall, double cpu = 0) {
    amounts& found = result_.values[new_name(name)];
    found[quantity::wall_time] = checked_amount(wall, fmt::format("{}: {}: seconds", from_, printable(name)));
    if (std::isfinite(cpu) && cpu > 0) found[quantity::cpu_time] = cpu;
  }
  void add_problem(const std::string& name, const std::string& why) {
    result_.problems[new_name(name)] = bounded_quote(why);
  }
  void set_machine(const std::string& name) { result_.machine = bounded_quote(name); }
  const measured& result() const { return result_; }

  static const json* member(const json& in, const char* key) {
    const auto found = in.is_object() ? in.find(key) : in.end();
    return found == in.end() ? nullptr : &*found;
  }
  [[noreturn]] void fail(std::string_view why) const {
    throw bad_data(fmt::format("{}: not a result of {}: {}", from_, kind_, why));
  }

 private:
  const std::string& new_name(const std::string& name) {
    constexpr std::size_t longest = 1000;
    if (name.size() > longest) fail(fmt::format("a name has {} bytes, more than {}", name.size(), longest));
    if (std::ranges::find(result_.names, name) != result_.names.end()) {
      throw bad_data(fmt::format("{}: {} is there twice", from_, printable(name)));
    }
    return result_.names.emplace_back(name);
  }

  const std::string& from_;
  std::string_view kind_;
  measured result_;
};

double seconds_per(const result_reader& in, const std::string& unit) {
  constexpr std::pair<std::string_view, double> units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto* found = std::ranges::find(units, unit, [](const auto& one) { return one.first; });
  if (found == std::end(units)) in.fail(fmt::format("'time_unit' is '{}', not ns, us, ms or s", printable(unit)));
  return found->second;
}

/// The rows of one case of Google Benchmark.
struct google_case {
  struct times {
    std::vector<double> wall, cpu;
  } repetitions, medians;
  std::string problem;
};

void read_google_benchmark(result_reader& in, const json& rows) {
  std::vector<std::string> names;
  std::map<std::string, google_case> cases;
  for (const json& row : rows) {
    const std::string name = in.text_or(row, "run_name", in.text(row, "name"));
    const bool aggregate = in.text_or(row, "run_type", "iteration") == "aggregate";
    if (!cases.contains(name)) names.push_back(name);
    google_case& one = cases[name];
    if (in.is_true(row, "error_occurred")) {
      one.problem = in.text_or(row, "error_message", "failed");
    } else if (in.is_true(row, "skipped")) {
      one.problem = in.text_or(row, "skip_message", "skipped");
    } else if (!aggregate || in.text_or(row, "aggregate_name", "") == "median") {
      const double unit = seconds_per(in, in.text(row, "time_unit"));
      google_case::times& times = aggregate ? one.medians : one.repetitions;
      times.wall.push_back(in.number(row, "real_time") * unit);
      if (in.member(row, "cpu_time") != nullptr) times.cpu.push_back(in.number(row, "cpu_time") * unit);
    }
  }
  for (const std::string& name : names) {
    const google_case& one = cases[name];
    const google_case::times& times = one.repetitions.wall.empty() ? one.medians : one.repetitions;
    if (one.problem.empty() && !times.wall.empty()) {
      in.add_times(name, measure::median(times.wall), times.cpu.empty() ? 0 : measure::median(times.cpu));
    } else {
      in.add_problem(name, one.problem.empty() ? "no time of an iteration" : one.problem);
    }
  }
}

/// The value of the summary with the first of these tags that there is.
const json* nvbench_summary(const result_reader& in, const json& state) {
  for (const std::string_view tag : {"nv/cold/time/gpu/mean", "nv/cpu_only/time/cpu/mean"}) {
    for (const json& summary : in.list(state, "summaries")) {
      if (in.text(summary, "tag") != tag) continue;
      for (const json& value : in.list(summary, "data")) {
        if (in.text(value, "name") == "value") return &value;
      }
    }
  }
  return nullptr;
}

void read_nvbench(result_reader& in, const json& benchmarks) {
  for (const json& benchmark : benchmarks) {
    for (const json& state : in.list(benchmark, "states")) {
      const std::string name = fmt::format("{} {}", in.text(benchmark, "name"), in.text(state, "name"));
      if (in.is_true(state, "is_skipped")) {
        in.add_problem(name, in.text_or(state, "skip_reason", "skipped"));
      } else if (const json* mean = nvbench_summary(in, state)) {
        in.add_times(name, in.number(*mean, "value"));
      } else {
        in.add_problem(name, "no mean time");
      }
    }
  }
}

}  // namespace

measured read_fanin_result(const std::string& from, const std::string& text) {
  result_reader in(from, "'fanin bench --json'");
  const json whole = in.document(text);
  const json* context = in.member(whole, "context");
  if (context == nullptr) in.fail("there is no 'context'");
  in.set_machine(in.text_or(*context, "machine", ""));
  for (const json& row : in.list(whole, "benchmarks")) in.add_times(in.text(row, "name"), in.number(row, "seconds"));
  if (in.member(whole, "not_timed") == nullptr) return in.result();
  for (const json& row : in.list(whole, "not_timed")) {
    const std::string name = in.text(row, "name"), why = in.text(row, "error_message");
    const json* verified = in.member(row, "verified");
    if (verified == nullptr) in.fail("there is no 'verified'");
    if (*verified == false) throw bad_data(fmt::format("{}: {}: {}", from, printable(name), bounded_quote(why)));
    in.add_problem(name, why);
  }
  return in.result();
}

measured read_benchmark_result(const std::string& from, const std::string& text) {
  result_reader in(from, "Google Benchmark or nvbench");
  const json whole = in.document(text);
  if (const json* context = in.member(whole, "context")) in.set_machine(in.text_or(*context, "host_name", ""));
  const json& rows = in.list(whole, "benchmarks");
  if (!rows.empty() && in.member(rows.front(), "states") != nullptr) {
    read_nvbench(in, rows);
  } else {
    read_google_benchmark(in, rows);
  }
  return in.result();
}

}  // namespace fanin::cli
