// SPDX-License-Identifier: Apache-2.0
// The content of result files of all commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/json.hpp"

namespace fanin::cli::charts {

/// The machine, the commit, the date and fanin's version of a result.
struct origin {
  std::string machine, commit, date, version;  ///< empty if the file does not contain it
  /// Results of one commit on one machine belong together, also if their dates differ.
  bool operator==(const origin& other) const { return machine == other.machine && commit == other.commit; }
};

/// One timed case.
struct measurement {
  origin from;
  std::string data;  ///< family of the input data; empty for the random data of a benchmark
  std::string operation, type, backend, variant, method;
  double count, bytes, seconds;
  bool warm = false;              ///< the input was in a cache; false also if the file does not say
  std::optional<double> noise{};  ///< relative, of the median; empty if the file does not contain it
  bool disturbed = false;         ///< other load, a throttled device, or a read ceiling that was measured too low

  double gigabytes_per_second() const { return bytes / seconds * 1e-9; }
};

/// The backend name of read ceilings. Their variants are "one-thread", "all-threads" and "device"; they have no
/// method.
constexpr std::string_view ceiling = "ceiling";

struct ladder_result {
  struct rung {
    std::string number;  ///< empty for a backend
    std::string stage;
    std::optional<double> gigabytes_per_second;  ///< empty if the value was wrong
  };
  origin from;
  std::string operation, type;
  double count, ceiling_gigabytes_per_second;
  std::vector<rung> rungs;
};

/// The error of one variant's sum of one input.
struct accuracy_result {
  std::string input, type, backend, variant, method;
  double count, error_ulps, bound_ulps;  ///< not finite if there is no error or bound
  double relative_ulp;                   ///< one ulp divided by the exact sum
  double condition;                      ///< sum |x| / |sum x|; not finite if the exact sum is 0
};

/// The sums of one input by every backend and variant, from 'fanin compare'.
struct compare_result {
  struct row {
    std::string backend, variant, method;
    bool on_device;
    double gigabytes_per_second;
    double error_ulps;  ///< not finite if there is no error
  };
  std::string machine, input, type;  ///< the machine is empty if the file does not contain it
  double count;
  std::optional<double> ceiling_gigabytes_per_second;  ///< host memory's; empty if nothing was read there
  std::vector<row> rows;
};

/// The rates of an instruction, by the chains per thread and the warps per multiprocessor.
struct latency_result {
  struct rate {
    std::string chains;  ///< as in "with 2 chains"
    double warps, value;
  };
  origin from;
  std::string instruction, unit;
  std::string remark;       ///< the things that the unit counts; empty for bytes
  std::vector<rate> rates;  ///< without the rates of wrong results
};

/// A result of 'fanin regress': the times of two builds.
struct comparison {
  struct judged {
    std::string name, verdict, reason;
    std::vector<double> a_seconds, b_seconds;  ///< never empty
  };
  std::string a, b;
  bool paired;       ///< true if the i-th times of A and B belong together; then A and B have equally many
  double threshold;  ///< as a fraction: 0.03 is 3 %
  std::vector<judged> cases;
};

struct source {
  std::string file, kind;
  origin from;
};

/// How many values were compared with the exact result, and how many of them broke their proven bound.
struct value_checks {
  std::size_t made = 0, broken = 0;
};

struct results {
  std::vector<source> sources;
  std::vector<measurement> measurements;
  std::vector<ladder_result> ladders;
  std::vector<accuracy_result> accuracies;
  std::vector<latency_result> latencies;
  std::vector<compare_result> compared;
  std::vector<comparison> comparisons;
  value_checks checks;
  std::vector<std::string> skipped;  ///< the files of other kinds

  /// Adds the content of one file, or its name to `skipped`. `file` is its name in the list of sources.
  /// @throws bad_data if a result of a known kind lacks a value, or has one that it cannot have
  void add(const std::string& file, const json& document);
};

/// @throws bad_data, which names the file, if one cannot be read, or if none is a result of a known kind
results read_results(const std::vector<std::string>& files);

/// The readers of the kinds of results, which add() calls. @throws bad_data
std::vector<measurement> read_measurements(const json& document, const origin& from);
ladder_result read_ladder(const json& document, const origin& from);
std::vector<accuracy_result> read_accuracy(const json& document);
std::vector<latency_result> read_latencies(const json& document, const origin& from);
compare_result read_compare(const json& document);
comparison read_comparison(const json& document);
value_checks read_checks(const json& document);

}  // namespace fanin::cli::charts
