// SPDX-License-Identifier: Apache-2.0
// The tables of operations and element types in docs/backends.md say what the catalogue says.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/catalog.hpp>
#include <fanin/request.hpp>

namespace {

using namespace fanin;

std::string methods_of(const operation_row& row) {
  if (row.selects) return "exact with every method";
  std::vector<std::string_view> names;
  for (const method how : all_methods) {
    if (row.of_floats.has(how)) names.push_back(to_string(how));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view empty_of(const operation_row& row) {
  return row.empty == empty_value::zero ? "0" : row.empty == empty_value::one ? "1" : "error";
}

std::string tables() {
  std::string text = "| operation | gives | of floats | of integers | of nothing |\n|---|---|---|---|---|\n";
  for (const operation_row& row : operation_rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, row.story, methods_of(row),
                        row.of_integers ? "exact" : "", empty_of(row));
  }
  text += "\n| element type | is | `sum` gives | `mean` gives |\n|---|---|---|---|\n";
  for (const element_type type : all_element_types) {
    const auto story = with_element(type, []<class T>() { return std::get<element_row<T>>(element_rows).story; });
    text += fmt::format("| `{}` | {} | {} | {} |\n", to_string(type), story,
                        to_string(default_result(operation::sum, type)),
                        to_string(default_result(operation::mean, type)));
  }
  return text;
}

}  // namespace

TEST_SUITE("cli/catalog_tables") {
  TEST_CASE("the document has them") {
    std::ostringstream document;
    document << std::ifstream(FANIN_DOCS "/backends.md").rdbuf();
    const std::string expected = "<!-- catalogue -->\n" + tables() + "<!-- /catalogue -->\n";
    const bool there = document.str().find(expected) != std::string::npos;
    CHECK_MESSAGE(there, "docs/backends.md lacks this text:\n" << expected);
  }
}
