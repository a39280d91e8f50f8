// SPDX-License-Identifier: Apache-2.0
// The page of `fanin lab divergence`.
#include "measure/lab/divergence.hpp"

#include "cli/lab/pages.hpp"

namespace fanin::cli::lab {

namespace {

/// Interprets the ratio of the two times. A warp that diverges executes both sides of the branch, one after the
/// other.
std::string_view sentence(const fanin::lab::divergence& one) {
  if (one.ratio < 1.1) {
    return one.version == "constants" ? "nothing is lost: the compiler has made one selection of both sides, and no "
                                        "branch is left to diverge"
                                      : "nothing is lost: memory takes longer than both sides of the branch";
  }
  return "each warp goes through both sides of the branch, one after the other, with half of its threads idle";
}

}  // namespace

void fill_divergence(lab_page& page, const experiment_context& context) {
  page.columns = {{"sides", "sides"},
                  {"verified", "check"},
                  {"by_thread_seconds", "by thread: us", 1, 1e6},
                  {"by_warp_seconds", "by warp: us", 1, 1e6},
                  {"ratio", "ratio", 2}};
  for (const fanin::lab::divergence& one : fanin::lab::measure_divergence(context.stream)) {
    const auto if_right = [&](double value) { return one.verified ? json(value) : json(nullptr); };
    page.rows.push_back({{"sides", one.version},
                         {"verified", one.verified},
                         {"by_thread_seconds", if_right(one.by_thread_seconds)},
                         {"by_warp_seconds", if_right(one.by_warp_seconds)},
                         {"ratio", if_right(one.ratio)},
                         {"says", one.verified ? json(sentence(one)) : json(nullptr)}});
  }
}

}  // namespace fanin::cli::lab
