// SPDX-License-Identifier: Apache-2.0
// The content of result files of all commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/json.hpp"

namespace fanin::cli::charts {

/// The machine, the commit and the date of a result.
struct origin {
  std::string machine, commit, date;  ///< empty if the file does not contain it
  /// Results of one commit on one machine belong together, also if their dates differ.
  bool operator==(const origin& other) const { return machine == other.machine && commit == other.commit; }
};

/// One timed case.
struct measurement {
  origin from;
  std::string data;  ///< family of the input data; empty for the random data of a benchmark
  std::string operation, type, backend, variant, method;
  double count, bytes, seconds;

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
};

/// The rates of an instruction, by the chains per thread and the warps per multiprocessor.
struct latency_result {
  struct rate {
    std::string chains;  ///< as in "with 2 chains"
    double warps, value;
  };
  origin from;
  std::string instruction, unit;
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

struct results {
  std::vector<source> sources;
  std::vector<measurement> measurements;
  std::vector<ladder_result> ladders;
  std::vector<accuracy_result> accuracies;
  std::vector<latency_result> latencies;
  std::vector<comparison> comparisons;

  /// Adds the content of one file. `file` is its name in the list of sources.
  /// @throws std::exception if the document is not a known kind of result
  void add(const std::string& file, const json& document);
};

/// @throws bad_data if a file cannot be read
results read_results(const std::vector<std::string>& files);

/// The checked_amount() under `key`. @throws std::exception if there is none
double positive(const json& object, const char* key);

/// The readers of the kinds of results, which add() calls. @throws std::exception
std::vector<measurement> read_measurements(const json& document, const origin& from);
ladder_result read_ladder(const json& document, const origin& from);
std::vector<accuracy_result> read_accuracy(const json& document);
std::vector<latency_result> read_latencies(const json& document, const origin& from);
comparison read_comparison(const json& document);

}  // namespace fanin::cli::charts
