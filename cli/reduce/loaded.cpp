// SPDX-License-Identifier: Apache-2.0
#include "cli/reduce/loaded.hpp"

#include <chrono>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

namespace {

/// What is wrong with the options is not the input's fault. Plans refuse options::bound, which belongs to one call.
void check_options(operation what, element_type type, options chosen, std::uint64_t count) {
  chosen.bound = false;
  (void)plan(what, type, chosen, count);
}

}  // namespace

finished_reduction reduce_loaded(operation what, const input_views& views, const options& chosen,
                                 finished_reduction done) {
  const progress line(fmt::format("{} of {}", to_string(what), done.input()));
  const auto start = std::chrono::steady_clock::now();
  check_options(what, views.type(), chosen, views.count());
  done.type = views.type();
  done.count = views.count();
  reach(done, [&] { return reduce(what, views, chosen); });
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return done;
}

namespace {

/// `own` has the elements.
finished_reduction reduce_own(const statistic& what, const array_view& values, own_statistics& own,
                              const options& chosen, finished_reduction done) {
  what.check_own(values.type, chosen);
  const auto start = std::chrono::steady_clock::now();
  done.type = values.type;
  done.count = values.count;
  reach(done, [&] { return own(what); });
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return done;
}

}  // namespace

std::vector<finished_reduction> reduce_columns(std::span<const statistic> statistics, source& input,
                                               const options& chosen, exact_state* state) {
  std::vector<finished_reduction> all;
  lines_of_inputs lines;
  for (std::size_t i = 0; i < input.columns().size(); ++i) {
    const array_view values = input.load(i);
    if (i == 0) lines.add(input);
    element_forms forms(values);
    const input_column& column = input.columns()[i];
    if (!column.has_numbers) continue;
    own_statistics own(statistics, chosen.nan);
    own.push(values);
    for (const statistic& what : statistics) {
      finished_reduction begun{.what = what,
                               .inputs = {described(input)},
                               .column = column.name,
                               .missing = column.missing,
                               .reached = {}};
      if (what.is_own()) {
        begun.rounded = column.rounded_as(values.type);
        all.push_back(reduce_own(what, values, own, chosen, std::move(begun)));
        continue;
      }
      const auto check = [&](element_type type) {
        check_inferred(what.like, type, input.infers_types());
        check_options(what.like, type, chosen, values.count);
      };
      const element_type type = supported_type(values.type, input.infers_types(), check);
      begun.rounded = column.rounded_as(type);
      all.push_back(reduce_loaded(what.like, forms.as(type), chosen, std::move(begun)));
      if (const auto index = index_of(all.back().reached.value)) all.back().found = lines.place_of(*index);
    }
    if (state != nullptr) state->add(values);
  }
  input.finish();
  return all;
}

}  // namespace fanin::cli
