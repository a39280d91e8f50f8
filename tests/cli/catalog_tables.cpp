// SPDX-License-Identifier: Apache-2.0
// The tables of operations and element types in docs/backends.md agree with the catalogue and with the
// backends. README.md names every operation.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/backend.hpp>
#include <fanin/catalog.hpp>

namespace {

using namespace fanin;

std::string names_of(const method_set& methods) {
  std::vector<std::string_view> names;
  for (const method how : all_methods) {
    if (methods.has(how)) names.push_back(to_string(how));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}
std::string methods_of(const operation_row& row) {
  return row.unrounded ? "exact with every method" : names_of(row.of_floats);
}

/// The front end takes integers as f64 if the operation has no arithmetic for integers.
std::string of_integers(const operation_row& row) {
  return row.of_integers ? "exact" : names_of(row.of_floats) + ", as f64";
}

std::string_view empty_of(const operation_row& row) {
  if (row.result == result_rule::truth) return row.empty == empty_value::one ? "true" : "false";
  if (row.empty == empty_value::minus_infinity) return "-inf";
  return row.empty == empty_value::zero ? "0" : row.empty == empty_value::one ? "1" : "error";
}

/// The type of the result's number for floats, and after a semicolon for integers, if there are any.
std::string result_of(const operation_row& row) {
  const auto of = [&](element_type type) { return std::string(to_string(default_result(row.what, type))); };
  if (row.result == result_rule::truth) return "bool";
  if (row.result == result_rule::count) return "u64";
  const std::string pair = row.form == result_form::number    ? ""
                           : row.form == result_form::indexed ? ", u64"
                                                              : ", twice";
  if (row.result == result_rule::element) return "its type" + pair;
  const std::string at_least = row.result == result_rule::magnitude ? "" : ", at least f32";
  if (!row.of_integers) return "its type" + at_least;
  if (row.result == result_rule::widened || row.result == result_rule::length)
    return "its type" + at_least + "; i64 or u64";
  return "its type" + at_least + "; " + of(element_type::i32);
}

std::string tables() {
  std::string text =
      "| operation | gives | result | of floats | of complex numbers | of integers | of nothing "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const operation_row& row : operation_rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.name, row.story, result_of(row),
                        methods_of(row), names_of(row.of_complex), of_integers(row), empty_of(row));
  }
  text += "\n| element type | is | `sum` gives | `mean` gives |\n|---|---|---|---|\n";
  for (const element_type type : all_element_types) {
    const auto story =
        with_element(type, []<class T>() { return static_cast<const element_row<T>&>(element_rows).story; });
    text += fmt::format("| `{}` | {} | {} | {} |\n", to_string(type), story,
                        to_string(default_result(operation::sum, type)),
                        to_string(default_result(operation::mean, type)));
  }
  return text;
}

/// Whether the backend has that reduction, usable or not.
bool has(const backend& b, operation what, element_type type, method how) {
  const request wanted{what, detail::repeated(what, array_view(nullptr, 0, type)), how, default_result(what, type)};
  return b.supports(wanted).why != reason::unsupported;
}

/// The share of the catalogue that the backend has for these types: everything, some methods of all types, or
/// nothing.
template <class Holds>
std::string share_of(const backend& b, operation what, Holds holds) {
  bool everything = true, anything = false;
  std::vector<std::string_view> names;
  for (const method how : all_methods) {
    bool offered = false, every_type = true;
    for (const element_type type : all_element_types) {
      if (!holds(type) || !is_offered(what, type, how)) continue;
      offered = true;
      every_type = every_type && has(b, what, type, how);
    }
    if (offered && every_type) names.push_back(to_string(how));
    everything = everything && every_type;
    anything = anything || offered;
  }
  if (!anything) return "";
  return everything ? "all" : names.empty() ? "no" : fmt::format("{}", fmt::join(names, ", "));
}

/// Which backends have what, by columns of backends and types.
std::string shares() {
  struct column {
    std::string_view backends, types;
    bool (*holds)(element_type);
  };
  constexpr column columns[] = {
      {"serial openmp tbb", "every type", [](element_type) { return true; }},
      {"cuda", "floats, complex", [](element_type t) { return !is_integer(t); }},
      {"cuda", "integers", is_integer},
      {"cub thrust", "f32, f64", [](element_type t) { return t == element_type::f32 || t == element_type::f64; }},
      {"cub", "bf16", [](element_type t) { return t == element_type::bf16; }},
      {"cub thrust", "i32, i64", [](element_type t) { return t == element_type::i32 || t == element_type::i64; }},
  };
  std::string text = "| operation | methods for floats | complex numbers | integers |", rule = "|---|---|---|---|";
  for (const column& one : columns) {
    text += fmt::format(" {}: {} |", one.backends, one.types);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const operation_row& row : operation_rows) {
    text +=
        fmt::format("| `{}` | {} | {} | {} |", row.name, methods_of(row), names_of(row.of_complex), of_integers(row));
    for (const column& one : columns) {
      std::string share;
      std::istringstream names{std::string(one.backends)};
      for (std::string name; names >> name;) {
        const std::string found = share_of(find_backend(name), row.what, one.holds);
        share = share.empty() || share == found ? found : "various";
      }
      text += " " + share + " |";
    }
    text += "\n";
  }
  return text;
}

bool all_built() {
  return std::ranges::all_of(backends(), [](const backend* one) { return one->probe().why != reason::not_compiled; });
}

bool is_in(const std::string& path, const std::string& expected) {
  std::ostringstream document;
  document << std::ifstream(path).rdbuf();
  return document.str().find(expected) != std::string::npos;
}

void check_has(const std::string& path, const std::string& marker, const std::string& table) {
  const std::string expected = "<!-- " + marker + " -->\n" + table + "<!-- /" + marker + " -->\n";
  const bool there = is_in(path, expected);
  CHECK_MESSAGE(there, path << " lacks this text:\n" << expected);
}

}  // namespace

TEST_SUITE("cli/catalog_tables") {
  TEST_CASE("the documents have them") {
    check_has(FANIN_DOCS "/backends.md", "catalogue", tables());
    if (all_built()) check_has(FANIN_DOCS "/backends.md", "operations", shares());
    for (const operation_row& row : operation_rows) {
      CAPTURE(row.name);
      CHECK(is_in(FANIN_DOCS "/../README.md", fmt::format("`{}`", row.name)));
    }
  }

  TEST_CASE("cub and thrust have the element types that comparisons need, and no other") {
    if (!all_built()) return;
    using enum element_type;
    for (const std::string_view name : {"cub", "thrust"}) {
      std::vector<element_type> wanted{f32, f64, i32, i64}, found;
      if (name == "cub") wanted.push_back(bf16);
      for (const element_type type : all_element_types) {
        const auto is_had = [&](operation what) {
          return std::ranges::any_of(all_methods,
                                     [&](method how) { return has(find_backend(name), what, type, how); });
        };
        if (std::ranges::any_of(all_operations, is_had)) found.push_back(type);
      }
      CAPTURE(name);
      CHECK(found == wanted);
    }
  }
}
