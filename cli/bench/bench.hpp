// SPDX-License-Identifier: Apache-2.0
// The cases, the measurements and the results of fanin bench.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/kit/json.hpp"
#include "measure/ceiling.hpp"
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

  /// The case's name: backend/variant/operation/type/method/count.
  std::string name() const;
  /// The number of bytes that one call reads.
  std::size_t bytes() const;
};

/// The axes of a sweep, as words of the command line. sweep() replaces an empty axis by its default.
struct bench_axes {
  std::vector<std::string> backends = {}, variants = {}, operations = {}, types = {}, methods = {}, counts = {};
};

/// All combinations of the axes that exist. Cases with the same input follow each other.
/// @throws usage_error if a word is unknown, backend_unavailable if a named backend is not usable
std::vector<bench_case> sweep(const bench_axes& axes);

/// Random elements in host memory, and in device memory when at() is first called for it, with their exact result.
class bench_input {
 public:
  /// @throws out_of_memory
  bench_input(operation what, element_type type, std::size_t count, unsigned threads);

  bool fits(const bench_case& which) const;
  const oracle::truth& expected() const { return expected_; }
  /// The elements in memory `place`. @throws out_of_memory, device_error
  array_view first(memory place);
  bool warm(memory place) const { return place == memory::host && host_.is_warm(); }
  /// Times `call`, which uses the backend `by`, in that backend's memory, in turn with reads of the same memory.
  /// @throws out_of_memory, device_error
  measure::timed_beside_reads time(const std::function<void(const array_view&)>& call, const backend& by,
                                   unsigned threads, const measure::stopping_rule& limit);

 private:
  measure::device_copy& on_device();

  operation what_;
  element_type type_;
  std::size_t count_;
  oracle::random_input values_;
  oracle::truth expected_;
  measure::rotation host_;
  std::unique_ptr<measure::device_copy> device_;
};

struct bench_row {
  bench_case which;
  unsigned threads;
  memory place = memory::host;
  bool warm = false;
  oracle::promise verified = oracle::promise::none;
  std::optional<double> error_ulps = {};
  std::optional<measure::timing> timing = {};  ///< empty if there is a problem
  double ceiling_seconds = 0;
  std::string problem = {};  ///< why the case was not timed: a wrong value, too little memory, or a device error
  bool device_failed = false;
};

using reduction = std::function<result<scalar>(const array_view&)>;

/// Checks the value of `call` against the exact result, then times `call` if the value is right.
bench_row measure_case(const bench_case& which, const reduction& call, bench_input& input, unsigned threads,
                       const measure::stopping_rule& limit);
/// The call of reduce() for a case.
reduction reduction_of(const bench_case& which, unsigned threads);

struct bench_result {
  std::string date, command, machine;
  unsigned threads;
  double budget_seconds;
  std::size_t cases;  ///< number of cases in the sweep; after an interrupt there are fewer rows
  std::vector<bench_row> rows;
};

/// The name of the processor, and of the GPU if a case runs on a device. bench calls machine_of() before the first
/// case, because no call succeeds after a device error. @throws device_error
std::string machine_of(const std::vector<bench_case>& cases);

/// Checks the results after they have been printed.
/// @throws bad_data if a value was wrong, a device failed, no case was timed, or cases are missing
void check_results(const bench_result& all);

/// A warning that names the cases whose samples other load makes worthless; empty if there are none.
std::string warning_of(const bench_result& all);

/// docs/benchmarking.md describes the JSON object.
json as_json(const bench_result& all);
/// The rows without their samples, as CSV with a heading.
std::string as_csv(const bench_result& all);
std::string as_text(const bench_result& all);

}  // namespace fanin::cli
