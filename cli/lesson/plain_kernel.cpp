// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/plain_kernel.hpp"

#include <utility>

namespace fanin::cli {

namespace {

void replace_all(std::string& line, std::string_view old, std::string_view with) {
  for (std::size_t at = 0; (at = line.find(old, at)) != line.npos; at += with.size()) {
    line.replace(at, old.size(), with);
  }
}

/// The place of the bracket that ends the group in which `at` lies, or of the comma before it if `at_comma`.
std::size_t end_of_group(std::string_view line, std::size_t at, bool at_comma) {
  for (int depth = 0; at < line.size(); ++at) {
    if (depth == 0 && (line[at] == ')' || (at_comma && line[at] == ','))) return at;
    if (line[at] == '(' || line[at] == '[') ++depth;
    if (line[at] == ')' || line[at] == ']') --depth;
  }
  return at;
}

/// Writes `call`(x, y) as x += y.
void add_plainly(std::string& line, std::string_view call) {
  for (std::size_t at = 0; (at = line.find(call, at)) != line.npos;) {
    const std::size_t x = at + call.size(), comma = end_of_group(line, x, true),
                      end = end_of_group(line, comma, false);
    const std::string plain =
        line.substr(x, comma - x) + " +=" + line.substr(comma + 1, end - comma - 1);  // A space follows the comma.
    line.replace(at, end + 1 - at, plain);
  }
}

std::string without_bounds(std::string line) {
  constexpr std::string_view bounds = "__launch_bounds__(";
  const std::size_t at = line.find(bounds);
  if (at != line.npos) line.erase(at, end_of_group(line, at + bounds.size(), false) + 2 - at);
  return line;
}

}  // namespace

std::optional<std::string> plain_line(std::string_view source, const plain_types& types) {
  if (source == "template <class A>" || source.find("stopwatch watch(") != source.npos ||
      source.find("watch.stop()") != source.npos) {
    return {};
  }
  const std::pair<std::string_view, std::string_view> names[] = {{"template <class A, ", "template <"},
                                                                 {"typename A::state", types.sum},
                                                                 {"typename A::element", types.element},
                                                                 {"A::identity()", types.zero},
                                                                 {"<A>", ""},
                                                                 {"<A, ", "<"},
                                                                 {", watch, ", ", "},
                                                                 {"const stopwatch& watch, ", ""},
                                                                 {"most_threads", "1024"}};
  std::string line = without_bounds(std::string(source));
  for (const auto& [old, with] : names) replace_all(line, old, with);
  add_plainly(line, "A::merge(");
  add_plainly(line, "A::add(");
  return line;
}

}  // namespace fanin::cli
