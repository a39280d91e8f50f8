// SPDX-License-Identifier: Apache-2.0
// fanin ladder checks and times the CUDA stages in order.
#include "cli/ladder/ladder.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/cuda/stages/ladder.hpp"
#include "cli/commands.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/share.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/terminal.hpp"
#include "cli/kit/text.hpp"
#include "cli/lesson/options.hpp"

namespace fanin::cli {

namespace {

struct ladder_options {
  std::string type = "f32", operation = "sum";
  std::optional<std::uint64_t> count;
  unsigned block_size = 0, device = 0;
  std::vector<std::string> stages;
  bool cycles = false, json = false, csv = false;
  lesson_options lesson;
};

ladder_question checked(const ladder_options& arguments) {
  const auto what = parse_choice<operation>("operation of the ladder", arguments.operation, cuda::ladder_operations);
  const auto type = parse_choice<element_type>("element type of the ladder", arguments.type, cuda::ladder_types);
  const std::size_t count = arguments.count.value_or(ladder_question{}.count);
  return {what,
          type,
          count,
          arguments.block_size,
          static_cast<int>(arguments.device),
          arguments.stages,
          arguments.cycles};
}

double gigabytes_per_second(const ladder& all, double seconds) {
  return static_cast<double>(all.question.count * byte_size(all.question.type)) / seconds / 1e9;
}

std::optional<double> share_of_ceiling(const ladder& all, const ladder_row& row) {
  if (!row.seconds) return {};
  return all.ceiling_seconds / *row.seconds;
}

/// The speedup over the stage that `row` builds on, if both were timed.
std::optional<double> gain(const ladder& all, const ladder_row& row) {
  const auto before = std::ranges::find(all.rows, row.builds_on, &ladder_row::name);
  if (!row.seconds || before == all.rows.end() || !before->seconds) return {};
  return *before->seconds / *row.seconds;
}

template <class T>
json json_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}
json json_or_null(std::string_view text) { return text.empty() ? json(nullptr) : json(text); }
json json_or_null(oracle::promise kept) {
  return kept == oracle::promise::none ? json(nullptr) : json(kept == oracle::promise::kept);
}

json to_json(const ladder& all, const ladder_row& row) {
  const auto of_block = [&](auto member) { return row.footprint ? json(*row.footprint.*member) : json(nullptr); };
  json one = {{"number", json_or_null(row.number)},
              {"stage", row.name},
              {"builds_on", json_or_null(row.builds_on)},
              {"block_size", of_block(&stage_footprint::block_size)},
              {"blocks", of_block(&stage_footprint::blocks)},
              {"seconds", json_or_null(row.seconds)},
              {"gigabytes_per_second", row.seconds ? json(gigabytes_per_second(all, *row.seconds)) : json(nullptr)},
              {"share_of_ceiling", json_or_null(share_of_ceiling(all, row))},
              {"gain", json_or_null(gain(all, row))},
              {"registers", of_block(&stage_footprint::registers)},
              {"shared_bytes", of_block(&stage_footprint::shared_bytes)},
              {"occupancy", of_block(&stage_footprint::occupancy)},
              {"reproducibility", to_string(row.reproducibility)},
              {"verified", json_or_null(row.verified())},
              {"exact_ok", json_or_null(row.exact)},
              {"cub_ok", json_or_null(row.cub)},
              {"thrust_ok", json_or_null(row.thrust)}};
  if (all.question.cycles) one["cycles"] = json_or_null(row.cycles);
  return one;
}

std::string check_text(const ladder_row& row) {
  if (row.verified() != oracle::promise::broken) return row.verified() == oracle::promise::kept ? "ok" : "none";
  std::vector<std::string_view> against;
  if (row.exact == oracle::promise::broken) against.emplace_back("exact");
  if (row.cub == oracle::promise::broken) against.emplace_back("cub");
  if (row.thrust == oracle::promise::broken) against.emplace_back("thrust");
  return fmt::format("WRONG: not {}", fmt::join(against, ", "));
}

table_row to_cells(const ladder& all, const ladder_row& row) {
  const auto number = [](const char* format, const std::optional<double>& value, double scale = 1) {
    return value ? fmt::format(fmt::runtime(format), scale * *value) : "-";
  };
  std::optional<double> rate;
  if (row.seconds) rate = gigabytes_per_second(all, *row.seconds);
  table_row cells = {row.number ? fmt::format("{:2}", *row.number) : "",
                     std::string(row.name),
                     std::string(row.builds_on),
                     std::string(to_string(row.reproducibility)),
                     check_text(row),
                     number("{:.4f}", row.seconds, 1e3),
                     number("{:.1f}", rate),
                     row.seconds ? share_text(*share_of_ceiling(all, row), 1) : "-",
                     number("{:.2f} x", gain(all, row))};
  if (const auto& block = row.footprint) {
    cells.insert(cells.end(), {std::to_string(block->block_size), std::to_string(block->registers),
                               std::to_string(block->shared_bytes), fmt::format("{:.0f} %", 100 * block->occupancy)});
  } else {
    cells.insert(cells.end(), 4, "-");
  }
  if (all.question.cycles) cells.push_back(number("{:.0f}", row.cycles));
  return cells;
}

std::vector<std::string_view> wrong_ones(const ladder& all) {
  std::vector<std::string_view> names;
  for (const ladder_row& row : all.rows) {
    if (row.verified() == oracle::promise::broken) names.push_back(row.name);
  }
  return names;
}

void run_ladder(const ladder_options& arguments) {
  if (arguments.block_size > 1024) throw usage_error("--block-size: a block has at most 1024 threads");
  if (arguments.lesson.requested())
    return write_stdout(lesson_text(arguments.lesson, arguments.count.value_or(0), arguments.block_size));
  const ladder_question question = checked(arguments);
  const ladder all = require_gpu().measure_ladder(question);
  write_stdout(arguments.json  ? printed(as_json(all))
               : arguments.csv ? as_csv(all)
                               : terminal::of_stdout().with_verdicts(as_text(all)));
  if (const auto wrong = wrong_ones(all); !wrong.empty()) {
    throw bad_data(fmt::format("wrong results, so not timed: {}", fmt::join(wrong, ", ")));
  }
}

}  // namespace

