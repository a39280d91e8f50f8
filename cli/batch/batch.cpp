// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/batch.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/batch/elements.hpp"
#include "cli/batch/layouts.hpp"
#include "cli/batch/reduce_batch.hpp"
#include "cli/batch/shape.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

void check_batch(const batch_request& asked) {
  for (const input_options& one : asked.inputs) check_index_path(asked.many, one.path);
  for (const statistic& what : asked.statistics) {
    if (static_cast<std::size_t>(row_of(what.like).inputs) == asked.inputs.size()) continue;
    throw usage_error(fmt::format("{0} reads two inputs; 'fanin {0} FILE OTHER' computes it", what.name));
  }
  if (asked.many.output.empty()) return;
  if (asked.statistics.size() > 1) {
    throw usage_error(
        fmt::format("--output takes one operation, not {}; write a file for each", asked.statistics.size()));
  }
  if (row_of(asked.statistics[0].like).form == result_form::extremes) {
    throw usage_error(
        fmt::format("--output cannot write the two numbers of {}; write min and max, each to its own file",
                    asked.statistics[0].name));
  }
}

// Opens the inputs. None of them is the output.
std::vector<std::unique_ptr<source>> open_inputs(const batch_request& asked) {
  std::vector<std::unique_ptr<source>> inputs;
  for (const input_options& one : asked.inputs) {
    inputs.push_back(std::make_unique<source>(one));
    inputs.back()->require_one_column(asked.many.name());
  }
  if (inputs.size() == 2) require_same_type(*inputs[0], *inputs[1]);
  return inputs;
}

/// Finds the lines of indexed results of text.
void find_lines(finished_batch& one, const source& input, const batch& many) {
  if (!has_index(one.done.what) || input.lines() == nullptr) return;
  lines_of_inputs lines;
  lines.add(input);
  batch_elements elements(many);
  one.find(lines, [&](std::size_t i, std::uint64_t index) -> std::optional<std::uint64_t> {
    if (many.kind == layout::groups) return index;
    static_cast<void>(elements.of(i));
    return index < elements.places().size() ? std::optional<std::uint64_t>(elements.places()[index]) : std::nullopt;
  });
}

std::string printed_json(const std::vector<finished_batch>& all, std::span<const std::size_t> shape,
                         const batch_request& asked) {
  json objects = json::array();
  for (const finished_batch& one : all) {
    json members = {{"shape", shape}};
    members.update(asked.many.output.empty() ? one.members() : json{{"output", asked.many.output}});
    if (asked.many.output.empty() && one.found) {
      json& lines = members["lines"] = json::array();
      for (const auto& at : *one.found) lines.push_back(at ? json(at->line) : json());
    }
    objects.push_back(to_json(one.done, members));
  }
  return printed(asked.joint ? objects : objects[0]);
}

std::string lines_of(const std::vector<finished_batch>& all) {
  std::string lines;
  for (std::size_t i = 0; i < all[0].values.size(); ++i) {
    for (const finished_batch& one : all) {
      std::vector<std::string> fields = one.fields(i);
      if (fields.size() > 2) fields[2] = fields[2].empty() ? "" : "line " + fields[2];
      lines += fmt::format("{} ", fmt::join(fields, " "));
    }
    lines.back() = '\n';
  }
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
      if (one->is_file(output))
        throw usage_error(fmt::format("{}: --output would replace the input; choose another name", output));
    }
    file.emplace(output, asked.force);  // Created before the reduction, so that a bad path fails early.
    if (file->is_stdout() && asked.json) throw usage_error("--json and --output both write to standard output");
  }
  const shaped_batch found = load_batch(read, index.get(), asked.many);
  std::vector<finished_reduction> begun;
  for (const statistic& what : asked.statistics) {
    finished_reduction done{.what = what, .inputs = {}, .reached = {}};
    for (const source* one : read) {
      done.inputs.push_back(described(*one));
      done.rounded += one->columns()[0].rounded;
    }
    begun.push_back(std::move(done));
  }
  const std::string place = begun[0].input() + (index == nullptr ? "" : " by " + index->name());
  std::vector<finished_batch> finished = reduce_batch(std::move(begun), found.many, asked.chosen, place);
  for (finished_batch& one : finished) {
    find_lines(one, *read[0], found.many);
    if (!asked.explain) continue;
    explain_each(one.done);
    write_stderr(fmt::format("results: {}, in the shape {}", one.values.size(), shape_text(found.shape)));
  }
  warn_of_rounding(finished);
  for (source* one : all) one->finish();
  std::vector<std::string> problems;
  for (const finished_batch& one : finished) {
    problems.push_back(one.overflow_problem([](std::size_t i) { return fmt::format("result {}", i); }));
  }
  if (file || std::ranges::none_of(finished, &finished_batch::has_any)) throw_problems(problems);
  if (file) finished[0].values.save(*file, found.shape);
  if (!file || asked.json) write_stdout(asked.json ? printed_json(finished, found.shape, asked) : lines_of(finished));
  throw_problems(problems);
}

}  // namespace fanin::cli
