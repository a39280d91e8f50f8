// fanin bench: which cases there are, how one is measured, and how the results look.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/kit/json.hpp"
#include "measure/device_copy.hpp"
#include "measure/rotation.hpp"
#include "measure/timing.hpp"
#include "oracle/promise.hpp"
#include "oracle/random_input.hpp"
#include "oracle/truth.hpp"

namespace fanin::cli {

struct bench_case {
  const fanin::backend* backend;
  variant_info variant;
  operation what;
  element_type type;
  std::size_t count;

  /// backend/variant/operation/type/method/count
  std::string name() const;
  /// That one call reads.
  std::size_t bytes() const;
};

std::vector<operation> bench_operations();  ///< all_operations, and dot

/// The axes as typed; an empty one takes its default.
struct bench_axes {
  std::vector<std::string> backends = {}, variants = {}, operations = {}, types = {}, methods = {}, counts = {};
};

/// Every combination that exists, those on the same input one after the other.
/// @throws usage_error: a word that names nothing. backend_unavailable: a backend that was named
std::vector<bench_case> sweep(const bench_axes& axes);

/// Random elements, the exact result, and places to read them from.
class bench_input {
 public:
  /// @throws out_of_memory
  bench_input(operation what, element_type type, std::size_t count, unsigned threads);

  bool fits(const bench_case& which) const;
  const oracle::truth& right() const { return right_; }
  /// For the i-th call. @throws out_of_memory, device_error
  array_view at(memory place, std::size_t i);
  bool warm(memory place) const { return place == memory::host && host_.is_warm(); }
  /// Seconds of the fastest read; measured when it is first asked for.
  double ceiling(memory place, unsigned threads, const measure::stopping_rule& limit);

 private:
  measure::device_copy& on_device();

  operation what_;
  element_type type_;
  std::size_t count_;
  oracle::random_input values_;
  oracle::truth right_;
  measure::rotation host_;
  std::unique_ptr<measure::device_copy> device_;
  std::map<std::pair<memory, unsigned>, double> ceilings_;
};

struct bench_row {
  bench_case which;
  unsigned threads;
  memory place = memory::host;
  bool warm = false;
  oracle::promise verified = oracle::promise::none;
  std::optional<double> error_ulps = {};
  std::optional<measure::timing> timing = {};  ///< none if there is a problem
  double ceiling_seconds = 0;
  std::string problem = {};  ///< a wrong value, no memory, or a device that failed
  bool device_failed = false;
};

using reduction = std::function<result<scalar>(const array_view&)>;

/// Holds call()'s value against the exact one, then times it.
bench_row measure_case(const bench_case& which, const reduction& call, bench_input& input, unsigned threads,
                       const measure::stopping_rule& limit);
/// The reduction as a user calls it.
reduction reduction_of(const bench_case& which, unsigned threads);

struct bench_result {
  std::string date, command, machine;
  unsigned threads;
  double budget_seconds;
  std::size_t cases;  ///< asked for; there are fewer rows after an interrupt
  std::vector<bench_row> rows;
};

/// The processor's name, and the GPU's if a case takes part there. Asked before cases run, after which a device may
/// no longer answer. @throws device_error
std::string machine_of(const std::vector<bench_case>& cases);

/// To be said after the results, which are worth printing all the same.
/// @throws bad_data if a value was wrong, a device failed, or cases are missing
void check_results(const bench_result& all);

/// docs/benchmarking.md describes it.
json as_json(const bench_result& all);
/// The rows without their samples, with a heading.
std::string as_csv(const bench_result& all);
std::string as_text(const bench_result& all);

}  // namespace fanin::cli
