// SPDX-License-Identifier: Apache-2.0
// fanin accuracy compares the errors of all methods, in f32 and f64, on well- and ill-conditioned inputs, or on a
// file.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/accuracy/of_file.hpp"
#include "cli/commands.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/text.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/families.hpp"

namespace fanin::cli {

namespace {

constexpr std::uint64_t standard_count = 100'000, standard_seed = 1;

struct accuracy_options {
  std::vector<std::string> words;     ///< inputs as in 'fanin generate', or a file
  input_options input;                ///< how the file is read; `count` is the number of elements of the others
  std::optional<std::uint64_t> seed;  ///< the seed of the other inputs
  bool json = false;

  std::uint64_t count() const { return input.count.value_or(standard_count); }
};

/// Whether the word is a file, and no name of a family of inputs.
bool is_file(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find(':'));
  if (std::ranges::find(oracle::families(), name, &oracle::family::name) != oracle::families().end()) return false;
  return word == "-" || word.find_first_of("./") != word.npos || std::filesystem::exists(word);
}

/// One variant whose error is measured.
struct contender {
  const fanin::backend* backend;
  variant_info variant;
};

struct contender_result {
  contender who;
  scalar value;
  double error_ulps, bound_ulps;
};

/// The sums of one input of one element type by all contenders.
struct accuracy_case {
  std::string spec;
  element_type type;
  scalar exact;
  double condition;
  std::vector<contender_result> verdicts;
};

/// All variants of the backend `serial`, whose bits the other CPU backends share, and of each usable device backend
/// the default variant of each method.
std::vector<contender> contenders() {
  std::vector<contender> all;
  for (const backend* one : backends()) {
    if (!one->probe().usable() || (one->home() == memory::host && one->name() != "serial")) continue;
    for (const variant_info& v : one->variants()) {
      const auto first = std::ranges::find(one->variants(), v.method, &variant_info::method);
      if (one->home() == memory::host || first->name == v.name) all.push_back({one, v});
    }
  }
  return all;
}

template <class T>
accuracy_case examine(const std::string& spec, const accuracy_options& arguments) {
  constexpr element_type type = type_of<T>;
  const std::vector<T> x = oracle::generate<T>(spec, arguments.count(), arguments.seed.value_or(standard_seed));
  const array_view values{std::span<const T>(x)};
  const oracle::exact_sum exact(values, default_threads());
  accuracy_case one{spec, type, exact.rounded(type), exact.condition(), {}};
  for (const contender& who : contenders()) {
    const auto& [backend, variant] = who;
    if (!backend->supports({operation::sum, values, variant.method, type, variant.name, 1}).usable()) continue;
    const auto reached = reduce(operation::sum, values, {.backend = backend->name(), .variant = variant.name});
    one.verdicts.push_back(
        {who, reached.value, exact.error_ulps(reached.value), exact.bound_ulps(type, reached.report.bound)});
  }
  return one;
}

json to_json(const accuracy_case& one, std::uint64_t count) {
  json rows = json::array();
  for (const contender_result& row : one.verdicts) {
    rows.push_back({{"backend", row.who.backend->name()},
                    {"variant", row.who.variant.name},
                    {"method", to_string(row.who.variant.method)},
                    {"value_text", value_text(row.value)},
                    {"value_hex", value_hex(row.value)},
                    {"error_ulps", json_number(row.error_ulps)},
                    {"bound_ulps", json_number(row.bound_ulps)}});
  }
  return described({{"input", one.spec},
                    {"element_type", to_string(one.type)},
                    {"count", count},
                    {"condition", json_number(one.condition)},
                    {"exact", {{"value_text", value_text(one.exact)}, {"value_hex", value_hex(one.exact)}}},
                    {"rows", rows}});
}

std::string ulps(double amount) { return fmt::format("{:.3g}", amount); }
std::string bound(double amount) { return std::isinf(amount) ? "none" : ulps(amount); }

std::string as_text(const accuracy_case& single, const accuracy_case& wide) {
  std::vector<table_row> rows = {{"  variant", "method", "f32 error", "f32 bound", "f64 error", "f64 bound"}};
  for (std::size_t i = 0; i < single.verdicts.size() && i < wide.verdicts.size(); ++i) {
    const contender_result &a = single.verdicts[i], &b = wide.verdicts[i];
    const auto& [backend, variant] = a.who;
    rows.push_back({fmt::format("  {}/{}", backend->name(), variant.name), std::string(to_string(variant.method)),
                    ulps(a.error_ulps), bound(a.bound_ulps), ulps(b.error_ulps), bound(b.bound_ulps)});
  }
  return fmt::format("{}: condition {:.2g} (f32), {:.2g} (f64); sum {} (f32), {} (f64)\n{}\n", single.spec,
                     single.condition, wide.condition, value_text(single.exact), value_text(wide.exact),
                     align(rows, 2));
}

void run_accuracy(const accuracy_options& arguments) {
  std::vector<std::string> specs = arguments.words;
  input_options reading = arguments.input;
  if (std::ranges::any_of(specs, is_file)) {
    if (specs.size() > 1) throw usage_error("accuracy takes one FILE, or any number of SPECs");
    if (arguments.seed) throw usage_error("--seed is for random numbers, and not for FILE");
    reading.path = specs[0];
    return write_stdout(accuracy_of_file(reading, arguments.json));
  }
  reading.count.reset();
  if (reading != input_options{}) throw usage_error("options about the input, such as --column, need FILE");
  if (specs.empty()) specs.assign(oracle::accuracy_specs().begin(), oracle::accuracy_specs().end());
  json all = json::array();
  std::string text = fmt::format(
      "Errors and proven bounds in ulp, {} elements; error 0 is the correctly rounded sum.\n\n", arguments.count());
  progress line("accuracy");
  for (const std::string& spec : specs) {
    line.set_task("accuracy of " + spec);
    const accuracy_case single = examine<float>(spec, arguments), wide = examine<double>(spec, arguments);
    all.push_back(to_json(single, arguments.count()));
    all.push_back(to_json(wide, arguments.count()));
    text += as_text(single, wide);
  }
  line.end();
  text.pop_back();
  write_stdout(arguments.json ? printed(all) : text);
}

}  // namespace

command add_accuracy(CLI::App& root) {
  auto arguments = std::make_shared<accuracy_options>();
  CLI::App* parser = root.add_subcommand("accuracy", "Error and proven bound of every method, float against double");
  parser->add_option("SPEC", arguments->words, "inputs, as in 'fanin generate' (default: a standard list); or a FILE")
      ->type_name("");
  add_reading_options(*parser, arguments->input);
  parser->get_option("--count")->description(
      fmt::format("number of elements (default: {}); raw: number to read (default: all)", standard_count));
  add_number_option(*parser, "--seed", 0, arguments->seed,
                    fmt::format("start of the random numbers (default: {})", standard_seed));
  parser->add_flag("--json", arguments->json, "print a JSON list; for a FILE an object");
  parser->footer(
      R"(With a FILE the command says whether float is precise enough for these numbers. The numbers are summed as f32 and as
f64: in a plain loop, and with each method. 'digits' is the number of decimal digits that agree with the exact sum of
the numbers in the file.

How a word is understood:
  - standard input
  an input of 'fanin generate', such as uniform or condition:1e12
  otherwise a FILE, if it has a dot or a slash, or is the name of a file that exists

Examples:
  fanin accuracy
  fanin accuracy condition:1e12 uniform --count 1000000
  fanin accuracy prices.csv --column price)");
  return {parser, [arguments] { run_accuracy(*arguments); }};
}

}  // namespace fanin::cli
