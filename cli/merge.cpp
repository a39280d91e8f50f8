// fanin merge: the sum of everything that went into several saved states.
#include <memory>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/exact_state.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

struct merge_options {
  std::vector<std::string> files;
  std::string result, save_state;
  bool json = false;
};

void run_merge(const merge_options& said) {
  constexpr element_type types[] = {element_type::f32, element_type::f64};
  exact_state all = exact_state::load(said.files.front());
  for (std::size_t i = 1; i < said.files.size(); ++i) {
    const exact_state part = exact_state::load(said.files[i]);
    if (part.type() != all.type()) {
      throw bad_data(fmt::format("{}: a sum of {} elements; {} has one of {}", one_line(said.files[i]),
                                 to_string(part.type()), one_line(said.files.front()), to_string(all.type())));
    }
    all.merge(part);
  }
  const element_type type =
      said.result.empty() ? all.type() : parse_choice<element_type>("result type", said.result, types);
  const scalar sum = all.rounded(type);
  if (!said.save_state.empty()) {
    output_file file(said.save_state);
    all.save(file);
  }
  const json whole = {{"operation", "sum"},
                      {"element_type", to_string(all.type())},
                      {"states", said.files.size()},
                      {"value", json_number(sum)},
                      {"value_text", value_text(sum)},
                      {"value_hex", value_hex(sum)},
                      {"method", "exact"},
                      {"reproducibility", "exact"}};
  write_stdout(said.json ? printed(whole) : value_text(sum) + "\n");
}

}  // namespace

command add_merge(CLI::App& root) {
  auto said = std::make_shared<merge_options>();
  CLI::App* parser = root.add_subcommand("merge", "Exact sum of what went into several saved states");
  parser->add_option("STATE", said->files, "files that 'fanin sum --save-state' wrote")->type_name("")->required();
  parser->add_option("--result", said->result, "type of the value: f32 or f64 (default: the elements')")
      ->type_name("TYPE");
  parser->add_option("--save-state", said->save_state, "also write the merged state")->type_name("FILE");
  parser->add_flag("--json", said->json, "print one JSON object");
  parser->footer(
      "The value has the bits that 'fanin sum --method exact' gives for all the elements at once, whatever the "
      "order\n"
      "of the files and the machines that wrote them.\n\n"
      "Examples:\n  fanin sum --method exact --save-state part1.fanin data1.npy\n  fanin merge part*.fanin");
  return {parser, [said] { run_merge(*said); }};
}

}  // namespace fanin::cli
