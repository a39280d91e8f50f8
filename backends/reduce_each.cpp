// SPDX-License-Identifier: Apache-2.0
// Several operations of one batch.
#include <string>
#include <utility>

#include <fanin/fanin.hpp>

#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/doubles.hpp"
#include "backends/fallback.hpp"

namespace fanin {
namespace {

/// Reduces by operations that read the elements as they are. The backend is chosen for the first operation.
std::vector<report> reduce_as_they_are(std::span<const operation> what, const batch& many,
                                       std::span<const results_view> out, const options& chosen) {
  const auto choose_for = [&](std::size_t i, std::string_view backend, std::span<const passed_over> failed) {
    options own = chosen;
    own.backend = backend;
    own.result = out[i].type;
    return choose(what[i], many.inputs, own, failed, many.kind);
  };
  const auto run = [&](selection& first) {
    std::vector<request> asked{first.what};
    for (std::size_t i = 1; i < what.size(); ++i) asked.push_back(choose_for(i, first.chosen->name(), {}).what);
    const std::vector<outcome> done = first.chosen->reduce_jointly(asked, many, out);
    std::vector<report> reports;
    for (const outcome& one : done) reports.emplace_back(first.chosen->name(), one, first.fallback);
    return reports;
  };
  return with_fallback([&](std::span<const passed_over> failed) { return choose_for(0, chosen.backend, failed); },
                       run, [&] { return leaves_choice(chosen, many.inputs.place()); });
}

}  // namespace

std::vector<report> reduce_each(std::span<const operation> what, const batch& many, std::span<const results_view> out,
                                const options& chosen) {
  check_operations(what, out);
  for (std::size_t i = 0; i < what.size(); ++i) check_batch(what[i], many, out[i], chosen.result);
  return translate_bad_alloc([&] {
    std::vector<report> reports(what.size());
    std::vector<operation> together;
    std::vector<results_view> results;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < what.size(); ++i) {
      if (is_taken_as_f64(what[i], many.inputs.type(), many.inputs.place())) {
        reports[i] = reduce(what[i], many, out[i], chosen);
      } else {
        together.push_back(what[i]);
        results.push_back(out[i]);
        places.push_back(i);
      }
    }
    if (together.empty()) return reports;
    std::vector<report> joint = reduce_as_they_are(together, many, results, chosen);
    for (std::size_t k = 0; k < places.size(); ++k) reports[places[k]] = std::move(joint[k]);
    return reports;
  });
}

}  // namespace fanin
