// SPDX-License-Identifier: Apache-2.0
// fanin generate writes input data with known properties, as .npy or as raw numbers.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/backend.hpp>

#include "cli/commands.hpp"
#include "cli/input/npy.hpp"
#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "oracle/complex_truth.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/families.hpp"

namespace fanin::cli {

namespace {

constexpr std::string_view written_formats[] = {"npy", "raw"};

struct generate_options {
  std::string spec, type = "f64", format, output;
  std::uint64_t count = 1000, seed = 1;
  bool force = false;
};

bool writes_raw(const generate_options& arguments) {
  if (arguments.format.empty()) return format_of_name(arguments.output) == "raw";
  if (std::ranges::find(written_formats, arguments.format) == std::end(written_formats)) {
    throw usage_error(fmt::format("unknown format '{}'; there are {}", printable(arguments.format),
                                  fmt::join(written_formats, ", ")));
  }
  return arguments.format == "raw";
}

template <element T>
void write_family(const generate_options& arguments, bool raw) {
  output_file file(arguments.output, arguments.force);  // Created before the numbers, so that a bad path fails early.
  progress line("generating " + arguments.spec);
  const std::vector<T> x = oracle::generate<T>(arguments.spec, arguments.count, arguments.seed);
  const std::string header = raw ? "" : write_npy_header(type_of<T>, x.size());
  file.write(std::as_bytes(std::span(header)));
  file.write(std::as_bytes(std::span(x)));

  const array_view elements{std::span<const T>(x)};
  const scalar sum = is_complex(elements.type)
                         ? oracle::complex_truth(operation::sum, elements).rounded()
                         : oracle::exact_sum(elements, default_threads()).rounded(element_type::f64);
  file.commit();
  line.end();
  const std::string what =
      fmt::format("{}: {} of {}", one_line(arguments.output), counted(x.size(), "element"), to_string(type_of<T>));
  const std::string total =
      fmt::format("exact sum, rounded to {}: {}  {}", to_string(sum.type()), value_text(sum), value_hex(sum));
  if (!file.is_stdout()) return write_stdout(fmt::format("{}\n{}\n", what, total));
  write_stderr(what);
  write_stderr(total);
}

void run_generate(const generate_options& arguments) {
  const bool raw = writes_raw(arguments);
  with_element(parse_choice<element_type>("element type", arguments.type, all_element_types),
               [&]<class T>() { write_family<T>(arguments, raw); });
}

std::string list_of_families() {
  std::string text = "Inputs:\n";
  for (const oracle::family& one : oracle::families()) {
    text += fmt::format("  {:<15} {}\n", one.name, one.story);
    if (!one.parameter.empty()) text += fmt::format("  {:<15} {}:NUMBER gives {}\n", "", one.name, one.parameter);
  }
  return text +
         "\nExamples:\n"
         "  fanin generate uniform --count 1e6 --type f32 --output x.npy\n"
         "  fanin generate wide --type bf16 --output x.bin && fanin sum x.bin --type bf16\n"
         "  fanin generate condition:1e20 --seed 7 --output - | fanin compare -";
}

}  // namespace

command add_generate(CLI::App& root) {
  auto arguments = std::make_shared<generate_options>();
  CLI::App* parser = root.add_subcommand("generate", "Write an input whose exact sum is known, and print the sum");
  parser->add_option("SPEC", arguments->spec, "one of the inputs below")->type_name("")->required();
  parser->add_option("--output,-o", arguments->output, "the file to write; - is standard output")
      ->type_name("FILE")
      ->required();
  parser->add_flag("--force", arguments->force, "replace the file if it exists");
  add_number_option(*parser, "--count", 0, arguments->count, "number of elements");
  parser->add_option("--type", arguments->type, fmt::format("{}", fmt::join(names_of(all_element_types), " ")))
      ->type_name("TYPE")
      ->capture_default_str();
  parser->add_option("--format", arguments->format, "npy or raw (default: raw for .bin and .raw, else npy)")
      ->type_name("FORMAT");
  add_number_option(*parser, "--seed", 0, arguments->seed, "start of the random numbers");
  parser->footer(list_of_families());
  return {parser, [arguments] { run_generate(*arguments); }};
}

}  // namespace fanin::cli
