// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/batch.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/batch/layouts.hpp"
#include "cli/batch/reduce_batch.hpp"
#include "cli/batch/shape.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

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

std::string printed_batch(const finished_batch& finished, std::span<const std::size_t> shape,
                          const batch_request& asked) {
  std::string lines;
  if (asked.json) {
    json members = {{"shape", shape}};
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
  const shaped_batch found = load_batch(read, index.get(), asked.many);
  finished_reduction done{.what = asked.what, .reached = {}};
  for (const source* one : read) done.inputs.push_back(described(*one));
  const std::string place = done.input() + (index == nullptr ? "" : " by " + index->name());
  const finished_batch finished = reduce_batch(std::move(done), found.many, asked.chosen, place);
  for (const source* one : all) one->finish();
  if (asked.explain) {
    explain_each(finished.done);
    write_stderr(fmt::format("results: {}, in the shape {}", finished.values.size(), shape_text(found.shape)));
  }
  if (file) finished.values.save(*file, found.shape);
  if (!file || asked.json) write_stdout(printed_batch(finished, found.shape, asked));
}

}  // namespace fanin::cli
