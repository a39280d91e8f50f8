// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/batch.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/batch/layouts.hpp"
#include "cli/batch/shape.hpp"
#include "cli/batch/value_list.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

struct finished_batch {
  finished_reduction done;  ///< without a value
  value_list values;
  std::vector<std::size_t> shape;
};

void check_batch(const batch_request& asked) {
  if (skips_missing(asked.inputs[0])) {
    throw usage_error(fmt::format("{} goes by the place of each element, and --missing skip leaves elements out",
                                  asked.many.name()));
  }
  if (!asked.many.output.empty() && row_of(asked.what).form == result_form::extremes) {
    throw usage_error(fmt::format("--output writes one number for each result, and {} has two; write min and max",
                                  to_string(asked.what)));
  }
}

// The inputs, of which none is the output.
std::vector<std::unique_ptr<source>> open_inputs(const batch_request& asked) {
  std::vector<std::unique_ptr<source>> inputs;
  for (const input_options& one : asked.inputs) {
    inputs.push_back(std::make_unique<source>(one));
    inputs.back()->require_one_column(asked.many.name());
  }
  if (inputs.size() == 2) require_same_type(described(*inputs[0]), *inputs[1]);
  return inputs;
}

finished_batch reduce_batch(const batch_request& asked, std::span<source* const> inputs, source* index) {
  std::vector<read_input> read;
  for (const source* one : inputs) read.push_back(described(*one));
  finished_reduction done{.what = asked.what, .inputs = std::move(read), .reached = {}};
  const progress line(fmt::format("{} of {}", to_string(asked.what), done.input()));
  const auto start = std::chrono::steady_clock::now();
  const shaped_batch found = load_batch(inputs, index, asked.many);
  const element_type type = found.many.inputs.type();
  const options chosen = with_default_method(asked.what, type, asked.chosen);
  const element_type result = chosen.result.value_or(default_result(asked.what, type));
  // What is wrong with the options is not the input's fault.
  reduce(asked.what, without_results(found.many), value_list(asked.what, result, 0).view(), chosen);
  value_list values(asked.what, result, found.many.result_count);
  done.count = found.many.inputs.count();
  const std::string place = done.input() + (index == nullptr ? "" : " by " + index->name());
  done.reached.report = with_input_name(place, [&] { return reduce(asked.what, found.many, values.view(), chosen); });
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {std::move(done), std::move(values), found.shape};
}

std::string printed_batch(const finished_batch& finished, const batch_request& asked) {
  std::string lines;
  if (asked.json) {
    json members = {{"shape", finished.shape}};
    members.update(asked.many.output.empty() ? finished.values.members() : json{{"output", asked.many.output}});
    return printed(to_json(finished.done, members));
  }
  for (std::size_t i = 0; i < finished.values.size(); ++i) lines += value_of(asked.what, finished.values[i]) + "\n";
  return lines;
}

}  // namespace

void run_batch(const batch_request& asked) {
  check_batch(asked);
  const std::unique_ptr<source> index = open_index(asked.many);
  const std::vector<std::unique_ptr<source>> inputs = open_inputs(asked);
  std::vector<source*> read;
  for (const auto& one : inputs) read.push_back(one.get());
  std::vector<source*> all = read;
  if (index) all.push_back(index.get());
  const std::string& output = asked.many.output;
  std::optional<output_file> file;
  if (!output.empty()) {
    for (const source* one : all) {
      if (one->is_file(output)) throw usage_error(fmt::format("{}: is the input; --output would replace it", output));
    }
    file.emplace(output, asked.force);  // Created before the reduction, so that a bad path fails early.
    if (file->is_stdout() && asked.json) throw usage_error("--json and --output both write to standard output");
  }
  const finished_batch finished = reduce_batch(asked, read, index.get());
  for (const source* one : all) one->finish();
  if (asked.explain) {
    explain_each(finished.done);
    write_stderr(fmt::format("results: {}, in the shape {}", finished.values.size(), shape_text(finished.shape)));
  }
  if (file) finished.values.save(*file, finished.shape);
  if (!file || asked.json) write_stdout(printed_batch(finished, asked));
}

}  // namespace fanin::cli
