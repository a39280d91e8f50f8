// SPDX-License-Identifier: Apache-2.0
// fanin backends lists the backends with their variants, and the reason why a backend is not usable.
#include <memory>

#include <fmt/format.h>

#include <fanin/backend.hpp>

#include "cli/commands.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/table.hpp"

namespace fanin::cli {

namespace {

std::string as_json() {
  json all = json::array();
  for (const backend* one : backends()) {
    const availability& state = one->probe();
    json variants = json::array();
    for (const variant_info& variant : one->variants()) variants.push_back(variant.name);
    all.push_back(described({{"name", one->name()},
                             {"compiled", state.why != reason::not_compiled},
                             {"usable", state.usable()},
                             {"reason", to_string(state.why)},
                             {"detail", state.detail},
                             {"variants", variants}}));
  }
  return printed(all);
}

std::string as_text() {
  std::vector<table_row> rows = {{"backend", "compiled", "usable", "reason"}};
  std::string stories;
  for (const backend* one : backends()) {
    const availability& state = one->probe();
    rows.push_back({std::string(one->name()), state.why != reason::not_compiled ? "yes" : "no",
                    state.usable() ? "yes" : "no",
                    state.usable() ? "" : fmt::format("{}: {}", to_string(state.why), state.detail)});
    std::vector<table_row> variants;
    for (const variant_info& variant : one->variants()) {
      variants.push_back(
          {fmt::format("  {}/{}", one->name(), variant.name), std::string(to_string(variant.method)),
           std::string(variant.story) + (variant.needs.empty() ? "" : fmt::format("; needs {}", variant.needs))});
    }
    stories += align(variants, 3);
  }
  return align(rows, 4) + "\nvariants\n" + stories;
}

}  // namespace

command add_backends(CLI::App& root) {
  auto wants_json = std::make_shared<bool>(false);
  CLI::App* parser =
      root.add_subcommand("backends", "Which backends are compiled in, and why one is not usable here");
  parser->add_flag("--json", *wants_json, "print a JSON list");
  parser->footer("Examples:\n  fanin backends\n  fanin backends --json");
  return {parser, [wants_json] { write_stdout(*wants_json ? as_json() : as_text()); }};
}

}  // namespace fanin::cli
