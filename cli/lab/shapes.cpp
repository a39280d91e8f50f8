// SPDX-License-Identifier: Apache-2.0
// The page of `fanin lab shapes`.
#include "measure/lab/shapes.hpp"

#include <fmt/format.h>

#include "cli/lab/pages.hpp"

namespace fanin::cli::lab {

namespace {

json json_of(const fanin::lab::rate& one) { return one.verified ? json(one.gigabytes_per_second) : json(nullptr); }

}  // namespace

void fill_shapes(lab_page& page, const experiment_context& context) {
  const fanin::lab::shape_results rates = fanin::lab::measure_shapes(context.stream);
  page.facts.push_back({"rows and columns", {fanin::lab::matrix_rows, fanin::lab::matrix_columns}});
  page.columns = {{"block", "block (x, y)"},
                  {"verified", "check"},
                  {"sum_gigabytes_per_second", "a + b: GB/s", 1},
                  {"total_gigabytes_per_second", "total: GB/s", 1}};
  page.rows.push_back({{"block", "vector add"},
                       {"x", nullptr},
                       {"y", nullptr},
                       {"verified", rates.vector_add.verified},
                       {"sum_gigabytes_per_second", json_of(rates.vector_add)},
                       {"total_gigabytes_per_second", nullptr}});
  for (const fanin::lab::shape_rates& one : rates.shapes) {
    page.rows.push_back({{"block", fmt::format("({}, {})", one.x, one.y)},
                         {"x", one.x},
                         {"y", one.y},
                         {"verified", one.sum.verified && one.total.verified},
                         {"sum_gigabytes_per_second", json_of(one.sum)},
                         {"total_gigabytes_per_second", json_of(one.total)}});
  }
}

}  // namespace fanin::cli::lab
