// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/reduce_batch.hpp"

#include <chrono>

#include <fmt/format.h>

#include "cli/batch/layouts.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"

namespace fanin::cli {

finished_batch reduce_batch(finished_reduction begun, const batch& many, const options& chosen,
                            const std::string& place) {
  const operation what = begun.what;
  const element_type type = many.inputs.type();
  const options with_method = with_default_method(what, type, chosen);
  const element_type result = chosen.result.value_or(default_result(what, type));
  // What is wrong with the options is not the input's fault.
  reduce(what, without_results(many), value_list(what, result, 0).view(), with_method);
  const progress line(fmt::format("{} of {}", to_string(what), begun.input()));
  const auto start = std::chrono::steady_clock::now();
  finished_batch all{std::move(begun), value_list(what, result, many.result_count)};
  all.done.count = many.inputs.count();
  all.done.reached.report =
      with_input_name(place, [&] { return reduce(what, many, all.values.view(), with_method); });
  all.done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return all;
}

}  // namespace fanin::cli
