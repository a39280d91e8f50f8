// SPDX-License-Identifier: Apache-2.0
// The cases, the measurements and the results of fanin bench.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/batch/value_list.hpp"
#include "cli/kit/json.hpp"
#include "measure/ceiling.hpp"
#include "measure/device_copy.hpp"
#include "measure/rotation.hpp"
#include "measure/timing.hpp"
#include "oracle/promise.hpp"
#include "oracle/random_input.hpp"
#include "oracle/truth.hpp"

namespace fanin::cli {

/// How the elements of a case belong to results.
enum class bench_layout : std::uint8_t {
  array,     ///< all to one
  axis0,     ///< by their column in a matrix
  axis1,     ///< by their row
  segments,  ///< by offsets; the lengths are random, from 1 to twice the mean less 1
  groups,    ///< by random keys; each group has at least one
};
inline constexpr std::array all_bench_layouts{bench_layout::array, bench_layout::axis0, bench_layout::axis1,
                                              bench_layout::segments, bench_layout::groups};
std::string_view to_string(bench_layout);
/// The library's name for the layout.
layout kind_of(bench_layout);

struct bench_case {
  const fanin::backend* backend;
  variant_info variant;
  operation what;
  element_type type;
  std::size_t count;
  bench_layout layout = bench_layout::array;
  std::size_t length = 0;  ///< the elements of each result, for segments and groups their mean

  bool is_batch() const noexcept { return layout != bench_layout::array; }
  std::size_t results() const noexcept { return is_batch() ? count / length : 1; }
  /// The case's name: backend/variant/operation/type/method/count, and of many results /layout/length.
  std::string name() const;
  /// The number of bytes that one call reads.
  std::size_t bytes() const;
};

/// The axes of a sweep, as words of the command line. sweep() replaces an empty axis by its default.
struct bench_axes {
  std::vector<std::string> backends = {}, variants = {}, operations = {}, types = {}, methods = {}, counts = {},
                           layouts = {}, lengths = {};
};

/// All combinations of the axes that exist. Cases with the same input follow each other.
/// @throws usage_error if a word is unknown, backend_unavailable if a named backend is not usable
std::vector<bench_case> sweep(const bench_axes& axes);

/// The offsets or the keys of a case, if it has such.
class bench_index {
 public:
  bench_index() = default;
  explicit bench_index(const bench_case& like);
  /// The index in memory `place`. @throws out_of_memory, device_error
  array_view at(memory place);

 private:
  std::vector<std::int32_t> narrow_;  ///< the index of a case of fewer than 2^31 elements
  std::vector<std::int64_t> wide_;
  std::unique_ptr<measure::device_copy> device_;
};

/// `x` as the inputs of the operation. If there are two inputs, each is a half of `x`.
input_views inputs_of(operation what, const array_view& x);

/// Random elements in host memory, and in device memory when at() is first called for it, with their exact result.
class bench_input {
 public:
  /// @throws out_of_memory
  bench_input(operation what, element_type type, std::size_t count, unsigned threads);
  /// The elements of a case. There is an exact result only for one result, not for many. @throws out_of_memory
  bench_input(const bench_case& like, unsigned threads);

  bool fits(const bench_case& which) const;
  const oracle::truth& expected() const { return *expected_; }
  /// The case's batch of elements in host or device memory. @throws out_of_memory, device_error
  batch batch_of(const array_view& x);
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
  bench_layout layout_ = bench_layout::array;
  std::size_t length_ = 0;
  oracle::random_input values_;
  std::optional<oracle::truth> expected_;
  measure::rotation host_;
  bench_index index_;
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
/// Judges a row by each of its results, whose elements are in host memory.
void check_each(bench_row& row, const batch& many, const value_list& values, const report& how);
/// Checks and times a case with many results, as measure_case() does one with a single result.
bench_row measure_batch(const bench_case& which, bench_input& input, unsigned threads,
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
