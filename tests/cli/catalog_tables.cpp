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
  if (row.unrounded) return "exact with every method";
  std::vector<std::string_view> names;
  for (const method how : all_methods) {
    if (row.of_floats.has(how)) names.push_back(to_string(how));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view empty_of(const operation_row& row) {
  if (row.result == result_rule::truth) return row.empty == empty_value::one ? "true" : "false";
  return row.empty == empty_value::zero ? "0" : row.empty == empty_value::one ? "1" : "error";
}

/// The type of the result's number for floats of 32 bits, and after a semicolon for integers, if there are any.
std::string result_of(const operation_row& row) {
  const auto of = [&](element_type type) { return std::string(to_string(default_result(row.what, type))); };
  if (row.result == result_rule::truth) return "bool";
  if (row.result == result_rule::count) return "u64";
  const std::string pair = row.form == result_form::number    ? ""
                           : row.form == result_form::indexed ? ", u64"
                                                              : ", twice";
  if (row.result == result_rule::element) return "its type" + pair;
  if (!row.of_integers) return "its type";
  if (row.result == result_rule::widened) return "its type; i64 or u64";
  return "its type; " + of(element_type::i32);
}

std::string tables() {
  std::string text =
      "| operation | gives | result | of floats | of integers | of nothing |\n|---|---|---|---|---|---|\n";
  for (const operation_row& row : operation_rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, row.story, result_of(row), methods_of(row),
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
