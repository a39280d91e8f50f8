// SPDX-License-Identifier: Apache-2.0
// fanin merge adds the exact sums of several saved states.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fanin/accumulator/bounds.hpp>

#include "cli/commands.hpp"
#include "cli/exact_state.hpp"
#include "cli/input/byte_reader.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

struct merge_options {
  std::vector<std::string> files;
  std::string operation = "sum", result, save_state;
  bool force = false;  ///< replace the file `save_state`
  bool json = false;
};

void run_merge(const merge_options& arguments) {
  constexpr element_type types[] = {element_type::f32, element_type::f64};
  const auto what = parse_choice<operation>("operation of saved states", arguments.operation, state_operations());
  check_state_path(arguments.save_state);
  if (std::ranges::count(arguments.files, "-") > 1) throw usage_error("standard input is named twice");
  std::optional<output_file> file;
  if (!arguments.save_state.empty()) file.emplace(arguments.save_state, arguments.force);
  exact_state all = exact_state::load(arguments.files.front());
  for (std::size_t i = 1; i < arguments.files.size(); ++i) {
    const exact_state part = exact_state::load(arguments.files[i]);
    if (part.type() != all.type()) {
      throw bad_data(fmt::format("{}: this is a sum of {} elements, but {} is a sum of {} elements",
                                 input_name(arguments.files[i]), to_string(part.type()),
                                 input_name(arguments.files.front()), to_string(all.type())));
    }
    all.merge(part);
  }
  const element_type type =
      arguments.result.empty() ? all.type() : parse_choice<element_type>("result type", arguments.result, types);
  const scalar value = all.rounded(what, type);
  const auto count = all.count();
  using namespace accumulator;
  const error_bound bound = type == element_type::f32 ? rounded_bound<float>() : rounded_bound<double>();
  if (file) all.save(*file);
  const json whole =
      described({{"operation", to_string(what)},
                 {"element_type", to_string(all.type())},
                 {"states", arguments.files.size()},
                 {"count", count ? json(*count) : json(nullptr)},
                 {"value", json_value(value).at("value")},
                 {"value_text", value_text(value)},
                 {"value_hex", value_hex(value)},
                 {"method", "exact"},
                 {"bound", bound_json(bound, "the states are of the numbers as read, which a state does not tell")},
                 {"reproducibility", "exact"}});
  write_stdout(arguments.json ? printed(whole) : value_text(value) + "\n");
}

}  // namespace

command add_merge(CLI::App& root) {
  auto arguments = std::make_shared<merge_options>();
  CLI::App* parser = root.add_subcommand("merge", "Exact sum or mean of all elements in several saved states");
  parser
      ->add_option("STATE", arguments->files,
                   "files that --save-state of 'fanin sum' or 'mean' wrote; - is standard input")
      ->type_name("")
      ->required();
  parser
      ->add_option("--operation", arguments->operation,
                   fmt::format("{}", fmt::join(names_of(state_operations()), " or ")))
      ->type_name("OPERATION")
      ->capture_default_str();
  parser
      ->add_option("--result", arguments->result, "type of the value: f32 or f64 (default: the type of the elements)")
      ->type_name("TYPE");
  CLI::Option* save =
      parser->add_option("--save-state", arguments->save_state, "also write the merged state")->type_name("FILE");
  parser->add_flag("--force", arguments->force, "replace the file of --save-state if it exists")->needs(save);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  parser->footer(
      R"(The value has the same bits as 'fanin sum --method exact' (or 'mean') of all the elements at once. Neither
the order of the files nor the machines that wrote them make a difference.

Examples:
  fanin sum --method exact --save-state part1.fanin data1.npy
  fanin merge part*.fanin)");
  return {parser, [arguments] { run_merge(*arguments); }};
}

}  // namespace fanin::cli
