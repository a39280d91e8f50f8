// SPDX-License-Identifier: Apache-2.0
// fanin sum, product, min and the other operations of the catalogue: one number from one input or two; and fanin
// reduce: several of them in one pass.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include <fanin/fanin.hpp>

#include "cli/commands.hpp"
#include "cli/exact_state.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "oracle/exact_sum.hpp"

namespace fanin::cli {

namespace {

struct reduction_options {
  input_options input;
  std::string other;  ///< the second FILE of an operation of two inputs
  run_options how;
  std::string save_state;
  bool force = false;  ///< replace the file `save_state`
  bool explain = false, json = false;
};

struct finished_reduction {
  operation what = operation::sum;
  std::uint64_t count = 0;
  double seconds = 0;
  result<scalar> reached;
};

// Standard input, for a command line without FILE. @throws usage_error if standard input is no pipe and no file, such
// as a terminal
std::string implied_input(std::string_view subcommand) {
  if (standard_input_is_data()) return "-";
  throw usage_error(
      fmt::format("FILE is required where standard input is no pipe and no file; see 'fanin {} --help'", subcommand));
}

// Null if all elements are in memory, if there are two inputs, or if the variant needs all elements at once. If the
// request is unsupported for another reason, the plan that follows throws the same error.
std::unique_ptr<incremental> open_stream(operation what, const source& input, const options& chosen) {
  if (input.whole() || row_of(what).inputs > 1) return nullptr;
  try {
    return std::make_unique<incremental>(what, input.type(), chosen);
  } catch (const unsupported&) {
    return nullptr;
  }
}

// `other` is the second input, or null for operations of one input. If `state` is not null, all elements are also
// added to it.
finished_reduction reduce_source(operation what, source& input, source* other, const options& chosen,
                                 exact_state* state) {
  finished_reduction done;
  done.what = what;
  progress line(fmt::format("{} of {}", to_string(what), input.name()));
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<incremental> stream = open_stream(what, input, chosen);
  if (!stream) {
    const array_view all = input.load();
    const input_views inputs = other != nullptr ? input_views(all, other->load()) : input_views(all);
    const plan checked(what, all.type, chosen,
                       all.count);  // What is wrong with the options is not the input's fault.
    done.count = all.count;
    done.reached = with_input_name(input.name(), [&] { return reduce(what, inputs, chosen); });
    if (state != nullptr) state->add(all);
  } else {
    for (array_view block = input.next(); block.count > 0; block = input.next()) {
      stream->push(block);
      if (state != nullptr) state->add(block);
      done.count += block.count;
      line.add_bytes(block.bytes());
    }
    done.reached = with_input_name(input.name(), [&] { return stream->finish(); });
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  input.finish();
  if (other != nullptr) other->finish();
  return done;
}

bool is_exact(const error_bound& bound) {
  return bound.of_result == 0 && bound.of_magnitudes == 0 && bound.absolute == 0;
}

/// What has to hold for the bound to hold (docs/numerics.md); empty if nothing has to.
std::string_view premise_of(const finished_reduction& done) {
  const report& how = done.reached.report;
  if (how.how == method::exact || is_exact(how.bound)) return {};
  if (done.what == operation::product) return "no product of some of the elements overflows or underflows";
  return "the sum of the magnitudes is at most half the largest finite value";
}

bool is_truth(operation what) { return row_of(what).result == result_rule::truth; }

std::string text_of(const finished_reduction& done) {
  if (!is_truth(done.what)) return value_text(done.reached.value);
  return done.reached.value == scalar(std::uint8_t{1}) ? "true" : "false";
}

/// What is printed: of a result with an index the index alone.
std::string line_of(const finished_reduction& done) {
  const bool has_index = row_of(done.what).form == result_form::indexed;
  return has_index ? json_value(done.reached.value).at("index").dump() : text_of(done);
}

json to_json(const finished_reduction& done, element_type type) {
  const report& how = done.reached.report;
  json fallback = json::array();
  for (const passed_over& one : how.fallback) fallback.push_back(passed_over_json(one));
  const scalar& value = done.reached.value;
  json all =
      described({{"operation", to_string(done.what)}, {"element_type", to_string(type)}, {"count", done.count}});
  all.update(is_truth(done.what) ? json{{"value", value == scalar(std::uint8_t{1})}} : json_value(value));
  all.update({{"value_text", text_of(done)},
              {"value_hex", value_hex(value)},
              {"backend", how.backend},
              {"variant", how.variant},
              {"method", to_string(how.how)},
              {"bound", bound_json(how.bound, premise_of(done))},
              {"reproducibility", to_string(how.reproducibility)},
              {"seconds", done.seconds},
              {"fallback", fallback}});
  return all;
}

/// The bound as a number in the result's units where it follows from the value: where no sum of magnitudes is in it,
/// or the value is that sum.
std::string bound_text(const finished_reduction& done) {
  const error_bound& bound = done.reached.report.bound;
  if (is_exact(bound)) return "0: the value is exact";
  const double value = std::fabs(oracle::as_double(done.reached.value));
  const bool value_is_magnitudes =
      done.what == operation::sum_of_magnitudes || done.what == operation::sum_of_squares;
  const double of_result = bound.of_result + (value_is_magnitudes ? bound.of_magnitudes : 0);
  if (!(of_result < 1)) return "nothing is promised";
  // The bound is a multiple of the exact result, which is at most the value and the error together. Rounding to two
  // digits takes off less than a twentieth.
  const auto number = [&](double error) { return fmt::format("{:.2g}", 1.05 * error / (1 - of_result)); };
  const std::string known = "|error| <= " + number(of_result * value + bound.absolute);
  if (bound.of_magnitudes == 0 || value_is_magnitudes) return known;
  return fmt::format("{} + {} M, M the sum of the magnitudes{}", known, number(bound.of_magnitudes),
                     done.what == operation::mean ? ", divided by their number" : "");
}

void explain(const finished_reduction& done, const source& input) {
  const report& how = done.reached.report;
  write_stderr(fmt::format("input: {}, {}, {} elements of {}, {}", input.name(), input.format(), done.count,
                           to_string(input.type()), input.whole() ? "mapped" : "read"));
  for (const passed_over& one : how.fallback) {
    write_stderr(fmt::format("passed over: {}, {}: {}", one.backend, to_string(one.why), one.detail));
  }
  write_stderr(
      fmt::format("ran: {}/{}, method {}, {:.6f} s", how.backend, how.variant, to_string(how.how), done.seconds));
  write_stderr(fmt::format("same bits: {} ({})", to_string(how.reproducibility), story(how.reproducibility)));
  const std::string_view premise = premise_of(done);
  write_stderr(fmt::format("bound: {}{}{}", bound_text(done), premise.empty() ? "" : ", if ", premise));
}

/// The command's own default: the method exact for every operation that has it. The library's is fast.
std::optional<method> default_method_of_command(operation what, const options& chosen) {
  if (chosen.how || !chosen.variant.empty() || !row_of(what).of_floats.exact) return chosen.how;
  return method::exact;
}

void run_reduction(operation what, reduction_options arguments) {
  options chosen = arguments.how.checked();
  chosen.how = default_method_of_command(what, chosen);
  if (!arguments.save_state.empty() && chosen.how != method::exact)
    throw usage_error("--save-state needs the method exact");
  check_state_path(arguments.save_state);
  if (!arguments.other.empty() && arguments.input.path == "-" && arguments.other == "-") {
    throw usage_error("standard input cannot be both inputs");
  }
  if (arguments.input.path.empty()) arguments.input.path = implied_input(to_string(what));
  source input(arguments.input);
  std::optional<source> other;
  if (!arguments.other.empty()) {
    input_options like_the_first = arguments.input;
    like_the_first.path = arguments.other;
    other.emplace(like_the_first);
  }
  std::optional<exact_state> state;
  std::optional<output_file> file;
  if (!arguments.save_state.empty()) {
    if (input.is_file(arguments.save_state)) {
      throw usage_error(fmt::format("{}: is the input; --save-state would replace it", arguments.save_state));
    }
    state.emplace(input.type());
    // Created before the reduction, so that a bad path fails early.
    file.emplace(arguments.save_state, arguments.force);
  }
  const finished_reduction done =
      reduce_source(what, input, other ? &*other : nullptr, chosen, state ? &*state : nullptr);
  if (state) state->save(*file);
  if (arguments.explain) explain(done, input);
  write_stdout(arguments.json ? printed(to_json(done, input.type())) : line_of(done) + "\n");
}

command add_reduction(CLI::App& root, operation what) {
  const std::string name(to_string(what));
  auto arguments = std::make_shared<reduction_options>();
  const operation_row& row = row_of(what);
  std::string story(row.story);
  if (!row.of_floats.fast) story += ", correctly rounded";
  if (!row.of_integers) story += " (f32 and f64)";
  CLI::App* parser = root.add_subcommand(name, story);
  add_input_options(*parser, arguments->input, row.inputs == 2);
  if (row.inputs == 2) {
    parser->add_option("OTHER", arguments->other, "second input file, of the same format and type")->required();
  }
  add_run_options(*parser, arguments->how);
  if (std::ranges::find(state_operations, what) != std::end(state_operations)) {
    CLI::Option* save =
        parser
            ->add_option(
                "--save-state", arguments->save_state,
                "with the method exact: write the sum before rounding, for 'merge', to a file that is no input")
            ->type_name("FILE");
    parser->add_flag("--force", arguments->force, "replace the file of --save-state if it exists")->needs(save);
  }
  parser->add_flag("--explain", arguments->explain,
                   "say on stderr who ran, who was passed over and why, and the error bound");
  parser->add_flag("--json", arguments->json, "print one JSON object");
  const std::string_view files = row.inputs == 2 ? "x.npy y.npy" : "data.npy";
  std::string examples = row.of_floats.exact && row.of_floats.fast && !row.unrounded
                             ? "Without --method, the value is exact: correctly rounded. --method fast is plain "
                               "floating-point addition.\n\n"
                             : "";
  if (row.inputs == 1) examples += "Without FILE, standard input is read if it is a pipe or a file.\n\n";
  examples += fmt::format("Examples:\n  fanin {} {}\n", name, files);
  if (row.inputs == 1) {
    examples += fmt::format(
        "  fanin {0} prices.csv --column price --explain\n"
        "  fanin {0} samples.bin --type f32 --skip 512 --json\n"
        "  seq 1000 | fanin {0} --threads 2",
        name);
  } else {
    examples += fmt::format(
        "  fanin {0} prices.csv amounts.csv --column 1 --explain\n"
        "  fanin {0} x.bin y.bin --type f32 --json",
        name);
  }
  parser->footer(examples);
  return {parser, [what, arguments] { run_reduction(what, *arguments); }};
}

struct joint_options {
  std::string operations;  ///< separated by commas
  input_options input;
  run_options how;
  bool json = false;
};

// Pushes each block of the input to a stream of each operation while a cache has it.
std::vector<finished_reduction> reduce_jointly(std::span<const operation> operations, source& input,
                                               const options& chosen) {
  std::vector<finished_reduction> all;
  std::vector<std::unique_ptr<incremental>> streams;
  for (const operation what : operations) {
    if (row_of(what).inputs > 1) throw usage_error(fmt::format("{} reads two inputs", to_string(what)));
    options own = chosen;
    own.how = default_method_of_command(what, chosen);
    streams.push_back(std::make_unique<incremental>(what, input.type(), own));
    all.push_back({.what = what});
  }
  progress line(fmt::format("reduction of {}", input.name()));
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t count = 0;
  const auto push = [&](const array_view& block) {
    for (const auto& stream : streams) stream->push(block);
    count += block.count;
    line.add_bytes(block.bytes());
  };
  if (input.whole()) {
    const array_view whole = *input.whole();
    const std::size_t most = (std::size_t{4} << 20) / size_of(whole.type);
    for (std::size_t i = 0; i < whole.count; i += most) {
      push(input_views(whole).part(i, std::min(most, whole.count - i))[0]);
    }
  } else {
    for (array_view block = input.next(); block.count > 0; block = input.next()) push(block);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].count = count;
    all[i].reached = with_input_name(input.name(), [&] { return streams[i]->finish(); });
    all[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  input.finish();
  return all;
}

void run_joint_reduction(joint_options arguments) {
  std::vector<operation> operations;
  for (const auto word : std::views::split(arguments.operations, ',')) {
    const std::string_view name(word.begin(), word.end());
    operations.push_back(parse_choice<operation>("operation", name, all_operations));
  }
  if (arguments.input.path.empty()) arguments.input.path = implied_input("reduce");
  source input(arguments.input);
  const std::vector<finished_reduction> all = reduce_jointly(operations, input, arguments.how.checked());
  std::string text;
  json rows = json::array();
  for (const finished_reduction& done : all) {
    text += fmt::format("{} {}\n", to_string(done.what), line_of(done));
    rows.push_back(to_json(done, input.type()));
  }
  write_stdout(arguments.json ? printed(rows) : text);
}

command add_joint_reduction(CLI::App& root) {
  auto arguments = std::make_shared<joint_options>();
  CLI::App* parser = root.add_subcommand("reduce", "Several operations in one pass");
  parser->add_option("OPERATION", arguments->operations, "operations of one input, separated by commas")->required();
  add_input_options(*parser, arguments->input, false);
  add_run_options(*parser, arguments->how);
  parser->add_flag("--json", arguments->json, "print an array with a JSON object for each operation");
  parser->footer(
      "Prints a line for each operation: its name and its value. Without --method, values are exact.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin reduce min,mean,max prices.csv --column price\n"
      "  seq 1000 | fanin reduce sum,standard_deviation --json");
  return {parser, [arguments] { run_joint_reduction(*arguments); }};
}

}  // namespace

std::vector<command> add_reductions(CLI::App& root) {
  std::vector<command> all;
  for (const operation what : all_operations) all.push_back(add_reduction(root, what));
  all.push_back(add_joint_reduction(root));
  return all;
}

}  // namespace fanin::cli
