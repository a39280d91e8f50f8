// SPDX-License-Identifier: Apache-2.0
#include "cli/reduce/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"
#include "oracle/exact_sum.hpp"

namespace fanin::cli {

namespace {

bool is_exact(const error_bound& bound) {
  return bound.of_result == 0 && bound.of_magnitudes == 0 && bound.absolute == 0;
}

/// The condition on the method's arithmetic under which the bound holds (docs/numerics.md). Empty if it always
/// holds.
std::string_view premise_of_method(const finished_reduction& done) {
  const report& how = done.reached.report;
  if (how.method == method::exact || is_exact(how.bound)) return {};
  switch (row_of(done.what.like).adds) {
    case summand::exponentials:
      return {};
    case summand::none:
      return "no product of some of the elements overflows or underflows";
    case summand::deviations:
      return "128 times the sum of the squares is at most the largest finite value";
    case summand::squares:
      return "the sum of the squares is at most half the largest finite value";
    default:
      return "the sum of the magnitudes is at most half the largest finite value";
  }
}

/// The condition under which the bound holds. Empty if the bound always holds.
std::string premise_of(const finished_reduction& done) {
  std::string premise(premise_of_method(done));
  if (!done.rounded.any()) return premise;
  if (!premise.empty()) premise += ", and ";
  return premise + "the result is that of the numbers as read: " + rounded_text(done.rounded, done.type);
}

/// The meaning of M in the bound of an operation (docs/numerics.md).
std::string magnitudes_of(operation what) {
  const operation_row& row = row_of(what);
  const bool deviations = row.adds == summand::deviations;
  std::string text = deviations ? "the sum of the squares, which 'fanin sum_of_squares' prints"
                     : row.adds == summand::products
                         ? "the sum of the magnitudes of the products"
                         : "the sum of the magnitudes, which 'fanin sum_of_magnitudes' prints";
  if (is_quotient(row.value)) text += ", divided by their number";
  if (least_count(what) > 1) text += " less 1";
  if (deviations && is_root(row.value)) text += " and the exact result";
  return text;
}

bool is_truth(operation what) { return row_of(what).result == result_rule::truth; }

/// Rounding to two digits takes off less than a twentieth.
std::string rounded_up_text(double error) { return fmt::format("{:.2g}", 1.05 * error); }

/// The bound as a number in the result's units, or a formula with M where the sum of the magnitudes is not known.
std::string bound_of_one_text(const finished_reduction& done) {
  const error_bound& bound = done.reached.report.bound;
  if (is_exact(bound)) return "0: the value is exact";
  const double most = done.reached.error_bound(), value = std::fabs(oracle::as_double(done.reached.value));
  if (std::isfinite(most)) return "|error| <= " + rounded_up_text(most);
  if (!std::isfinite(value) || !(bound.of_result < 1)) {
    return fmt::format("nothing is promised: {}", done.reached.why_unbounded());
  }
  // The bound is a multiple of the exact result, which is at most the value and the error together.
  const auto number = [&](double error) { return rounded_up_text(error / (1 - bound.of_result)); };
  const double known = bound.of_result * value + bound.absolute;
  if (bound.of_magnitudes == 0) return "|error| <= " + number(known);
  return fmt::format("|error| <= {}{} M, M {}", known == 0 ? "" : number(known) + " + ", number(bound.of_magnitudes),
                     magnitudes_of(done.what.like));
}

/// The bound of each of many results, as a formula.
std::string bound_of_each_text(const finished_reduction& done) {
  const error_bound& bound = done.reached.report.bound;
  if (is_exact(bound)) return "0: every value is exact";
  if (!(bound.of_result < 1)) return "nothing is promised";
  std::string sum;
  const auto add = [&](double coefficient, std::string_view unit) {
    if (coefficient != 0) sum += fmt::format("{}{:.2g}{}", sum.empty() ? "" : " + ", 1.05 * coefficient, unit);
  };
  add(bound.of_result / (1 - bound.of_result), " |value|");
  add(bound.of_magnitudes / (1 - bound.of_result), " M");
  add(bound.absolute / (1 - bound.of_result), "");
  if (bound.of_magnitudes != 0) sum += fmt::format(", M {}", magnitudes_of(done.what.like));
  return "of each value, |error| <= " + sum;
}

/// An index belongs to the order of the elements.
std::string_view same_bits_story(const finished_reduction& done) {
  if (has_index(done.what)) return "for the same values in the same order, on every backend";
  return story(done.reached.report.reproducibility);
}

}  // namespace

read_input described(const source& input) {
  return {input.name(), std::string(input.format()), input.whole().has_value(), input.skips_missing(),
          input.infers_types()};
}

void require_same_type(const source& first, const source& input) {
  if (input.type() == first.type()) return;
  throw usage_error(fmt::format("{} has elements of {}, but {} has elements of {}", first.name(),
                                to_string(first.type()), input.name(), to_string(input.type())));
}

std::optional<place_in_text> lines_of_inputs::place_of(std::uint64_t element) const {
  for (const auto& [name, lines] : inputs_) {
    if (element < lines.elements()) return place_in_text{name, lines.line_of(element)};
    element -= lines.elements();
  }
  return std::nullopt;
}

std::string finished_reduction::input() const {
  std::string names;
  for (const read_input& one : inputs) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

std::string place_text(const std::string& input, const std::string& column) {
  return column.empty() ? input : fmt::format("{}: column '{}'", input, printable(column));
}

std::string finished_reduction::place() const { return place_text(input(), column); }

std::string text_of(operation what, const scalar& value) {
  if (!is_truth(what)) return value_text(value);
  return value == scalar(std::uint8_t{1}) ? "true" : "false";
}

std::string value_of(operation what, const scalar& value) {
  return index_of(value) ? json_value(value).at("index").dump() : text_of(what, value);
}

std::optional<std::uint64_t> index_of(const scalar& value) {
  return fanin::visit(
      []<class R>(const R& x) -> std::optional<std::uint64_t> {
        if constexpr (result_traits<R>::form == result_form::indexed) return x.index;
        return std::nullopt;
      },
      value);
}

json members_of(operation what, const scalar& value) {
  return is_truth(what) ? json{{"value", value == scalar(std::uint8_t{1})}} : json_value(value);
}

namespace {

/// The value; an index with the element behind it, and in text with its line.
std::string shown_value(const finished_reduction& done, bool many_inputs) {
  if (!done.overflow.empty()) return "overflow";
  const scalar& value = done.reached.value;
  std::string text = value_of(done.what.like, value);
  if (index_of(value)) text += " " + value_text(value);
  if (done.found) text += fmt::format(" line {}", done.found->line);
  if (done.found && !many_inputs && done.inputs.size() > 1) text += " of " + one_line(done.found->input);
  return text;
}

}  // namespace

void throw_problems(std::vector<std::string> problems) {
  std::erase(problems, "");
  if (problems.empty()) return;
  for (std::size_t i = 0; i + 1 < problems.size(); ++i) write_stderr(problems[i]);
  throw bad_data(problems.back());
}

void write_results(std::span<const finished_reduction> all, const std::string& text) {
  std::vector<std::string> problems;
  for (const finished_reduction& one : all) problems.push_back(one.overflow);
  if (std::ranges::find(problems, "") != problems.end()) write_stdout(text);
  throw_problems(problems);
}

std::string line_of(const finished_reduction& done, bool many_inputs) {
  std::string line = shown_value(done, many_inputs);
  if (many_inputs) line += "  " + one_line(done.input());
  if (!done.column.empty()) line += "  " + one_line(done.column);
  return line + "\n";
}

json to_json(const finished_reduction& done) {
  if (!done.overflow.empty()) return to_json(done, json{{"value", nullptr}, {"value_text", "overflow"}});
  const scalar& value = done.reached.value;
  json values = members_of(done.what.like, value);
  values.update({{"value_text", text_of(done.what.like, value)},
                 {"value_hex", value_hex(value)},
                 {"error_bound", json_number(done.reached.error_bound())}});
  if (done.found) values["line"] = done.found->line;
  if (done.found && done.inputs.size() > 1) values["line_of"] = done.found->input;
  return to_json(done, values);
}

json to_json(const finished_reduction& done, const json& values) {
  const report& how = done.reached.report;
  json fallback = json::array();
  for (const passed_over& one : how.fallback) fallback.push_back(passed_over_json(one));
  json all = described(json{{"operation", done.what.family()}, {"input", done.input()}});
  if (done.what.share) all["q"] = std::stod(done.what.share->text);
  if (!done.column.empty()) all["column"] = done.column;
  all.update({{"element_type", to_string(done.type)}, {"count", done.count}});
  if (done.inputs[0].skips_missing) all["missing"] = done.missing;
  if (done.rounded.integers > 0) all["rounded_on_reading"] = done.rounded.integers;
  all.update(values);
  if (!done.overflow.empty()) return all;
  all.update({{"backend", how.backend},
              {"variant", how.variant},
              {"method", to_string(how.method)},
              {"bound", bound_json(how.bound, premise_of(done))},
              {"reproducibility", to_string(how.reproducibility)},
              {"absent", how.absent},
              {"seconds", done.seconds},
              {"fallback", fallback}});
  return all;
}

namespace {

void explain(const finished_reduction& done, std::string_view absent, const std::string& bound) {
  const report& how = done.reached.report;
  const bool one_input = done.inputs.size() == 1;
  for (const read_input& one : done.inputs) {
    const std::string elements = one_input ? counted(done.count, "element") : "elements";
    write_stderr(fmt::format("input: {}, {}{}, {} of {}, {}", one.name,
                             done.column.empty() ? "" : fmt::format("column {}, ", done.column), one.format, elements,
                             to_string(done.type), one.mapped ? "mapped" : "read"));
  }
  if (!done.overflow.empty()) return;
  if (done.inputs[0].skips_missing) write_stderr(fmt::format("missing: {} left out", done.missing));
  for (const passed_over& one : how.fallback) {
    write_stderr(fmt::format("passed over: {}, {}: {}", one.backend, to_string(one.why), one.detail));
  }
  write_stderr(fmt::format("ran: {} by {}/{}, method {}, {:.6f} s", done.what.name, how.backend, how.variant,
                           to_string(how.method), done.seconds));
  write_stderr(fmt::format("same bits: {} ({})", to_string(how.reproducibility), same_bits_story(done)));
  if (how.absent > 0) write_stderr(fmt::format("left out: {} {}", how.absent, absent));
  const std::string premise = premise_of(done);
  write_stderr(fmt::format("bound: {}{}{}", bound, premise.empty() ? "" : ", if ", premise));
}

}  // namespace

void warn_of_rounding(std::span<const finished_reduction> all) {
  std::set<std::string> places;
  for (const finished_reduction& one : all) {
    if (one.rounded.integers > 0 && places.insert(one.place()).second) {
      warn_of_rounding(one.place(), one.rounded, one.type);
    }
  }
}

void explain(const finished_reduction& done) { explain(done, "NaN", bound_of_one_text(done)); }
void explain_each(const finished_reduction& done) { explain(done, "elements", bound_of_each_text(done)); }

void add_explain_option(CLI::App& parser, bool& explain) {
  parser.add_flag("--explain", explain,
                  "print on stderr which backend ran, which backends did not and why, and the error bound");
}

bool can_skip_missing(const statistic& what) { return !has_index(what) && row_of(what.like).inputs == 1; }

void check_missing(const statistic& what, const input_options& arguments) {
  if (!skips_missing(arguments) || can_skip_missing(what)) return;
  if (has_index(what)) {
    throw usage_error(fmt::format(
        "{} gives the position of a record, which --missing skip would change; leave --missing skip out", what.name));
  }
  throw usage_error(
      fmt::format("{} needs pairs, and --missing skip would leave out one number of a pair; leave --missing skip out",
                  what.name));
}

std::string implied_input(std::string_view subcommand) {
  if (standard_input_is_data()) return "-";
  throw usage_error(fmt::format(
      "FILE is missing, and standard input is neither a pipe nor a file; FILE stands before --column and --by, which "
      "take all words behind them; see 'fanin {} --help'",
      subcommand));
}

}  // namespace fanin::cli
