// SPDX-License-Identifier: Apache-2.0
// Any JSON documents, apart by NUL, as results: the report throws, or every chart is well-formed in the page, as SVG
// and as CSV, whatever the names in the results contain.
#include "cli/kit/errors.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/draw.hpp"
#include "cli/report/page.hpp"
#include "tests/fuzz/markup.hpp"

using namespace fanin::cli;
using namespace fanin::fuzz;

namespace {

/// Checks that the table has one line for each row, and as many cells in each line.
void expect_table(const charts::figure& one) {
  const std::string text = charts::csv(one);
  std::size_t lines = 0, cells = 1;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++cells;
    if (c != '\n') continue;
    expect(!quoted, "a line ends outside of quotes");
    expect(cells == one.table.front().size(), "every line has a cell for each heading");
    ++lines;
    cells = 1;
  }
  expect(lines == one.table.size(), "every row has a line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, size);
  charts::results all;
  try {
    do {
      const std::string_view text = in.text_until('\0');
      json document;
      try {
        document = json::parse(text, check_depth);
      } catch (const json::exception&) {
        return 0;
      }
      all.add("fuzz", document);
    } while (!in.bytes().empty());
  } catch (const bad_data&) {  // results::add() throws nothing else.
    return 0;
  }
  const std::vector<charts::figure> figures = charts::all_figures(all);
  expect_well_formed(charts::html_page(all, figures));
  for (const charts::figure& one : figures) {
    expect_well_formed(charts::svg_file(one));
    expect_table(one);
  }
  return 0;
}
