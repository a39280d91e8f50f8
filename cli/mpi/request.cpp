// SPDX-License-Identifier: Apache-2.0
#include "cli/mpi/request.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <fanin/mpi.hpp>
#include <fanin/version.hpp>

#include "backends/as_scalar.hpp"
#include "base/words.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/parse_error.hpp"

namespace fanin::cli::mpi {

namespace {

std::unique_ptr<CLI::App> parser_of(request& asked) {
  auto app = std::make_unique<CLI::App>(
      "Reduces a file to one number. Each rank reads a part of the file. The bits are those of 'fanin OPERATION "
      "FILE', "
      "for any number of ranks.",
      "fanin_mpi");
  app->set_version_flag("--version", "fanin_mpi " FANIN_VERSION, "print the version");
  app->allow_extras();
  app->add_option("OPERATION", asked.operation, "sum, mean, variance, argmax, ..., as for fanin")->required();
  app->add_option("FILE", asked.files, "an .npy file, or raw numbers; dot and vdot take two files")->required();
  app->add_option("--format", asked.input.format,
                  "npy or raw (default: recognised by the first bytes, or by the name)");
  app->add_option("--type", asked.input.type, "element type; required for raw");
  add_number_option(*app, "--skip", 0, asked.input.skip, "raw: bytes to skip at the start");
  add_number_option(*app, "--count", 0, asked.input.count, "raw: number of elements to read (default: all)");
  add_run_options(*app, asked.how);
  app->get_option("--method")->description("exact, which is the only method over ranks");
  app->add_flag("--json", asked.json, "print one JSON object")->disable_flag_override();
  app->footer(
      "Examples:\n  mpirun -n 7 fanin_mpi sum x.npy --json\n  mpirun -n 16 fanin_mpi dot x.bin y.bin --type f32");
  return app;
}

operation operation_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (const operation_row& row : operation_rows) {
    if (row.name == name) return row.what;
    names.push_back(row.name);
  }
  throw usage_error(fmt::format("unknown operation '{}'{}", printable(name), detail::suggestion(name, names)));
}

/// FNV-1a, without the sign bit.
std::int64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::int64_t>(hash >> 1);
}

}  // namespace

request parse(int argc, char** argv) {
  request asked;
  const auto app = parser_of(asked);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) throw;
    throw usage_error(sentence_about(error, *app));
  }
  refuse_unknown_words(*app);
  return asked;
}

std::string help() {
  request asked;
  return parser_of(asked)->help();
}

opened_request::opened_request(const request& asked)
    : what_(operation_of(asked.operation)), chosen_(asked.how.checked()) {
  const operation_row& row = row_of(what_);
  if (asked.files.size() != static_cast<std::size_t>(row.inputs)) {
    throw usage_error(fmt::format("{} takes {}", row.name, row.inputs == 1 ? "one FILE" : "two files"));
  }
  for (const std::string& path : asked.files) {
    input_options one = asked.input;
    one.path = path;
    inputs_.push_back(std::make_unique<source>(one));
    const source& input = *inputs_.back();
    if (!input.whole())
      throw usage_error(fmt::format(
          "{}: this is neither an .npy file nor raw numbers, whose parts the ranks can read", input.name()));
    require_same_type(*inputs_.front(), input);
    if (inputs_.front()->whole()->count != input.whole()->count) {
      throw usage_error(fmt::format("{} has {}, but {} has {}", inputs_.front()->name(),
                                    counted(inputs_.front()->whole()->count, "element"), input.name(),
                                    input.whole()->count));
    }
  }
  const source& first = *inputs_.front();
  count_ = first.whole()->count;
  fingerprint_ = hash_of(fmt::format("{} {} {} {} {}", row.name, to_string(first.type()), asked.how.method,
                                     asked.how.result, asked.how.nan));
}

finished_reduction opened_request::reduce() {
  namespace over = fanin::mpi;
  const auto ranks = static_cast<unsigned>(over::detail::rank_count(MPI_COMM_WORLD));
  const auto rank = static_cast<unsigned>(over::detail::rank_in(MPI_COMM_WORLD));
  using wide = unsigned __int128;
  const auto begin_of = [&](unsigned r) { return static_cast<std::size_t>(wide{count_} * r / ranks); };
  const std::size_t first = begin_of(rank), length = begin_of(rank + 1) - first;

  finished_reduction done{
      .what = what_, .inputs = {}, .type = inputs_.front()->type(), .count = count_, .reached = {}};
  for (const auto& input : inputs_) done.inputs.push_back(described(*input));
  const input_views all = inputs_.size() == 2 ? input_views(*inputs_[0]->whole(), *inputs_[1]->whole())
                                              : input_views(*inputs_[0]->whole());
  const auto start = std::chrono::steady_clock::now();
  options unnamed = chosen_;
  unnamed.result = {};  // The memory for the result has the type.
  done.reached =
      as_scalar(what_, chosen_.result.value_or(default_result(what_, all.type())), [&](const result_view& value) {
        return over::reduce(what_, all.part(first, length), value, MPI_COMM_WORLD, unnamed);
      });
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& input : inputs_) input->finish();
  return done;
}

}  // namespace fanin::cli::mpi
