// SPDX-License-Identifier: Apache-2.0
// A finished reduction, and how it is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/commands.hpp"
#include "cli/input/element_lines.hpp"
#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/quantile/statistic.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

/// An input that was read.
struct read_input {
  std::string name, format;
  bool mapped = false;
  bool skips_missing = false;
  bool infers_types = false;
};
read_input described(const source& input);
/// @throws usage_error if the elements of `input` have another type than the elements of `first`
void require_same_type(const source& first, const source& input);

/// The advice if the headers of files that are taken together differ.
inline constexpr std::string_view advice_on_names =
    "; --skip-lines 1 --no-header skips the names; --column and --by then take numbers";

/// An input and one of its columns, which may have no name, for messages.
std::string place_text(const std::string& input, const std::string& column);

/// Whether the operation gives an index.
inline bool has_index(const statistic& what) { return row_of(what.like).form == result_form::indexed; }

/// The place in text of the element that an index names.
struct place_in_text {
  std::string input;
  std::uint64_t line = 0;
};

/// The lines of the elements of inputs that stand one behind the other, if the inputs keep them.
class lines_of_inputs {
 public:
  /// Adds an input that has been read.
  void add(const source& input) {
    if (input.lines() != nullptr) inputs_.emplace_back(input.name(), *input.lines());
  }
  /// Nothing if no lines are kept.
  std::optional<place_in_text> place_of(std::uint64_t element) const;

 private:
  std::vector<std::pair<std::string, element_lines>> inputs_;
};

struct finished_reduction {
  statistic what = operation::sum;
  std::vector<read_input> inputs;
  std::string column = {};                ///< the name of one of several columns, see input_column
  element_type type = element_type::f64;  ///< the elements' type
  std::uint64_t count = 0;
  std::uint64_t missing = 0;     ///< numbers that were missing, and left out
  rounded_numbers rounded = {};  ///< the elements that were rounded when they were read
  double seconds = 0;
  result<scalar> reached;
  std::string overflow = {};                ///< why there is no value: an integer total does not fit; else empty
  std::optional<place_in_text> found = {};  ///< the element of an indexed value, in text

  /// The names of the inputs.
  std::string input() const;
  /// The names of the inputs and of the column, for messages.
  std::string place() const;
  /// The advice for messages about an integer total that overflows.
  std::string_view overflow_advice() const { return cli::overflow_advice(inputs.front().infers_types); }
};

/// The value of any and all as true or false, and of the others as value_text() has it.
std::string text_of(operation what, const scalar& value);
/// The text that is printed for a value. If the value has an index, the text is the index alone.
std::string value_of(operation what, const scalar& value);
/// The index that a value has, if it has one.
std::optional<std::uint64_t> index_of(const scalar& value);
/// The members of an object of JSON that the value is; see json_value().
json members_of(operation what, const scalar& value);
/// Sets the result to f(), which calls the library with options that have been checked, or says why there is no
/// value.
/// @throws bad_data if the library rejects the elements, as the min of none
template <class F>
void reach(finished_reduction& done, F f) {
  done.reached = with_input_name(done.place(), [&]() -> result<scalar> {
    try {
      return f();
    } catch (const overflow& problem) {
      const std::string what = row_of(done.what.like).of_integers
                                   ? fmt::format("the {} does not fit in 64 bits", done.what.name)
                                   : problem.what();
      done.overflow = fmt::format("{}: {}{}", done.place(), what, done.overflow_advice());
      return {};
    }
  });
}

/// Does nothing if all of these are empty. @throws bad_data the last one; the others are written to stderr
void throw_problems(std::vector<std::string> problems);

/// Writes the results to stdout. @throws bad_data behind that if some have no value; and before, if none has one
void write_results(std::span<const finished_reduction> all, const std::string& text);

/// The value, two blanks and a label. An index is followed by the element and its line. The label is the input, if
/// `many_inputs`, and the column, if it has a name.
std::string line_of(const finished_reduction& done, bool many_inputs);
json to_json(const finished_reduction& done);
/// The reduction as JSON with `values` in place of the members of the value.
json to_json(const finished_reduction& done, const json& values);
/// Warns on stderr once for each column whose numbers were rounded when they were read.
void warn_of_rounding(std::span<const finished_reduction> all);
/// Says on stderr who ran, who was passed over and why, and the error bound.
void explain(const finished_reduction& done);
/// Does the same for many results. The bound holds for each result.
void explain_each(const finished_reduction& done);

/// Whether missing numbers can be left out. Otherwise the result would be of other elements than those: an index, and
/// the pairs of two inputs.
bool can_skip_missing(const statistic& what);
/// @throws usage_error if missing numbers are left out, and can not be
void check_missing(const statistic& what, const input_options& arguments);

/// Standard input, for a command line without FILE. @throws usage_error if standard input is no pipe and no file,
/// such as a terminal
std::string implied_input(std::string_view subcommand);

void add_explain_option(CLI::App& parser, bool& explain);

/// fanin reduce.
command add_joint_reduction(CLI::App& root);

}  // namespace fanin::cli
