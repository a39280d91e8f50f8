// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/reduce_batch.hpp"

#include <chrono>

#include <fmt/format.h>

#include "cli/batch/layouts.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

void warn_of_rounding(std::span<const finished_batch> all) {
  std::vector<finished_reduction> reductions;
  for (const finished_batch& one : all) reductions.push_back(one.done);
  warn_of_rounding(reductions);
}

finished_batch reduce_batch(finished_reduction begun, const batch& many, const options& chosen,
                            const std::string& place) {
  const bool infers_types = begun.inputs.front().infers_types;
  const operation what = begun.what;
  const auto result_type = [&](element_type type) { return chosen.result.value_or(default_result(what, type)); };
  // What is wrong with the options is not the input's fault.
  const auto check = [&](element_type type) {
    batch none = without_results(many);
    if (none.inputs.type() != type) none.inputs = array_view(many.inputs[0].data, 0, type);
    reduce(what, none, value_list(what, result_type(type), 0).view(), chosen);
  };
  const element_type type = supported_type(many.inputs.type(), infers_types, check);
  const element_type result = result_type(type);
  element_forms forms(many.inputs[0]);
  batch converted = many;
  if (infers_types) converted.inputs = forms.as(type);
  begun.type = type;
  if (is_integer(type)) begun.rounded = {};
  const progress line(fmt::format("{} of {}", to_string(what), begun.input()));
  const auto start = std::chrono::steady_clock::now();
  finished_batch all{std::move(begun), value_list(what, result, many.result_count)};
  all.done.count = many.inputs.count();
  all.done.reached.report = with_input_name(
      place, [&] { return reduce(what, converted, all.values.view(), chosen); }, all.done.overflow_advice());
  all.done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return all;
}

}  // namespace fanin::cli