oracle::promise ladder_row::verified() const {
  const auto all = {exact, cub, thrust};
  const auto has = [&](oracle::promise one) { return std::ranges::find(all, one) != all.end(); };
  if (has(oracle::promise::broken)) return oracle::promise::broken;
  return has(oracle::promise::none) ? oracle::promise::none : oracle::promise::kept;
}

json as_json(const ladder& all) {
  json rows = json::array(), left_out = json::array();
  for (const ladder_row& row : all.rows) rows.push_back(to_json(all, row));
  for (const auto& [stage, why] : all.left_out) left_out.push_back({{"stage", stage}, {"detail", why}});
  return described({{"operation", to_string(all.question.what)},
                    {"element_type", to_string(all.question.type)},
                    {"count", all.question.count},
                    {"device", all.device},
                    {"exact", {{"value_text", value_text(all.exact)}, {"value_hex", value_hex(all.exact)}}},
                    {"ceiling_gigabytes_per_second", gigabytes_per_second(all, all.ceiling_seconds)},
                    {"rows", rows},
                    {"left_out", left_out}});
}

std::string as_csv(const ladder& all) { return csv_of(as_json(all)["rows"]); }

std::string as_text(const ladder& all) {
  std::string text = fmt::format("{} of {} {} on {}; the right value is {}\nread ceiling {:.1f} GB/s\n\n",
                                 to_string(all.question.what), all.question.count, to_string(all.question.type),
                                 all.device, value_text(all.exact), gigabytes_per_second(all, all.ceiling_seconds));
  std::vector<table_row> rows = {{"", "stage", "builds on", "same bits", "check", "ms", "GB/s", "of ceiling", "gain",
                                  "block", "registers", "shared", "occupancy"}};
  if (all.question.cycles) rows.front().emplace_back("cycles");
  for (const ladder_row& row : all.rows) rows.push_back(to_cells(all, row));
  text += align(rows, 5);
  for (const ladder_row& row : all.rows) {
    if (row.seconds && measure::exceeds_ceiling(*share_of_ceiling(all, row))) {
      text += above_ceiling_text(row.name) + "\n";
    }
  }
  for (const auto& [stage, why] : all.left_out) text += fmt::format("left out: {}\n", why);
  return text;
}

command add_ladder(CLI::App& root) {
  auto arguments = std::make_shared<ladder_options>();
  CLI::App* parser =
      root.add_subcommand("ladder", "Check and time the CUDA stages of the lesson, one after the other");
  parser
      ->add_option(
          "--operation", arguments->operation,
          fmt::format("{}; only shared-mask has squares", fmt::join(names_of(cuda::ladder_operations), ", ")))
      ->type_name("OPERATION")
      ->capture_default_str();
  parser
      ->add_option("--type", arguments->type,
                   fmt::format("element type: {}", fmt::join(names_of(cuda::ladder_types), ", ")))
      ->type_name("TYPE")
      ->capture_default_str();
  add_number_option(*parser, "--count", 1, arguments->count,
                    "number of random elements (default: 16777216; for --trace a small example)");
  add_number_option(*parser, "--block-size", 0, arguments->block_size,
                    "threads in a block, rounded as the stage needs; 0: the default of each stage");
  parser->add_option("--stage", arguments->stages, "only the stages with these names, separated by commas")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_number_option(*parser, "--device", 0, arguments->device, "number of the CUDA device");
  parser->add_flag("--cycles", arguments->cycles, "count clock cycles inside the kernels: the median of the blocks");
  CLI::Option* as_object = parser->add_flag("--json", arguments->json, "print one JSON object");
  parser->add_flag("--csv", arguments->csv, "print the rows as CSV")->excludes(as_object);
  add_lesson_options(*parser, arguments->lesson);
  parser->footer(
      R"(Each stage is checked before it is timed. Its value may differ from the exact value, and from the values of CUB and
Thrust, by no more than its proven error bound. 'none' means that nothing is proven for so many elements of this type.
The ceiling is the speed of the fastest read of the same bytes, measured in this process. The gain compares a stage
with the stage that it builds on. Stages that overwrite their input get a fresh copy before each run. The copying is
not timed. The last rows are the usual sums of the backends with these names. thrust waits until the host has
the value, and its time includes this wait.

Examples:
  fanin ladder
  fanin ladder --type i32 --count 268435456
  fanin ladder --operation sum_of_squares --cycles
  fanin ladder --explain shared-strided
  fanin ladder --trace shared-strided --count 16 --block-size 8
  fanin ladder --stage shared-modulo,warp-shuffle --block-size 512 --json)");
  return {parser, [arguments] { run_ladder(*arguments); }};
}

}  // namespace fanin::cli
