// What the result files hold, whichever command wrote them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/json.hpp"

namespace fanin::cli::charts {

/// Where a result comes from.
struct origin {
  std::string machine, commit, date;  ///< empty: the file does not say
  /// Results of one commit on one machine belong together, whenever they were measured.
  bool operator==(const origin& other) const { return machine == other.machine && commit == other.commit; }
};

/// One timed case.
struct measurement {
  origin from;
  std::string data;  ///< the family of the input; empty: the usual one
  std::string operation, type, backend, variant, method;
  double count, bytes, seconds;

  double gigabytes_per_second() const { return bytes / seconds * 1e-9; }
};

/// The backend under which reads of the same bytes stand: "one-thread", "all-threads", "device". They have no method.
constexpr std::string_view ceiling = "ceiling";

struct ladder_result {
  struct rung {
    std::optional<int> number;  ///< none: what a backend ships
    std::string stage;
    std::optional<double> gigabytes_per_second;  ///< none: its value was wrong
  };
  origin from;
  std::string operation, type;
  double count, ceiling_gigabytes_per_second;
  std::vector<rung> rungs;
};

/// The error of one variant's sum of one input.
struct accuracy_result {
  std::string input, type, backend, variant, method;
  double count, error_ulps, bound_ulps;  ///< not finite where there is none
  double relative_ulp;                   ///< what an ulp is, relative to the exact sum
};

/// How fast an instruction is by the chains in a thread and the warps on a multiprocessor.
struct latency_result {
  struct rate {
    std::string chains;  ///< "with 2 chains"
    double warps, value;
  };
  origin from;
  std::string instruction, unit;
  std::vector<rate> rates;  ///< those of wrong results are left out
};

/// Two builds, timed against each other.
struct comparison {
  struct judged {
    std::string name, verdict, reason;
    std::vector<double> a_seconds, b_seconds;  ///< neither is empty
  };
  std::string a, b;
  bool paired;       ///< the i-th of A and of B belong together, and there are as many of both
  double threshold;  ///< 0.03: 3 %
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

  /// `file` is its name, for the list of sources. @throws std::exception: nothing that is known here
  void add(const std::string& file, const json& document);
};

/// @throws bad_data if one cannot be read
results read_results(const std::vector<std::string>& files);

/// The number under that key. @throws std::exception if there is none, or it is not above 0
double positive(const json& object, const char* key);

/// What add() consists of. @throws std::exception
std::vector<measurement> read_measurements(const json& document, const origin& from);
ladder_result read_ladder(const json& document, const origin& from);
std::vector<accuracy_result> read_accuracy(const json& document);
std::vector<latency_result> read_latencies(const json& document, const origin& from);
comparison read_comparison(const json& document);

}  // namespace fanin::cli::charts
