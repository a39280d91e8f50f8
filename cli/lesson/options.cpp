// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/options.hpp"

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/lesson/story.hpp"
#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

void refuse(const std::vector<const CLI::Option*>& options, std::string_view with) {
  for (const CLI::Option* one : options) {
    if (one->count() > 0) throw usage_error(fmt::format("{} does not go with {}", one->get_name(), with));
  }
}

}  // namespace

void add_lesson_options(CLI::App& parser, lesson_options& arguments) {
  for (const CLI::Option* other : parser.get_options()) {
    const std::string name = other->get_name();
    (name == "--count" || name == "--block-size" ? arguments.of_examples : arguments.of_runs).push_back(other);
  }
  CLI::Option* explain =
      parser.add_option("--explain", arguments.explain, "print the lesson about this stage")->type_name("STAGE");
  CLI::Option* trace =
      parser.add_option("--trace", arguments.trace, "print which elements this stage adds, computed on the CPU")
          ->type_name("STAGE")
          ->excludes(explain);
  parser.add_flag("--svg", arguments.svg, "with --trace: draw a picture")->needs(trace);
}

std::string lesson_text(const lesson_options& arguments, std::uint64_t count, unsigned block_size) {
  refuse(arguments.of_runs, arguments.explain ? "--explain" : "--trace");
  if (arguments.explain) {
    refuse(arguments.of_examples, "--explain");
    const traced_stage& stage = find_traced_stage(*arguments.explain);
    const std::string story = story_text(stage.name, terminal::of_stdout());
    return story + "\n" + as_text(make_trace(stage, readable_shape(stage, 0, 0)));
  }
  const traced_stage& stage = find_traced_stage(arguments.trace.value());
  const trace all = make_trace(stage, readable_shape(stage, count, block_size));
  if (block_size != 0 && block_size != all.shape.block_size) {
    write_stderr(fmt::format("the stage {} cannot have blocks of {} threads; the traced blocks have {}", stage.name,
                             block_size, all.shape.block_size));
  }
  return arguments.svg ? as_svg(all) : as_text(all);
}

}  // namespace fanin::cli
